"""Dead letters for people: filters, and groups of the latest ones."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from jobs.console.ops.charts import curve
from jobs.console.ops.shapes import NO_ERROR, class_of, shape
from jobs.models import DeadLetter

FILTERS = ("tenant", "queue", "type", "error", "like", "since")
HOUR, HOURS = timedelta(hours=1), 24
SINCE = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
LATEST = 1000  # letters that are read for the groups


@dataclass(frozen=True)
class Group:
    """The latest letters of one shape of error and one job type. example: the last error. tenants: their number.

    hours: an SVG path of the deaths per hour of the last day, over HOURS steps; day: their number.
    """

    like: str
    job_type: str
    example: str
    last: datetime
    count: int
    tenants: int
    hours: str
    day: int


def filters_of(given: Mapping[str, str]) -> dict[str, str]:
    """The filters of a form or an address, without those that are empty or mean nothing."""
    found = {name: value for name in FILTERS if (value := given.get(name, "").replace("\x00", "").strip())}
    if found.get("since") not in SINCE:
        found.pop("since", None)
    return found


def matching(
    filters: Mapping[str, str], upto: datetime | None = None, now: datetime | None = None
) -> QuerySet[DeadLetter]:
    """The dead letters that fit all filters, latest death first; those up to a moment. now: the end of `since`."""
    found = Q(died_at__isnull=False)
    if now is not None and (length := SINCE.get(filters.get("since", ""))):
        found &= Q(died_at__gt=now - length)
    if upto is not None:
        found &= Q(died_at__lte=upto)
    if slug := filters.get("tenant"):
        found &= Q(tenant__slug=slug)
    if queue := filters.get("queue"):
        found &= Q(queue__name=queue)
    if job_type := filters.get("type"):
        source_type, _, method = job_type.rpartition(".")
        found &= Q(source_type=source_type, source_method=method)
    if error := filters.get("error"):
        found &= _of_class(error)
    if like := filters.get("like"):  # the rest of the shape: `fitting`
        if like == NO_ERROR:
            found &= Q(last_error="")
        elif name := class_of(like):
            found &= _of_class(name)
    return DeadLetter.objects.filter(found).order_by("-died_at", "-pk")


def _of_class(error: str) -> Q:
    return Q(last_error=error) | Q(last_error__startswith=f"{error}:")


def fits(filters: Mapping[str, str], error: str) -> bool:
    """Whether an error has the shape that is looked for: what no statement can tell."""
    return "like" not in filters or filters["like"] == shape(error)


def groups(letters: Iterable[DeadLetter], now: datetime) -> list[Group]:
    """By shape of the error and by job type, the largest first. letters: latest first."""
    together: dict[tuple[str, str], list[DeadLetter]] = defaultdict(list)
    for letter in letters:
        together[shape(letter.last_error), f"{letter.source_type}.{letter.source_method}"].append(letter)
    found = [_group(like, job_type, same, now) for (like, job_type), same in together.items()]
    return sorted(found, key=lambda group: -group.count)


def _group(like: str, job_type: str, same: Sequence[DeadLetter], now: datetime) -> Group:
    died = [letter.died_at for letter in same if letter.died_at]
    hours = _hours(died, now)
    tenants = len({letter.tenant_id for letter in same})
    return Group(like, job_type, same[0].last_error, died[0], len(same), tenants, curve(hours), sum(hours))


def _hours(died: Iterable[datetime], now: datetime) -> list[int]:
    """The deaths of each of the last HOURS hours, the oldest first."""
    counted = [0] * HOURS
    for at in died:
        ago = max((now - at) // HOUR, 0)
        if ago < HOURS:
            counted[HOURS - 1 - ago] += 1
    return counted
