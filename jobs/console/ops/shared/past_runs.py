"""Read the past runs (bulk actions): changes of many jobs at once, by page, API or command, and their jobs since then.

They are read from the audit log, where each run has its entries.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet

from jobs.models import Job
from jobs.reading.looking import looking
from plumbing.names import kind_of
from tenants.models import Change, ChangeSubject

MAX_ENTRIES = 2000  # of the log that the list reads; a run has one for each verb and tenant
MAX_FOLLOWED = 10_000  # jobs of a run whose present state is counted
FAILED = ("dead", "error")


@dataclass(frozen=True)
class PastRun:
    """A run of the past.

    filters: the filters in words; "" if the jobs were chosen one by one
    outcomes: the number of jobs by what was done to them
    tenants: the number of jobs by tenant
    """

    bulk: UUID | None
    at: datetime
    who: str
    filters: str
    outcomes: Mapping[str, int]
    tenants: Mapping[int | None, int]

    @property
    def number(self) -> int:
        return sum(self.outcomes.values())


def past_runs() -> list[PastRun]:
    """Return the runs of the latest MAX_ENTRIES entries, the latest first."""
    entries = list(_entries().order_by("-pk")[:MAX_ENTRIES])
    runs = _runs(reversed(entries))
    if len(entries) == MAX_ENTRIES and len(runs) > 1:
        runs = runs[1:]  # some entries of the first one may be missing
    return runs[::-1]


def past_run(bulk: UUID) -> PastRun | None:
    """Return the run; None if there is none, or if its entries were deleted."""
    runs = _runs(_entries().filter(bulk=bulk).order_by("pk"))
    return runs[0] if runs else None


@dataclass(frozen=True)
class Since:
    """The present state of the jobs of a run.

    statuses: the number of jobs by status
    gone: the number of jobs that are in the history, or deleted
    counted: the number of jobs that were looked at
    """

    statuses: Mapping[str, int]
    gone: int
    counted: int

    @property
    def failed(self) -> int:
        return sum(self.statuses.get(status, 0) for status in FAILED)


def since(bulk: UUID) -> Since:
    """Return the present state of the first MAX_FOLLOWED jobs of a run."""
    with looking():
        ids = list(_subjects(bulk)[:MAX_FOLLOWED])
        counted = Job.objects.filter(pk__in=ids).values_list("status").annotate(n=Count("*")).order_by("-n")
        statuses = dict(counted)
    return Since(statuses, len(ids) - sum(statuses.values()), len(ids))


def jobs_of(bulk: UUID, most: int) -> list[tuple[int, str]]:
    """Return some jobs of a run with their present statuses, failed ones first; without jobs in the history."""
    statuses = dict(Job.objects.filter(pk__in=list(_subjects(bulk)[:MAX_FOLLOWED])).values_list("pk", "status"))
    return sorted(statuses.items(), key=lambda job: (job[1] not in FAILED, job[0]))[:most]


def _subjects(bulk: UUID) -> "QuerySet[ChangeSubject, int]":
    subjects = ChangeSubject.objects.filter(change__bulk=bulk, change__kind=kind_of(Job))
    return subjects.order_by("pk").values_list("subject_id", flat=True)


def _entries() -> "QuerySet[Change]":
    return Change.objects.filter(bulk__isnull=False, kind=kind_of(Job))


def _runs(entries: Iterable[Change]) -> list[PastRun]:
    """Return the runs of these entries, which are in the order in which they were written."""
    by_bulk: dict[UUID | None, list[Change]] = defaultdict(list)
    for entry in entries:
        by_bulk[entry.bulk].append(entry)
    runs = []
    for bulk, same in by_bulk.items():
        outcomes, tenants = Counter[str](), Counter[int | None]()
        for entry in same:
            outcomes[entry.verb] += entry.values.get("number", 1)
            tenants[entry.tenant_id] += entry.values.get("number", 1)
        filters = same[0].values.get("filter", "")
        runs.append(PastRun(bulk, same[0].at, same[0].who, filters, dict(outcomes), dict(tenants)))
    return runs
