"""`manage.py jobs what-if`: it replays in this process, and so any window."""

from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, length
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations import what_if
from jobs.console.operations.what_if import LIMITS, Question

MOST = 5_000_000  # attempts, for which a process needs some GB
COLUMNS = [
    Column("TENANT", flexible=True),
    Column("QUEUE", flexible=True),
    Column("ATTEMPTS", right=True),
    Column("WAITED", right=True, wide=True),
    Column("P95", right=True, wide=True),
    Column("REPLAYED", right=True),
    Column("P95", right=True),
    Column("WOULD BE", right=True),
    Column("P95", right=True),
    Column("", flexible=True),
]


def arguments(parser: CommandParser) -> None:
    parser.add_argument("--since", type=inputs.moment, metavar="MOMENT", help="Default: an hour before --until.")
    parser.add_argument("--until", type=inputs.moment, metavar="MOMENT", help="Default: now.")
    for kind, limits in LIMITS.items():
        parser.add_argument(
            f"--{kind.removesuffix('s')}",
            dest=kind,
            action="append",
            type=_limit,
            default=[],
            metavar="NAME.LIMIT=VALUE",
            help=f'What would be from --since on, several times if need be: {", ".join(limits)}; "none": no limit.',
        )


def run(options: Options, screen: Screen) -> None:
    changes = what_if.read((kind, *line) for kind in LIMITS for line in options[kind])
    question = Question.of(options["since"], options["until"], changes, now=timezone.now())
    found = what_if.told(question, MOST)
    screen.document(found)
    screen.table(COLUMNS, [_row(line) for line in found["lines"]])
    screen.say(found["told"])
    for gap in found["unknown"]:
        screen.say(gap["told"])


def _limit(text: str) -> tuple[str, str, str]:
    subject, _, value = text.partition("=")
    name, _, limit = subject.rpartition(".")
    if not (name and limit and value):
        raise ArgumentTypeError(f"must be like acme.num_slots=10, not {text[:60]!r}")
    return name, limit, value


def _row(line: dict[str, Any]) -> list[object]:
    cells = [cell for name in ("recorded", "replayed", "changed") for cell in _waits(line[name])]
    return [line["tenant"], line["queue"], f"{line['attempts']:,}", *cells, _said(line)]


def _waits(found: dict[str, float | None] | None) -> list[str | None]:
    seconds = [found[name] if found else None for name in ("mean", "p95")]
    return [None if one is None else length(timedelta(seconds=one)) for one in seconds]


def _said(line: dict[str, Any]) -> str:
    if line["never"]:
        return f"{line['never']:,} would not start"
    return "" if line["clear"] or line["changed"] is None else "no clear difference"


WHAT_IF = Subcommand("what-if", "Replay a time of the past, as if limits had been others.", arguments, run)
