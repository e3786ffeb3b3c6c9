"""The limits as options of commands. A refusal names the field."""

from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.management.base import CommandError

from jobs.calls.refusals import by_field
from jobs.console.cli import inputs
from jobs.console.cli.subcommands import Argument, Options, argument
from jobs.console.operations.limits import RATE, Kind, Limit
from jobs.engine.verbs import limits
from jobs.models import Queue
from tenants.models import TenantQueue

METAVARS = {Kind.WHOLE: "N", Kind.SECONDS: "SECONDS", Kind.NAME: "NAME", Kind.NAMES: "A,B"}


def options(table: Iterable[Limit], names: Mapping[str, str]) -> list[Argument]:
    """Return an option for each limit, such as --user-slots.

    names: the options that have another name than their limit, by limit
    """
    alone = (limit for limit in table if limit.name not in RATE)
    named = [(names.get(limit.name, f"--{limit.name.replace('_', '-')}"), limit) for limit in alone]
    rate = 'The most jobs started per window, or "none".'
    return [
        *(_option(name, limit) for name, limit in named),
        argument("--rate", type=inputs.rate, metavar="JOBS/SECONDS", help=rate),
    ]


def _option(name: str, limit: Limit) -> Argument:
    about = {"dest": limit.name, "default": inputs.UNSET, "help": limit.full_help('"none"')}
    if limit.kind is Kind.SWITCH:
        return argument(name, action=BooleanOptionalAction, **about)
    return argument(name, type=_reader(limit), metavar=METAVARS[limit.kind], **about)


def _reader(limit: Limit) -> Callable[[str], Any]:
    if limit.kind is Kind.WHOLE:
        number: Callable[[str], float] = inputs.whole(int(limit.least or 0), int(limit.most or inputs.MOST_NUMBER))
    elif limit.kind is Kind.SECONDS:
        number = inputs.seconds
    else:
        return inputs.names if limit.kind is Kind.NAMES else str
    return inputs.or_none(number) if limit.optional else number


def given(options: Options, table: Iterable[Limit]) -> dict[str, Any]:
    values = {limit.name: options.get(limit.name, inputs.UNSET) for limit in table}
    changes = {name: value for name, value in values.items() if value is not inputs.UNSET}
    return changes | (dict(zip(RATE, options["rate"], strict=True)) if options["rate"] else {})


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Store the values. Raises CommandError, which names the invalid fields."""
    with naming_fields():
        limits.change(row, values)


@contextmanager
def naming_fields() -> Iterator[None]:
    """Turn a ValidationError of a model into a CommandError that names the fields."""
    try:
        yield
    except ValidationError as error:
        several = by_field(error).items()
        lines = (message if field == NON_FIELD_ERRORS else f"{field}: {message}" for field, message in several)
        raise CommandError("; ".join(line.rstrip(".") for line in lines)) from None
