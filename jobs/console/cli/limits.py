"""The limits as options of commands. A refusal names the field."""

from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

METAVARS = {Kind.WHOLE: "N", Kind.SECONDS: "SECONDS", Kind.NAME: "NAME", Kind.NAMES: "A,B", Kind.BY_NAME: "QUEUE=N"}


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
    if limit.kind is Kind.BY_NAME:  # one at a time: the others stay as they are
        about |= {
            "action": "append",
            "default": None,
            "help": f"{limit.help} Once for each queue; QUEUE=none: {limit.unset}",
        }
    return argument(name, type=_reader(limit), metavar=METAVARS[limit.kind], **about)


def _reader(limit: Limit) -> Callable[[str], Any]:
    if limit.kind is Kind.WHOLE:
        number: Callable[[str], float] = inputs.whole(int(limit.least or 0), int(limit.most or inputs.MOST_NUMBER))
    elif limit.kind is Kind.SECONDS:
        number = inputs.seconds
    else:
        return {Kind.NAMES: inputs.names, Kind.BY_NAME: inputs.slots_of_queue}.get(limit.kind, str)
    return inputs.or_none(number) if limit.optional else number


def given(options: Options, table: Sequence[Limit]) -> dict[str, Any]:
    values = {limit.name: options[limit.name] for limit in table if limit.name in options}
    by_queue = {limit.name for limit in table if limit.kind is Kind.BY_NAME}
    changes = {
        name: dict(value or ()) if name in by_queue else value
        for name, value in values.items()
        if value is not (None if name in by_queue else inputs.UNSET)
    }
    return changes | (dict(zip(RATE, options["rate"], strict=True)) if options["rate"] else {})


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Store the values. Raises CommandError, which names the invalid fields.

    Of slots by queue, and of budgets by unit, only those that are given change; None takes one away.
    """
    with naming_fields():
        limits.change(row, {name: _merged(getattr(row, name), value) for name, value in values.items()})


def _merged(before: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: number for name, number in (before | value).items() if number is not None}


@contextmanager
def naming_fields() -> Iterator[None]:
    """Turn a ValidationError of a model into a CommandError that names the fields."""
    try:
        yield
    except ValidationError as error:
        several = by_field(error).items()
        lines = (message if field == NON_FIELD_ERRORS else f"{field}: {message}" for field, message in several)
        raise CommandError("; ".join(line.rstrip(".") for line in lines)) from None
