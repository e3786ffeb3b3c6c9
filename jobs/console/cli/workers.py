"""`manage.py workers list | drain`."""

from collections.abc import Iterable
from typing import Any

from jobs import store
from jobs.console.cli.screen import Column, Screen, length
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import workers_named
from jobs.engine.verbs import drain
from jobs.models import Pool
from jobs.reading import blocks, present
from jobs.reading.looking import Worker


def _processes(row: dict[str, Any]) -> str:
    """Return the processes of a worker; of a light one with the seats of each, in one column: names are long."""
    return f"{row['processes']} × {row['seats']} seats" if row["kind"] == Pool.Kind.LIGHT else str(row["processes"])


WAIT = Column("DB WAIT", lambda row: length(row["database_wait"]), right=True)
COLUMNS = [
    Column("WORKER", "name", flexible=True),
    Column("POOL", "pool"),
    Column("STATE", "state"),
    Column("RUNS", "runs", right=True),
    Column("PROCESSES", _processes, right=True),
    WAIT,
    Column("STARTED (UTC)", "started_at", wide=True),
    Column("LAST BEAT (UTC)", "beat_at", wide=True),
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
    now, blocked = store.database_now(), blocks.now()
    rows = [
        {
            **{name: getattr(worker, name) for name in ("name", "pool", "pid", "started_at", "beat_at", "gone_at")},
            "state": worker.state(now),
            "runs": runs,
            "kind": worker.kind,
            "processes": worker.processes,
            "seats": worker.seats,  # of each process
            "threads": worker.threads,
            "database_wait": worker.database_wait if worker.is_light else None,
            "blocked_loops": [block.sentence for block in blocked if block.worker == worker.id],
        }
        for worker, runs in workers
    ]
    screen.document({"workers": rows})
    any_light = any(row["kind"] == Pool.Kind.LIGHT for row in rows)
    screen.table([column for column in COLUMNS if any_light or column is not WAIT], rows)
    for row in rows:
        for sentence in row["blocked_loops"]:
            screen.say(sentence)


WHICH = argument("name", help="The worker, as `workers list` shows it.")
LIST = Subcommand("list", "Show the workers, also those that have gone in the last day.", (), _list)
DRAIN = Subcommand(
    "drain", "Let a worker take no more jobs, and stop when its running jobs have ended.", (WHICH,), _drain
)
