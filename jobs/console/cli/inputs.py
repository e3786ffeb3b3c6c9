"""Read and check the arguments of commands. Each refusal names the allowed values."""

import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import datetime
from math import isfinite
from shlex import quote
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db.models import Model, QuerySet

from jobs.calls.refusals import TooManyWaiting
from jobs.console.cli.subcommands import Argument, Options, argument
from jobs.console.operations.named import tenant_named
from jobs.models import AnyJob
from jobs.reading import queries
from plumbing.bounds import LARGEST_ID, MOST_SLOTS
from plumbing.units import MOST_UNITS, NAMED, is_unit

T = TypeVar("T")
Row = TypeVar("Row", bound=Model)
UNSET: Any = ...  # the default of an option that takes "none" as a value
MOST_NUMBER = 2**31 - 1  # what the columns hold


def whole(minimum: int, maximum: int = MOST_NUMBER) -> Callable[[str], int]:
    """Return a reader of whole numbers in a range."""

    def read(text: str) -> int:
        # Refuse a number of 5,000 digits without parsing it.
        if re.fullmatch(r"-?[0-9]{1,19}", text) is None or not minimum <= int(text) <= maximum:
            raise ArgumentTypeError(f"must be a whole number from {minimum:,} to {maximum:,}, not {text[:40]!r}")
        return int(text)

    return read


def or_none(read_value: Callable[[str], T]) -> Callable[[str], T | None]:
    """Return a reader of "none" and of what the other reader takes."""

    def read(text: str) -> T | None:
        try:
            return None if text == "none" else read_value(text)
        except ArgumentTypeError as refused:
            raise ArgumentTypeError(f"{refused}; or none") from None

    return read


def seconds(text: str) -> float:
    """Read a number of seconds; the caller checks the range."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number of seconds, not {text!r}") from None


def moment(text: str) -> datetime:
    """Read an ISO 8601 date and time; the caller checks that it has a time zone and lies in the future."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"must be like 2030-01-31T09:00:00+01:00, not {text!r}") from None


def rate(text: str) -> tuple[int, float] | tuple[None, None]:
    """Read a rate limit: "100/60" gives (jobs, seconds), "none" gives (None, None)."""
    if text == "none":
        return None, None
    limit, _, window = text.partition("/")
    try:
        jobs, length = whole(1)(limit), float(window)
    except (ArgumentTypeError, ValueError):
        jobs, length = 0, 0.0
    if jobs and isfinite(length) and length >= 0.001:  # noqa: PLR2004
        return jobs, length
    raise ArgumentTypeError(f"must be jobs/seconds like 100/60 (at least 1 job, 0.001 seconds), or none; not {text!r}")


def names(text: str) -> list[str]:
    """Read names separated by commas; "none" gives an empty list."""
    return [] if text == "none" else [name for name in text.split(",") if name]


def slots_of_queue(text: str) -> tuple[str, int | None]:
    """Read "exports=3"; "exports=none" gives None."""
    name, _, slots = text.partition("=")
    if not name or not slots:
        raise ArgumentTypeError(f"must be like exports=3, or exports=none; not {text[:40]!r}")
    return name, or_none(whole(1, MOST_SLOTS))(slots)


def budget(text: str) -> tuple[str, int | None]:
    """Read "tokens=1000000"; "tokens=none" gives None."""
    unit, _, amount = text.partition("=")
    if not is_unit(unit) or not amount:
        raise ArgumentTypeError(f"must be like tokens=1000000, or tokens=none; a unit is {NAMED}; not {text[:60]!r}")
    return unit, or_none(whole(1, MOST_UNITS))(amount)


def json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f'must be a JSON object like {{"region": "EU"}}: {error}') from None
    except RecursionError:
        raise ArgumentTypeError("are nested too deeply") from None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f'must be a JSON object like {{"region": "EU"}}, not {text[:40]!r}')
    return value


job_id = whole(1, LARGEST_ID)
TENANT = argument("--tenant", metavar="SLUG", help="Only what belongs to this tenant.")


def limit(default: int, maximum: int = 1000) -> Argument:
    """Return the option for the length of a list."""
    return argument(
        "--limit", type=whole(1, maximum), default=default, metavar="N", help=f"How many to show (default {default})."
    )


def of_tenant(rows: "QuerySet[Row]", options: Options) -> "QuerySet[Row]":
    """Return the rows of the tenant that the option TENANT names, or all rows. Raises InvalidRequest."""
    return rows.filter(tenant=tenant_named(options["tenant"])) if options["tenant"] else rows


def existing(row: T | None, otherwise: str) -> T:
    """Return `row`. Raises CommandError with the text `otherwise` if it is None."""
    if row is None:
        raise CommandError(otherwise)
    return row


def job_numbered(number: int) -> AnyJob:
    """Return the job with this id. Raises CommandError."""
    return existing(queries.any_job(number), f"id: there is no job {number}")


def first(matching: "QuerySet[Row]", options: Options) -> tuple[list[Row], bool]:
    """Return the first rows, as many as --limit allows; and whether there are more."""
    rows = list(matching[: options["limit"] + 1])  # one more, to know whether there is another
    return rows[: options["limit"]], len(rows) > options["limit"]


def backlog_is_full(refused: TooManyWaiting, tenant: str) -> CommandError:
    """Return the refusal with the command that allows more waiting jobs.

    tenant: the slug of the tenant
    """
    allow = f"allow more: manage.py tenants slots {quote(tenant)} --max-waiting N"
    return CommandError(f"tenant: {refused}, or {allow}")
