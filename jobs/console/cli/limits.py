"""The limits as options of commands. A refusal names the field."""

from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from jobs.console.cli import inputs
from jobs.console.cli.subcommands import Options
from jobs.console.operations.limits import RATE, Kind, Limit
from jobs.engine import limits
from jobs.models import Queue
from tenants.models import TenantQueue

UNSET: Any = ...  # "none" is a value
METAVARS = {Kind.WHOLE: "N", Kind.SECONDS: "SECONDS", Kind.NAME: "NAME", Kind.NAMES: "A,B"}


def add_options(parser: CommandParser, table: Iterable[Limit], names: Mapping[str, str]) -> None:
    """An option for each limit, such as --user-slots; `names`: of those that are called otherwise."""
    for limit in table:
        if limit.name not in RATE:
            _add(parser, limit, names.get(limit.name, f"--{limit.name.replace('_', '-')}"))
    parser.add_argument(
        "--rate", type=inputs.rate, metavar="JOBS/SECONDS", help='The most jobs started per window, or "none".'
    )


def _add(parser: CommandParser, limit: Limit, name: str) -> None:
    help = limit.told('"none"')
    if limit.kind is Kind.SWITCH:
        parser.add_argument(name, dest=limit.name, action=BooleanOptionalAction, default=UNSET, help=help)
    else:
        kind, metavar = _reader(limit), METAVARS[limit.kind]
        parser.add_argument(name, dest=limit.name, type=kind, default=UNSET, metavar=metavar, help=help)


def _reader(limit: Limit) -> Callable[[str], Any]:
    if limit.kind is Kind.WHOLE:
        whole = inputs.whole_or_none if limit.optional else inputs.whole
        return whole(int(limit.least or 0), int(limit.most or inputs.MOST_NUMBER))
    if limit.kind is Kind.SECONDS:
        return inputs.or_none(inputs.seconds) if limit.optional else inputs.seconds
    return inputs.names if limit.kind is Kind.NAMES else str


def given(options: Options, table: Iterable[Limit]) -> dict[str, Any]:
    """The limits that the options change."""
    changes = {one.name: options[one.name] for one in table if options.get(one.name, UNSET) is not UNSET}
    return changes | (dict(zip(RATE, options["rate"], strict=True)) if options["rate"] else {})


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Raises CommandError."""
    try:
        limits.change(row, values)
    except ValidationError as error:
        told = (f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
        raise CommandError("; ".join(told)) from None
