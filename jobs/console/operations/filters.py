"""The filters of jobs and dead letters. Each has one meaning, on the pages, in commands and in the API."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, Self

from django.db.models import Q

from jobs.calls.arguments import as_json
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.comparisons import COMPARED, comparison
from jobs.console.operations.named import queue_named, tenant_named
from jobs.lifecycle import Status
from jobs.models import Worker
from jobs.reading.listing import HELD, Sought
from jobs.reading.masked import masked
from plumbing.bounds import LARGEST_ID
from tenants.models import Tenant

NAMES = (  # as people type them
    *(
        "status",
        "tenant",
        "type",
        "source",
        "queue",
        "user",
        "batch",
        "sequence",
        "worker",
        "error",
        "retried",
        "since",
        "until",
    ),
    *("ended_since", "ended_until", *COMPARED, "args.<name>"),
)
LISTS = frozenset({"tenant", "status", "type", "queue", "worker"})  # filters that take several values: tenant:a,b
MOST_VALUES = 20  # of one of them
UNITS = {"m": 60, "h": 3600, "d": 86_400}
MAX_AGE = 3650 * 86_400  # seconds
OF_A_DAY = re.compile(r"([01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2})?")  # from Python 3.14 on, `time` reads 24:00 as 00:00
MOMENTS = "30m, 1h, 7d ago (at most ten years), 14:00 of today or else yesterday, or 2030-01-31T02:00 (UTC)"  # as typed


@dataclass
class JobFilters(Sought):
    """The jobs of all tenants that match all added filters.

    since: the column that the filters `since` and `until` compare
    """

    tenant: Tenant | None = None
    since: str = "created_at"

    def add(self, name: str, value: Any, now: datetime) -> None:
        """Add a filter. Raises InvalidRequest, which names the filter and the allowed values.

        value: of a filter in LISTS also several with commas, of which a job must match one
        """
        if name.lower() in LISTS and "," in value and ":" not in value:  # the id of an object may have one
            self.others &= self._one_of(name, [one for one in value.split(",") if one], now)
            return
        match name.lower():
            case "status":
                self._add_status(value)
            case "tenant":
                self.tenant = tenant_named(value)
            case "batch":
                self.batch = _batch(value)
            case "since":
                self.others &= Q((f"{self.since}__gt", moment("since", value, now)))
            case "until":
                self.others &= Q((f"{self.since}__lte", moment("until", value, now)))
            case "ended_since":
                self.others &= Q(end_time__gte=moment("ended_since", value, now))
            case "ended_until":
                self.others &= Q(end_time__lt=moment("ended_until", value, now))
            case compared if compared in COMPARED:
                self.others &= comparison(compared, value, now)
            case _:
                self.others &= _filter(name, value)

    def leave_out(self, name: str, value: Any, now: datetime) -> None:
        """Leave out the jobs that match a filter. Raises InvalidRequest as `add` does."""
        self.others &= ~self._alone(name, value, now)

    def _one_of(self, name: str, values: list[str], now: datetime) -> Q:
        if not 0 < len(values) <= MOST_VALUES:
            raise InvalidRequest(name, f"must have 1 to {MOST_VALUES} values, with commas between them")
        return reduce(or_, (self._alone(name, value, now) for value in values))

    def _alone(self, name: str, value: Any, now: datetime) -> Q:
        """Return the condition of one filter; a page checks it for each job that it looks at."""
        alone = JobFilters(since=self.since)
        alone.add(name, value, now)
        return alone.owned & alone.fitting

    def _add_status(self, value: str) -> None:
        try:
            self.add_status(value)
        except ValueError:
            raise InvalidRequest("status", f"{value!r} is unknown; known: {', '.join([*Status, HELD])}") from None


def moment(name: str, text: str, now: datetime) -> datetime:
    """Return the moment that `text` means, in UTC. Raises InvalidRequest.

    name: the field that InvalidRequest names
    text: 30m, 1h or 7d: so long before now; 14:00: the last time that it was 14:00; or a date and time
    """
    if age := re.fullmatch(r"(\d{1,9})([mhd])", text):
        seconds = int(age[1]) * UNITS[age[2]]
        if seconds <= MAX_AGE:
            return now - timedelta(seconds=seconds)
    else:
        with suppress(ValueError, OverflowError):
            if OF_A_DAY.fullmatch(text):
                today = datetime.combine(now.astimezone(UTC), time.fromisoformat(text), UTC)
                return today if today <= now else today - timedelta(days=1)
            at = datetime.fromisoformat(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    raise InvalidRequest(name, f"must be like {MOMENTS}")


class DeathPosition(NamedTuple):
    """The position of a dead letter in the order of deaths: where a page of them begins or ends."""

    died_at: datetime
    id: int

    @classmethod
    def read(cls, written: str) -> Self:
        """Parse what `str` has written. Raises ValueError."""
        at, _, job_id = written.partition("_")
        with suppress(ValueError, OverflowError):
            died_at = datetime.fromisoformat(at)
            if died_at.tzinfo is not None and int(job_id) <= LARGEST_ID:
                return cls(died_at.astimezone(UTC), int(job_id))
        raise ValueError("must be copied from `next` of the previous page")

    def __str__(self) -> str:
        return f"{self.died_at.isoformat()}_{self.id}"

    def earlier(self) -> Q:
        return Q(died_at__lte=self.died_at) & (Q(died_at__lt=self.died_at) | Q(pk__lt=self.id))

    def not_earlier(self) -> Q:
        return Q(died_at__gte=self.died_at) & (Q(died_at__gt=self.died_at) | Q(pk__gte=self.id))


def of_class(error: str) -> Q:
    """Jobs whose last error is of this class."""
    return Q(last_error=error) | Q(last_error__startswith=f"{error}:")


def _filter(name: str, value: Any) -> Q:
    if name.lower() in MEANINGS:
        return MEANINGS[name.lower()](value)
    if name.startswith("args.") and name != "args.":
        return _of_arguments({name.removeprefix("args."): as_json(_value(value), name)})
    raise InvalidRequest("q", f"{name!r} is unknown; names: {', '.join(NAMES)}")


def _of_type(value: str) -> Q:
    """Match a source type, also with a method or an object: `reports.datareport`, `reports.datareport.execute:13`.

    A name without a dot is that of a method: `execute`.
    """
    name, _, source_id = value.partition(":")
    source_type, dot, method = name.rpartition(".")
    of_method = Q(source_type=source_type, source_method=method) if dot else Q(source_method=method)
    condition = Q(source_type=name) | of_method
    return condition & Q(source_id=source_id) if source_id else condition


def _batch(value: Any) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,17}", str(value)):
        raise InvalidRequest("batch", f"must be the number of a batch, not {value!r}")
    return int(value)


def _of_retried(value: str) -> Q:
    if value not in ("yes", "no"):
        raise InvalidRequest("retried", f"must be yes or no, not {value!r}")
    failed = Q(retries__gt=0) | Q(crashes__gt=0)
    return failed if value == "yes" else ~failed


def _of_arguments(wanted: dict[str, Any]) -> Q:
    """Match jobs that have these arguments.

    Raises InvalidRequest for arguments that the pages mask: a search would show whether a guess is right.
    """
    if masked(wanted) != wanted:
        raise InvalidRequest(f"args.{next(iter(wanted))}", "what JOBS_MASKED_ARGS masks cannot be searched")
    return Q(args__contains=wanted)


def _value(value: str) -> Any:
    """Return the value of a JSON text; a text that is not JSON as it is."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


MEANINGS: Mapping[str, Callable[[Any], Q]] = {
    "queue": lambda value: Q(queue=queue_named(value)),
    "type": _of_type,
    "source": lambda value: Q(source_id=value),
    "source_id": lambda value: Q(source_id=value),
    "source_type": lambda value: Q(source_type=value),
    "source_method": lambda value: Q(source_method=value),
    "user": lambda value: Q(user_key=value),
    "sequence": lambda value: Q(sequence=value),
    "error": of_class,
    "worker": lambda name: Q(worker__in=list(Worker.objects.filter(name=name).values_list("pk", flat=True))),
    "retried": _of_retried,
}
