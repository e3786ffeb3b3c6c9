"""Dead letters for people: filters, groups of the latest ones, and a selection that a form carries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from jobs.models import DeadLetter
from jobs.queries import LARGEST_ID

FILTERS = ("tenant", "queue", "type", "error")
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


def matching(filters: Mapping[str, str], upto: datetime | None = None) -> QuerySet[DeadLetter]:
    """The dead letters that fit all filters, latest death first; those up to a moment."""
    found = Q(died_at__isnull=False)
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


def ids(texts: Iterable[str]) -> list[int]:
    """The ids of a form, without anything that is none."""
    return [int(text) for text in texts if text.isascii() and text.isdecimal() and int(text[:20]) <= LARGEST_ID]
