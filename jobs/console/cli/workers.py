"""`manage.py workers list | drain`."""

from collections.abc import Iterable

from jobs import store
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import workers_named
from jobs.engine.verbs import drain
from jobs.reading import present
from jobs.reading.looking import Worker

COLUMNS = [
    Column("WORKER", "name", flexible=True),
    Column("POOL", "pool"),
    Column("STATE", "state"),
    Column("RUNS", "runs", right=True),
    Column("KIND", "kind"),
    Column("PROCESSES", "processes", right=True),
    Column("SEATS EACH", "seats", right=True),
    Column("STARTED (UTC)", "started_at", wide=True),
    Column("LAST BEAT (UTC)", "beat_at"),
]


def _list(options: Options, screen: Screen) -> None:
    _show(present.workers(), screen)


def _drain(options: Options, screen: Screen) -> None:
    workers = {worker.pk for worker in workers_named(options["name"])}
    draining = [pk for pk in workers if drain.drain(pk)]
    if not draining:
        screen.say(f"{options['name']} is already draining.")
    _show([(worker, runs) for worker, runs in present.workers() if worker.id in workers], screen)


def _show(workers: Iterable[tuple[Worker, int]], screen: Screen) -> None:
    now = store.database_now()
    rows = [
        {
            **{name: getattr(worker, name) for name in ("name", "pool", "pid", "started_at", "beat_at", "gone_at")},
            "state": worker.state(now),
            "runs": runs,
            "kind": worker.kind,
            "processes": worker.processes,
            "seats": worker.seats,  # of each process
        }
        for worker, runs in workers
    ]
    screen.document({"workers": rows})
    screen.table(COLUMNS, rows)


WHICH = argument("name", help="The worker, as `workers list` shows it.")
LIST = Subcommand("list", "Show the workers, also those that have gone in the last day.", (), _list)
DRAIN = Subcommand(
    "drain", "Let a worker take no more jobs, and stop when its running jobs have ended.", (WHICH,), _drain
)
