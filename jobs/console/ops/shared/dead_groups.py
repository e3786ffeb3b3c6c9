"""Group dead letters by shape of error and job type."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import TruncHour

from jobs.console.ops.shared.dead_letters import UNGROUPED
from jobs.console.ops.shared.strips import curve
from jobs.models import DeadLetter
from plumbing.error_shapes import key_of, shape

HOUR, HOURS = timedelta(hours=1), 24
MAX_GROUPS = 100


class Key(NamedTuple):
    """The key of a group, in the order of the index jobs_dead_groups."""

    error_key: int | None
    source_type: str
    source_method: str


@dataclass(frozen=True)
class Group:
    """The dead letters of one shape of error and one job type.

    like: the shape of their errors
    example: the last error
    last: the moment of the last death
    count: the number of letters
    tenants: the number of tenants
    hours: the deaths per hour of the last day, as a curve
    """

    like: str
    job_type: str
    example: str
    last: datetime
    count: int
    tenants: int
    hours: str


def groups(letters: QuerySet[DeadLetter], now: datetime) -> tuple[list[Group], bool]:
    """Return the MAX_GROUPS largest groups of all these letters; and whether there are others."""
    rows = list(counted(letters)[: MAX_GROUPS + 1])
    keys = [Key(*row[:3]) for row in rows[:MAX_GROUPS]]
    examples = _examples(letters, {key: row[5] for key, row in zip(keys, rows, strict=False)})
    hours = _hours(letters, keys, now)
    largest = []
    for key, (*_, count, tenants, last) in zip(keys, rows, strict=False):
        example, job_type = examples.get(key, ""), f"{key.source_type}.{key.source_method}"
        like = UNGROUPED if key.error_key is None else _shape(example, key.error_key)
        deaths = curve(hours[key], f"{sum(hours[key]):,} in the last 24 hours")
        largest.append(Group(like, job_type, example, last, count, tenants, deaths))
    return largest, len(rows) > MAX_GROUPS


def _shape(example: str, error_key: int) -> str:
    """Return the shape that has this key: letters of an older release have that of one without names."""
    without = shape(example, names=False)
    return without if key_of(without) == error_key else shape(example)


def counted(letters: QuerySet[DeadLetter]) -> QuerySet[DeadLetter, tuple[Any, ...]]:
    """Return the key, the number of letters and of tenants, and the last death of each group, the largest first.

    The index jobs_dead_groups alone answers it.
    """
    by_key = letters.order_by().values_list(*Key._fields)
    numbers = by_key.annotate(count=Count("*"), tenants=Count("tenant_id", distinct=True), last=Max("died_at"))
    return numbers.order_by("-count", "-last")


def _examples(letters: QuerySet[DeadLetter], last: Mapping[Key, datetime]) -> dict[Key, str]:
    """Return the latest error of each of these groups.

    last: the moment of the last death of each group
    """
    wanted = Q(pk__in=[])
    for key, died_at in last.items():
        wanted |= Q(**key._asdict(), died_at=died_at)
    errors = letters.order_by().filter(wanted).values_list(*Key._fields, "last_error")
    return {Key(*key): error for *key, error in errors}


def _hours(letters: QuerySet[DeadLetter], keys: Sequence[Key], now: datetime) -> dict[Key, list[int]]:
    """Return the deaths of these groups in each of the last HOURS hours (UTC), the oldest first."""
    begin = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
    counted: dict[Key, list[int]] = defaultdict(lambda: [0] * HOURS)
    hour = TruncHour("died_at", tzinfo=UTC)
    listed = Q(error_key=None) | Q(error_key__in={key.error_key for key in keys})  # `in` never matches NULL
    recent = letters.order_by().filter(listed, died_at__gte=begin)
    for *key, at, deaths in recent.values_list(*Key._fields).annotate(hour=hour, deaths=Count("*")):
        counted[Key(*key)][min((at - begin) // HOUR, HOURS - 1)] += deaths
    return counted
