"""Dead letters for people: filters, and groups of the latest ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from jobs.console.operations.filters import Filter, of_class
from jobs.console.ops.charts import curve
from jobs.console.ops.shapes import NO_ERROR, class_of, shape
from jobs.models import DeadLetter

FILTERS = ("tenant", "queue", "type", "source", "error", "like", "since")
HOUR, HOURS = timedelta(hours=1), 24
SINCE = ("1h", "24h", "7d", "30d")
MAX_GROUPED = 1000  # letters that are read for the groups
MAX_CLASSED = 20_000  # letters whose class alone is read
MAX_CLASS = 200  # characters


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


def matching(filters: Mapping[str, str], now: datetime, upto: datetime | None = None) -> QuerySet[DeadLetter]:
    """The dead letters that fit all filters, latest death first; those up to a moment. now: the end of `since`.

    Raises InvalidRequest, naming the filter and what is allowed.
    """
    found = Filter(since="died_at")
    for name, value in filters.items():
        if name == "like":  # the rest of the shape: `fits`
            found.others &= Q(last_error="") if value == NO_ERROR else _of_class_of(value)
        else:
            found.add(name, value, now)
    dead = Q(died_at__isnull=False) if upto is None else Q(died_at__lte=upto)
    return DeadLetter.objects.filter(dead, found.everything).order_by("-died_at", "-pk")


def _of_class_of(like: str) -> Q:
    name = class_of(like)
    return of_class(name) if name else Q()


def fits(filters: Mapping[str, str], error: str) -> bool:
    """Whether an error has the shape that is looked for: what no statement can tell."""
    return "like" not in filters or filters["like"] == shape(error)


def classes(filters: Mapping[str, str], now: datetime) -> list[tuple[str, int]]:
    """The classes of the errors of the latest MAX_CLASSED letters, the most frequent first, with their numbers.

    "" stands for errors without a class. A wave of deaths fills the letters that are read for the groups; what else
    died is seen here.
    """
    errors = matching(filters, now).values_list(Left("last_error", MAX_CLASS), flat=True)[:MAX_CLASSED]
    return Counter(class_of(error) for error in errors).most_common()


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
