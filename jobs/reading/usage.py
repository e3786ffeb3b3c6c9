"""The usage of tenants on the days of a period, in UTC: attempts, worker-seconds, slots. Closed days are final."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Max

from jobs.calls.refusals import InvalidRequest
from jobs.models import ClosedDay, Queue, Recorded, SlotPeak
from jobs.reading.statistics import Kept
from jobs.store.rows import rows
from tenants.tenant_model import slugs_of

DAY = timedelta(days=1)
NAMES = ("from", "to", "by")
PARTS = ("tenant", "day", "queue", "type", "outcome")
MOST_DAYS = 3660
YEARS = range(1970, 9999)  # of a day that a request may name: the days before and after it exist, too
MOST_LINES = 10_000  # of one answer


@dataclass(frozen=True)
class AttemptGroup:
    """The ended attempts of one group. A part by which the caller did not group is None.

    microseconds: the time that processes worked in these attempts.
    kept: those of them that had a wait target, and that kept it.
    units: what they used, by unit.
    peak_slots: the most slots in use, of groups by tenant, by day or by both. None: not recorded.
    """

    tenant_id: int | None
    day: date | None
    queue: str | None
    source_type: str | None
    source_method: str | None
    outcome: str | None
    attempts: int
    microseconds: int
    kept: Kept
    units: Mapping[str, int] = field(default_factory=dict)
    peak_slots: int | None = None

    @property
    def worker_seconds(self) -> float:
        return self.microseconds / 1e6


@dataclass(frozen=True)
class Usage:
    """The usage in a period.

    starts: its first day.
    ends: the day after its last one.
    final: whether its numbers can no longer change.
    final_at: when its last day was closed.
    counted_at: when the recorder last counted.
    """

    starts: date
    ends: date
    final: bool
    final_at: datetime | None
    counted_at: datetime | None
    lines: Sequence[AttemptGroup]

    @property
    def attempts(self) -> int:
        return sum(line.attempts for line in self.lines)

    @property
    def worker_seconds(self) -> float:
        return sum(line.microseconds for line in self.lines) / 1e6

    @property
    def kept(self) -> Kept:
        return Kept(sum(line.kept.targeted for line in self.lines), sum(line.kept.in_time for line in self.lines))

    @property
    def units(self) -> dict[str, int]:
        """The sums of all lines by unit, in the order of their names."""
        names = sorted({name for line in self.lines for name in line.units})
        return {name: sum(line.units.get(name, 0) for line in self.lines) for name in names}


@dataclass(frozen=True)
class UsageRequest:
    """A period and the parts to group by."""

    starts: date
    ends: date
    by: tuple[str, ...]

    @classmethod
    def parse(
        cls, starts: str | None, ends: str | None, by: str | None, *, now: datetime, of_one_tenant: bool = False
    ) -> "UsageRequest":
        """Read the texts of a request: days such as 2030-01-31, and parts with commas. Raises InvalidRequest.

        The default is this month up to today, by tenant.

        of_one_tenant: the request is for one tenant's usage. The default part is then the day.
        """
        parts = PARTS[1:] if of_one_tenant else PARTS
        today = day_of(now)
        first = _day("from", starts) or today.replace(day=1)
        last = _day("to", ends) or max(today, first) + DAY
        if not first < last:
            raise InvalidRequest("to", f"must be after {first}: the period ends before that day")
        if (last - first).days > MOST_DAYS:
            raise InvalidRequest("to", f"must be at most {MOST_DAYS:,} days after {first}")
        names = tuple(dict.fromkeys(part.strip() for part in (by or parts[0]).split(",")))
        if unknown := [name for name in names if name not in parts]:
            raise InvalidRequest("by", f"{unknown[0][:100]!r} is unknown; known, with commas: {','.join(parts)}")
        return cls(first, last, names)


def _day(field: str, written: str | None) -> date | None:
    if not written:
        return None
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", written, re.ASCII):
            raise ValueError
        day = date.fromisoformat(written)
        if day.year not in YEARS:
            raise ValueError
        return day
    except ValueError:
        raise InvalidRequest(field, "must be a day such as 2030-01-31 (UTC)") from None


def read(request: UsageRequest, tenant_id: int | None, now: datetime, max_lines: int | None = MOST_LINES) -> Usage:
    """Return the usage of a tenant, or of all (None).

    Raises InvalidRequest if the answer has more than `max_lines` lines; None allows any number.
    """
    unclosed, today = first_open(), day_of(now)
    groups = rows(
        "usage",
        starts=request.starts,
        ends=request.ends,
        by=list(request.by),
        tenant_id=tenant_id,
        open=unclosed or date.min,
        # Attempts that came too late for the bill of their closed day are left out until the next day is closed.
        since=max(min(unclosed, today) if unclosed else date.min, request.starts - DAY),
        until=today + 2 * DAY,
        most=None if max_lines is None else max_lines + 1,
    )
    if max_lines is not None and len(groups) > max_lines:
        raise InvalidRequest("by", f"gives more than {max_lines:,} lines; ask for fewer parts or days")
    names, peaks = dict(Queue.objects.values_list("pk", "name")), _peaks(request, tenant_id)
    lines = [
        AttemptGroup(
            tenant,
            day,
            queue and names.get(queue, f"queue {queue}"),
            kind,
            method,
            outcome,
            n,
            ran,
            Kept(targeted, in_time),
            json.loads(units or "{}"),
            peaks.get((tenant, day)),
        )
        for tenant, day, queue, kind, method, outcome, n, ran, targeted, in_time, units in groups
    ]
    closed = ClosedDay.objects.filter(day=request.ends - DAY).values_list("closed_at", flat=True).first()
    counted = Recorded.objects.filter(task="hours").values_list("at", flat=True).first()
    return Usage(request.starts, request.ends, bool(unclosed and request.ends <= unclosed), closed, counted, lines)


def _peaks(request: UsageRequest, tenant_id: int | None) -> Mapping[tuple[int | None, date | None], int]:
    """Return the most slots in use, by tenant and day as in the lines.

    Peaks of several tenants have no sum, since they were not at the same time.
    """
    by = set(request.by)
    if not by <= {"tenant", "day"} or (tenant_id is None and "tenant" not in by):
        return {}
    peaks = SlotPeak.objects.filter(day__gte=request.starts, day__lt=request.ends)
    if tenant_id is not None:
        peaks = peaks.filter(tenant_id=tenant_id)
    greatest = peaks.values("tenant_id", *(["day"] if "day" in by else [])).annotate(most=Max("slots"))
    return {(row["tenant_id"] if "tenant" in by else None, row.get("day")): row["most"] for row in greatest}


def first_open() -> date | None:
    """Return the first day that is not closed; None if no day is closed."""
    last: date | None = ClosedDay.objects.aggregate(last=Max("day"))["last"]
    return last and last + DAY


def day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def document(usage: Usage) -> dict[str, Any]:
    """Return the usage as a JSON document. A deleted tenant is named by its number."""
    slugs = slugs_of({line.tenant_id for line in usage.lines})
    return {
        "from": usage.starts,
        "to": usage.ends,
        "final": usage.final,
        "final_at": usage.final_at,
        "counted_at": usage.counted_at,
        "attempts": usage.attempts,
        "worker_seconds": usage.worker_seconds,
        "targeted": usage.kept.targeted,
        "in_time": usage.kept.in_time,
        "units": usage.units,
        "usage": [_line(line, slugs) for line in usage.lines],
    }


def _line(line: AttemptGroup, slugs: Mapping[int, str]) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(line).items() if name not in ("tenant_id", "microseconds", "kept")}
    fields |= asdict(line.kept)
    tenant = None if line.tenant_id is None else slugs.get(line.tenant_id, f"tenant {line.tenant_id}")
    return {"tenant": tenant} | fields | {"worker_seconds": line.worker_seconds}
