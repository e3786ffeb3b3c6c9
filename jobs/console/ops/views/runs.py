"""Runs: what was done to many jobs at once, by page, API or command, by whom, and how it went on.

They are read from the audit log, where each has its entries.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse

from jobs.console.ops import live, looks
from jobs.console.ops.access import page_for
from jobs.models import Job
from jobs.pages.answers import existing
from jobs.reading.looking import looking
from tenants.models import Change, ChangeSubject
from tenants.names import kind_of, named

MAX_RUNS, MAX_JOBS, MAX_TENANTS = 50, 100, 100  # that are listed
MAX_ENTRIES = 2000  # of the log that the list reads; a run has one for each verb and tenant
MAX_FOLLOWED = 10_000  # jobs of a run whose present state is counted
FAILED = ("dead", "error")


@page_for("tenants.view_change")
def show(request: HttpRequest) -> HttpResponse:
    shown = {"runs": latest()[:MAX_RUNS]}
    return live.page(request, "runs", "Runs", (), shown, every=0)


@page_for("tenants.view_change")
def one(request: HttpRequest, bulk: UUID) -> HttpResponse:
    run = existing(_run(bulk), "There is no such run, or the log of it was deleted.")
    sees_jobs = request.user.has_perm(named("jobs.view_job"))
    largest = sorted(run.tenants.items(), key=lambda tenant: -tenant[1])[:MAX_TENANTS]
    names = looks.tenants({pk for pk, _ in largest if pk is not None})
    shown = {
        "run": run,
        "tenants": [(names.get(pk or 0), number) for pk, number in largest],
        "since": since(bulk) if sees_jobs else None,
        "jobs": jobs_of(bulk, MAX_JOBS) if sees_jobs else [],
    }
    return live.page(request, "past_run", "Run", (), shown, every=0)


@dataclass(frozen=True)
class PastRun:
    """outcomes: jobs by what was done to them. tenants: jobs by tenant. filters: in words; "" if jobs were named."""

    bulk: UUID | None
    at: datetime
    who: str
    filters: str
    outcomes: Mapping[str, int]
    tenants: Mapping[int | None, int]

    @property
    def number(self) -> int:
        return sum(self.outcomes.values())


def latest() -> list[PastRun]:
    """The latest runs first, those that the latest MAX_ENTRIES entries are about."""
    entries = list(_entries().order_by("-pk")[:MAX_ENTRIES])
    found = _runs(reversed(entries))
    if len(entries) == MAX_ENTRIES and len(found) > 1:
        found = found[1:]  # some entries of the first one may be missing
    return found[::-1]


def _run(bulk: UUID) -> PastRun | None:
    """The run; None if there is none, or the log of it was deleted."""
    found = _runs(_entries().filter(bulk=bulk).order_by("pk"))
    return found[0] if found else None


@dataclass(frozen=True)
class Since:
    """What its jobs do now: by status; gone: they are in the history, or deleted. counted: no more were looked at."""

    statuses: Mapping[str, int]
    gone: int
    counted: int

    @property
    def failed(self) -> int:
        return sum(self.statuses.get(status, 0) for status in FAILED)


def since(bulk: UUID) -> Since:
    """The present state of the first MAX_FOLLOWED jobs of a run."""
    with looking():
        ids = list(_subjects(bulk)[:MAX_FOLLOWED])
        counted = Job.objects.filter(pk__in=ids).values_list("status").annotate(n=Count("*")).order_by("-n")
        statuses = dict(counted)
    return Since(statuses, len(ids) - sum(statuses.values()), len(ids))


def jobs_of(bulk: UUID, most: int) -> list[tuple[int, str]]:
    """Some of its jobs with their present statuses, those that failed again first; without those in the history."""
    found = dict(Job.objects.filter(pk__in=list(_subjects(bulk)[:MAX_FOLLOWED])).values_list("pk", "status"))
    return sorted(found.items(), key=lambda job: (job[1] not in FAILED, job[0]))[:most]


def _subjects(bulk: UUID) -> "QuerySet[ChangeSubject, int]":
    of = ChangeSubject.objects.filter(change__bulk=bulk, change__kind=kind_of(Job))
    return of.order_by("pk").values_list("subject_id", flat=True)


def _entries() -> "QuerySet[Change]":
    return Change.objects.filter(bulk__isnull=False, kind=kind_of(Job))


def _runs(entries: Iterable[Change]) -> list[PastRun]:
    """entries: the first written first."""
    together: dict[UUID | None, list[Change]] = defaultdict(list)
    for entry in entries:
        together[entry.bulk].append(entry)
    found = []
    for bulk, same in together.items():
        outcomes, tenants = Counter[str](), Counter[int | None]()
        for entry in same:
            outcomes[entry.verb] += entry.values.get("number", 1)
            tenants[entry.tenant_id] += entry.values.get("number", 1)
        filters = same[0].values.get("filter", "")
        found.append(PastRun(bulk, same[0].at, same[0].who, filters, dict(outcomes), dict(tenants)))
    return found
