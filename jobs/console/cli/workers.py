"""`manage.py workers list | drain`."""

from datetime import timedelta

from django.core.management.base import CommandParser
from django.db.models import Q, QuerySet

from jobs import store
from jobs.console.cli.screen import Column, Screen, moment
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import workers_named
from jobs.engine import drain
from jobs.models import Worker
from jobs.reading import counts
from jobs.reading.worker_state import state_of

LATELY = timedelta(days=1)
COLUMNS = [
    Column("WORKER", flexible=True),
    Column("POOL"),
    Column("STATE"),
    Column("RUNS", right=True),
    Column("PROCESSES", right=True),
    Column("STARTED (UTC)", wide=True),
    Column("LAST BEAT (UTC)"),
]


def _none(parser: CommandParser) -> None:
    """The command takes none."""


def _list(options: Options, screen: Screen) -> None:
    now = store.database_now()
    show(Worker.objects.filter(Q(gone_at=None) | Q(gone_at__gt=now - LATELY)), screen)


def _name(parser: CommandParser) -> None:
    parser.add_argument("name", help="The worker, as `workers list` shows it.")


def _drain(options: Options, screen: Screen) -> None:
    workers = workers_named(options["name"])
    asked = [worker.pk for worker in workers if drain.drain(worker.pk)]
    if not asked:
        screen.say(f"{options['name']} drains already.")
    show(Worker.objects.filter(pk__in=[worker.pk for worker in workers]), screen)


def show(workers: "QuerySet[Worker]", screen: Screen) -> None:
    """Show these workers as a table or as a JSON document."""
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
    shown = ("name", "pool", "state", "runs", "processes")
    screen.table(COLUMNS, [[*(w[n] for n in shown), moment(w["started_at"]), moment(w["beat_at"])] for w in found])


LIST = Subcommand("list", "Show the workers, and those that have gone in the last day.", _none, _list)
DRAIN = Subcommand("drain", "Let a worker take no more jobs, and stop when its own have ended.", _name, _drain)
