"""`manage.py queues pool`: show the pools of queues, and set the kind, the seats and the threads of one."""

from argparse import BooleanOptionalAction

from jobs.calls.refusals import InvalidRequest
from jobs.console.cli import inputs, limits
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.pools import left_to_do
from jobs.engine.verbs import pools as verbs
from jobs.models import Pool
from jobs.models.operations import MOST_SEATS
from jobs.reading.pools import PoolView, pools

COLUMNS = [
    Column("POOL", "name", flexible=True),
    Column("KIND", lambda pool: f"{pool.kind}, threads" if pool.threads else pool.kind),
    Column("SEATS OF A PROCESS", "seats", right=True),
    Column("WORKERS", lambda pool: len(pool.workers), right=True),
    Column("PROCESSES", "processes", right=True),
    Column("SEATS", "capacity", right=True),
    Column("IN USE", "in_use", right=True),
    Column("QUEUES", lambda pool: ", ".join(pool.queues), wide=True),
]
CHANGES = ("kind", "seats", "threads")


def _pool(options: Options, screen: Screen) -> None:
    name, change = options["name"], {key: options[key] for key in CHANGES if options[key] is not None}
    if change and name is None:
        raise InvalidRequest("pool", "name the pool to change")
    if change:
        with limits.naming_fields():
            verbs.change(name, **change)
    there = pools()
    if name is not None and name not in there:
        raise InvalidRequest("pool", f"{name!r} is unknown; known: {', '.join(there)}")
    _show(list(there.values()) if name is None else [there[name]], screen)


def _show(shown: list[PoolView], screen: Screen) -> None:
    screen.document({"pools": [pool.document for pool in shown]})
    screen.table(COLUMNS, shown)
    if len(shown) == 1:
        for sentence in left_to_do(shown[0]):
            screen.say(sentence)


POOL = Subcommand(
    "pool",
    "Show the pools, or set the kind, the seats and the threads of one. Its workers follow when they are restarted.",
    (
        argument("name", nargs="?", help="The pool. Without it, all are shown."),
        argument("--kind", choices=Pool.Kind.values, help="light: many seats in each process, for `async def` jobs."),
        argument(
            "--seats",
            type=inputs.whole(1, MOST_SEATS),
            metavar="N",
            help="The attempts that each process of a light pool runs at once.",
        ),
        argument(
            "--threads",
            action=BooleanOptionalAction,
            help="Run bodies that are not `async def` in threads, in a light pool. They should only wait.",
        ),
    ),
    _pool,
)
