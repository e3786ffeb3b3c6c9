"""`manage.py workers list | drain`."""

from datetime import timedelta

from django.db.models import Q, QuerySet

from jobs import store
from jobs.console.cli.screen import Column, Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import workers_named
from jobs.engine import drain
from jobs.models import Worker
from jobs.reading import counts
from jobs.reading.worker_state import state_of

LATELY = timedelta(days=1)
COLUMNS = [
    Column("WORKER", "name", flexible=True),
    Column("POOL", "pool"),
    Column("STATE", "state"),
    Column("RUNS", "runs", right=True),
    Column("PROCESSES", "processes", right=True),
    Column("STARTED (UTC)", "started_at", wide=True),
    Column("LAST BEAT (UTC)", "beat_at"),
]


def _list(options: Options, screen: Screen) -> None:
    now = store.database_now()
    _show(Worker.objects.filter(Q(gone_at=None) | Q(gone_at__gt=now - LATELY)), screen)


def _drain(options: Options, screen: Screen) -> None:
    workers = workers_named(options["name"])
    asked = [worker.pk for worker in workers if drain.drain(worker.pk)]
    if not asked:
        screen.say(f"{options['name']} drains already.")
    _show(Worker.objects.filter(pk__in=[worker.pk for worker in workers]), screen)


def _show(workers: "QuerySet[Worker]", screen: Screen) -> None:
    now, holding = store.database_now(), counts.holding("worker")
    found = [
        {
            **{name: getattr(one, name) for name in ("name", "pool", "pid", "started_at", "beat_at", "gone_at")},
            "state": state_of(one, now),
            "runs": holding.get(one.pk, 0),
            "processes": one.concurrency,
        }
        for one in workers.order_by("gone_at", "pool", "name")
    ]
    screen.document({"workers": found})
    screen.table(COLUMNS, found)


WHICH = argument("name", help="The worker, as `workers list` shows it.")
LIST = Subcommand("list", "Show the workers, and those that have gone in the last day.", (), _list)
DRAIN = Subcommand("drain", "Let a worker take no more jobs, and stop when its own have ended.", (WHICH,), _drain)
