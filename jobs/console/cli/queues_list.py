"""`manage.py queues list`."""

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandParser

from jobs.console.cli.screen import Column, Screen, rate
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.limits import OF_QUEUE
from jobs.models import Queue
from jobs.reading import counts

COLUMNS = [
    Column("QUEUE", flexible=True),
    Column("POOL"),
    Column("WEIGHT", right=True),
    Column("IN USE", right=True),
    Column("LIMIT", right=True),
    Column("WAITING", right=True),
    Column("RATE", right=True),
    Column("TIMEOUT", right=True, wide=True),
    Column("RETRIES", right=True, wide=True),
    Column("STATE"),
]


def arguments(parser: CommandParser) -> None:
    """The command takes none."""


def run(options: Options, screen: Screen) -> None:
    show(Queue.objects.order_by("name"), screen)


def show(queues: Sequence[Queue] | Any, screen: Screen) -> None:
    """Show these queues as a table or as a JSON document."""
    holding, waiting = counts.holding("queue"), counts.waiting("queue")
    lines = [
        {name: getattr(queue, name) for name in ("name", *(limit.name for limit in OF_QUEUE))}
        | {"in_use": holding.get(queue.pk, 0), "waiting": waiting.get(queue.pk, 0)}
        for queue in queues
    ]
    screen.document({"queues": lines})
    screen.table(COLUMNS, map(_row, lines))


def _row(line: dict[str, Any]) -> list[object]:
    full = line["concurrency"] is not None and line["in_use"] >= line["concurrency"]
    return [
        line["name"],
        line["pool"],
        line["weight"],
        line["in_use"],
        line["concurrency"],
        f"{line['waiting']:,}",
        rate(line["rate_limit"], line["rate_window"]),
        None if line["default_timeout"] is None else f"{line['default_timeout']:g}s",
        line["default_max_retries"],
        "paused" if line["paused"] else "full" if full and line["waiting"] else "open",
    ]


LIST = Subcommand("list", "Show the queues with their limits and their use.", arguments, run)
