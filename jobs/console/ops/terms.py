"""The search of jobs: words such as `status:error tenant:acme`, which must all fit."""

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from jobs.authoring.text import storable
from jobs.calls.refusals import InvalidRequest
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Queue
from jobs.reading.masked import masked
from jobs.reading.queries import LARGEST_ID
from tenants.models import Tenant
from tenants.tenant_model import all_tenants

NAMES = ("status", "tenant", "type", "source", "queue", "user", "error", "since", "args.<name>")
COLUMNS = {"user": "user_key", "source": "source_id"}
HELD = "held"
UNITS = {"m": 60, "h": 3600, "d": 86_400}
LONGEST = 3650 * 86_400  # seconds
DIGITS = 19


@dataclass
class Sought:
    """What is searched for. job_id: set if it was just a number."""

    chosen: Q
    tenant: Tenant | None = None
    status: Status | None = None
    job_id: int | None = None


def read(typed: str, now: datetime) -> Sought:
    """The meaning of a search. Raises InvalidRequest, naming the word and what is allowed."""
    words = storable(typed).split()
    if len(words) == 1 and words[0].isascii() and words[0].isdecimal():
        return Sought(Q(), job_id=_id(words[0]))
    sought = Sought(Q())
    for word in words:
        name, colon, value = word.partition(":")
        if not (colon and value):
            raise InvalidRequest("q", f"{word!r} is not of the form name:value; names: {', '.join(NAMES)}")
        _add(sought, name, value, now)
    return sought


def _id(word: str) -> int:
    if len(word) > DIGITS or int(word) > LARGEST_ID:
        raise InvalidRequest("q", f"no job has an id above {LARGEST_ID}")
    return int(word)


def _add(sought: Sought, name: str, value: str, now: datetime) -> None:
    match name.lower():
        case "status":
            _status(sought, value)
        case "tenant":
            sought.tenant = _tenant(value)
        case _:
            sought.chosen &= _filter(name, value, now)


def _filter(name: str, value: str, now: datetime) -> Q:
    match name.lower():
        case "queue":
            return Q(queue=_queue(value))
        case "type":
            return _type(value)
        case "user" | "source":
            return Q((COLUMNS[name.lower()], value))
        case "error":
            return Q(last_error=value) | Q(last_error__startswith=f"{value}:")
        case "since":
            return Q(created_at__gt=now - _length(value))
        case _ if name.startswith("args.") and name != "args.":
            return _arguments({name.removeprefix("args."): _value(value)})
        case _:
            raise InvalidRequest("q", f"{name!r} is unknown; names: {', '.join(NAMES)}")


def _arguments(wanted: dict[str, Any]) -> Q:
    """Raises InvalidRequest for what the pages mask: a search would tell whether a guess is right."""
    if masked(wanted) != wanted:
        raise InvalidRequest("q", f"args.{next(iter(wanted))}: what JOBS_MASKED_ARGS masks cannot be searched")
    return Q(args__contains=wanted)


def _status(sought: Sought, value: str) -> None:
    if value == HELD:
        sought.status = Status.SCHEDULED
        sought.chosen &= Q(due_at=HELD_UNTIL)
        return
    try:
        sought.status = Status(value)
    except ValueError:
        known = ", ".join([*Status, HELD])
        raise InvalidRequest("q", f"status {value!r} is unknown; there are: {known}") from None


def _tenant(slug: str) -> Tenant:
    tenant = all_tenants().filter(slug=slug).first()
    if tenant is None:
        raise InvalidRequest("q", f"there is no tenant with the slug {slug!r}")
    return tenant


def _queue(name: str) -> Queue:
    queue = Queue.objects.filter(name=name).first()
    if queue is None:
        raise InvalidRequest("q", f"there is no queue {name!r}")
    return queue


def _type(value: str) -> Q:
    """A source type, or one with its method, `reports.datareport` or `reports.datareport.execute`."""
    source_type, _, method = value.rpartition(".")
    return Q(source_type=value) | Q(source_type=source_type, source_method=method)


def _length(value: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,9})([mhd])", value)
    seconds = int(found[1]) * UNITS[found[2]] if found else LONGEST + 1
    if seconds > LONGEST:
        raise InvalidRequest("q", "since: must be a number of minutes, hours or days of at most ten years: 30m, 1h, 7d")
    return timedelta(seconds=seconds)


def _value(value: str) -> Any:
    """JSON, or a text."""
    try:
        return json.loads(value)
    except ValueError:
        return value
