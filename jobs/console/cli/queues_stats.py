"""`manage.py queues stats`."""

from dataclasses import asdict
from datetime import timedelta

from django.core.management.base import CommandParser
from django.utils import timezone

from jobs.console.cli.screen import Column, Screen, length, utc
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.reading import last_day
from jobs.reading.statistics import Summary

COLUMNS = [
    Column("QUEUE", flexible=True),
    Column("SUCCESS", right=True),
    Column("FAILED", right=True),
    Column("RETRIES", right=True, wide=True),
    Column("WAITING", right=True),
    Column("RUNNING", right=True),
    Column("WAIT P50", right=True),
    Column("P95", right=True),
    Column("RUN P50", right=True),
    Column("P95", right=True),
]


def arguments(parser: CommandParser) -> None:
    """The command takes none."""


def run(options: Options, screen: Screen) -> None:
    day = last_day.of_queues(timezone.now())
    screen.document(
        {
            "since": day.since,
            "counted_at": day.counted_at,
            "queues": [{"queue": name} | asdict(one) for (name,), one in day.queues.items()],
        }
    )
    screen.table(COLUMNS, [_row(name, one) for (name,), one in day.queues.items()])
    screen.say(f"Attempts that ended since {utc(day.since)}, counted at {utc(day.counted_at) or 'no time yet'}.")


def _row(name: str, one: Summary) -> list[object]:
    ended = one.outcomes
    times = (one.wait.p50, one.wait.p95, one.run.p50, one.run.p95)
    return [
        name,
        f"{ended['success']:,}",
        f"{ended['error'] + ended['dead']:,}",
        f"{ended['retry'] + ended['crash']:,}",
        f"{one.waiting:,}",
        one.running,
        *(None if seconds is None else length(timedelta(seconds=seconds)) for seconds in times),
    ]


STATS = Subcommand("stats", "Show what ended in the last 24 hours, and how long it waited and ran.", arguments, run)
