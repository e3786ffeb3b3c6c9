"""What jobs and dead letters are searched by: one meaning of each filter, whoever asks for it."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import queue_named, tenant_named
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.reading.masked import masked
from tenants.models import Tenant

NAMES = ("status", "tenant", "type", "source", "queue", "user", "error", "since", "args.<name>")  # that people type
COLUMNS = {
    "source": "source_id",
    "source_id": "source_id",
    "source_type": "source_type",
    "source_method": "source_method",
    "user": "user_key",
}
HELD = "held"  # scheduled, until its job type is resumed
UNITS = {"m": 60, "h": 3600, "d": 86_400}
MAX_AGE = 3650 * 86_400  # seconds


@dataclass
class Filter:
    """The jobs that fit all that was added. The lists take status and tenant apart: they have indexes of their own.

    since: the column that the filter of this name is about.
    """

    others: Q = field(default_factory=Q)
    tenant: Tenant | None = None
    status: Status | None = None
    since: str = "created_at"

    @property
    def everything(self) -> Q:
        """All filters as one; not that of the status."""
        return self.others & Q(tenant=self.tenant) if self.tenant else self.others

    def add(self, name: str, value: Any, now: datetime) -> None:
        """Narrow it down. Raises InvalidRequest, naming the filter and what is allowed."""
        match name.lower():
            case "status":
                self._add_status(value)
            case "tenant":
                self.tenant = tenant_named(value)
            case "since":
                self.others &= Q((f"{self.since}__gt", now - length(value)))
            case _:
                self.others &= _filter(name, value)

    def _add_status(self, value: str) -> None:
        if value == HELD:
            self.status = Status.SCHEDULED
            self.others &= Q(due_at=HELD_UNTIL)
            return
        try:
            self.status = Status(value)
        except ValueError:
            raise InvalidRequest("status", f"{value!r} is unknown; known: {', '.join([*Status, HELD])}") from None


def length(text: str) -> timedelta:
    """30m, 1h, 7d. Raises InvalidRequest."""
    found = re.fullmatch(r"(\d{1,9})([mhd])", text)
    seconds = int(found[1]) * UNITS[found[2]] if found else MAX_AGE + 1
    if seconds > MAX_AGE:
        raise InvalidRequest("since", "must be a number of minutes, hours or days of at most ten years: 30m, 1h, 7d")
    return timedelta(seconds=seconds)


def of_class(error: str) -> Q:
    """Jobs whose last error is of this class."""
    return Q(last_error=error) | Q(last_error__startswith=f"{error}:")


def _filter(name: str, value: Any) -> Q:
    match name.lower():
        case "queue":
            return Q(queue=queue_named(value))
        case "type":
            return _of_type(value)
        case "error":
            return of_class(value)
        case known if known in COLUMNS:
            return Q((COLUMNS[known], value))
        case _ if name.startswith("args.") and name != "args.":
            return _of_arguments({name.removeprefix("args."): _value(value)})
        case _:
            raise InvalidRequest("q", f"{name!r} is unknown; names: {', '.join(NAMES)}")


def _of_type(value: str) -> Q:
    """A source type, or one with its method: `reports.datareport` or `reports.datareport.execute`."""
    source_type, _, method = value.rpartition(".")
    return Q(source_type=value) | Q(source_type=source_type, source_method=method)


def _of_arguments(wanted: dict[str, Any]) -> Q:
    """Raises InvalidRequest for what the pages mask: a search would tell whether a guess is right."""
    if masked(wanted) != wanted:
        raise InvalidRequest(f"args.{next(iter(wanted))}", "what JOBS_MASKED_ARGS masks cannot be searched")
    return Q(args__contains=wanted)


def _value(value: str) -> Any:
    """JSON, or a text."""
    try:
        return json.loads(value)
    except ValueError:
        return value
