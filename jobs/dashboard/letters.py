"""Dead letters for people: filters, and groups of the latest ones."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from jobs.models import DeadLetter

FILTERS = ("tenant", "queue", "type", "error", "since")
SINCE = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
LATEST = 1000  # letters that are read for the groups


@dataclass
class Group:
    """The latest letters of one error class and one job type. example: the last error. tenants: their number."""

    error: str
    job_type: str
    example: str
    last: datetime
    count: int
    tenants: int


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
        found &= Q(last_error=error) | Q(last_error__startswith=f"{error}:")
    return DeadLetter.objects.filter(found).order_by("-died_at", "-pk")


def groups(letters: Iterable[DeadLetter]) -> list[Group]:
    """By error class and job type, the largest first. letters: latest first."""
    together: dict[tuple[str, str], list[DeadLetter]] = defaultdict(list)
    for letter in letters:
        together[error_class(letter), f"{letter.source_type}.{letter.source_method}"].append(letter)
    found = [
        Group(error, job_type, same[0].last_error, same[0].died_at, len(same), len({one.tenant_id for one in same}))
        for (error, job_type), same in together.items()
        if same[0].died_at
    ]
    return sorted(found, key=lambda group: -group.count)


def error_class(letter: DeadLetter) -> str:
    """The class of its last error: the text before the first colon."""
    return letter.last_error.partition(":")[0]
