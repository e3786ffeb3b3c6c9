"""Pages of lists of jobs, newest first. Each page reads a bounded number of jobs, and says how far it looked."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Q, QuerySet

from jobs import store
from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, AnyFailedAttempt, Job, JobRow, Queue, Schedule
from jobs.reading import queries
from jobs.reading.status_words import PAUSED
from jobs.store import Progress, TenantId
from plumbing.bounds import LARGEST_ID
from plumbing.text import duration
from tenants.models import Tenant

MAX_LOOKED_AT = 10_000  # jobs that one page reads at most
SHOWN = 0.05  # seconds: a shorter part of a wait is left out
LOOKS = 10  # for the failures of a batch
HELD = PAUSED[1]  # scheduled, until its job type is resumed or its budget is open again
FAILED = FINAL - {Status.SUCCESS}
MANY = FINAL - {Status.DEAD}  # no index has the jobs of these statuses alone


@dataclass
class Sought:
    """A search for the jobs that meet all of these conditions. Tenant, status and batch have indexes of their own.

    tenant: None for the jobs of all tenants, which only operators see.
    statuses: several statuses, in place of one.
    batch: the id of a batch.
    others: conditions without an index.
    """

    tenant: Tenant | None
    status: Status | None = None
    batch: int | None = None
    others: Q = field(default_factory=Q)
    statuses: frozenset[Status] = frozenset()

    def add_status(self, word: str) -> None:
        """Seek the jobs with this status, or those that are held. Raises ValueError for an unknown word."""
        if word == HELD:
            self.status = Status.SCHEDULED
            self.others &= Q(due_at=HELD_UNTIL)
        else:
            self.status = Status(word)

    @property
    def owned(self) -> Q:
        """The conditions that have an index of their own, newest first: a page looks only at jobs that meet them."""
        owned = Q() if self.tenant is None else Q(tenant=self.tenant)
        return owned if self.batch is None else owned & Q(batch_id=self.batch)

    @property
    def fitting(self) -> Q:
        """The further conditions, which a page checks for each job that it looks at."""
        if self.status is not None:
            return self.others & Q(status=self.status)
        return self.others & Q(status__in=self.statuses) if self.statuses else self.others


@dataclass(frozen=True)
class Page:
    """A page of a list of jobs.

    before: the next page has the jobs with lower ids. None: this is the last page.
    """

    jobs: list[JobRow]
    before: int | None


def call(job: JobRow | Schedule) -> str:
    """Return the call as lists show it and searches accept it: reports.datareport.execute:13, or without an object."""
    return f"{job_type(job)}{f':{job.source_id}' if job.source_id else ''}"


def job_type(job: JobRow | Schedule) -> str:
    """Return the name of the job type: reports.datareport.execute."""
    return f"{job.source_type}.{job.source_method}"


def state(job: JobRow) -> str:
    """Return the status; "held" for a job of a paused type."""
    return HELD if job.is_held else job.status


def page(sought: Sought, limit: int, *, before: int | None = None) -> Page:
    """Return the newest jobs that fit, with lower ids than `before`.

    A page with fewer jobs than `limit`, or none, may have a next page: it looks at MAX_LOOKED_AT jobs at most.
    """
    jobs, end = _fitting(sought, before)
    fitting = list(jobs.defer("args", "stats")[: limit + 1])  # one extra job shows that there are more
    if len(fitting) > limit:
        end = fitting[limit - 1].pk
    return Page([job for job in fitting[:limit] if queries.is_whole(job)], end)


def ids(sought: Sought, limit: int, *, before: int | None = None, looks: int) -> tuple[list[int], int | None]:
    """Return the ids of the newest jobs that fit, and `before` of the next ones, after at most `looks` looks."""
    together: list[int] = []
    for _ in range(looks):
        jobs, end = _fitting(sought, before)
        together += jobs.values_list("pk", flat=True)[: limit + 1 - len(together)]
        if len(together) > limit:
            return together[:limit], together[limit - 1]
        if end is None:
            return together, None
        before = end
    return together, before


def batches(limit: int, *, tenant_id: TenantId, before: int | None = None) -> tuple[list[Progress], int | None]:
    """Return the newest batches with lower numbers than `before`, and `before` of the next ones."""
    progress = store.read_batches(tenant_id=tenant_id, before=before or LARGEST_ID, most=limit)
    return progress, progress[-1].id if len(progress) == limit else None


def failures_first(batch: Progress, limit: int, *, tenant: Tenant | None) -> list[JobRow]:
    """Return the jobs of a batch: first those that ended without success, newest first, then the others."""
    failed: list[int] = []
    ended_badly = Sought(tenant, batch=batch.id, others=Q(status__in=FAILED))
    if batch.failed:  # else the query would look at all jobs of the batch, and find none
        failed, _ = ids(ended_badly, limit, looks=LOOKS)
    failures: list[JobRow] = list(queries.all_jobs().filter(pk__in=failed).defer("args", "stats"))
    jobs = [job for job in failures if queries.is_whole(job)]
    if len(failed) < limit:
        jobs += page(replace(ended_badly, others=~Q(status__in=FAILED)), limit - len(failed)).jobs
    return jobs


def newest() -> int:
    """The highest id of a job; 0 if there is none."""
    return queries.all_jobs().values_list("pk", flat=True).first() or 0


def newer(sought: Sought, *, upto: int) -> tuple[int, bool]:
    """Return how many jobs with higher ids than `upto` fit, and whether there are more to look at."""
    came = queries.all_jobs().filter(sought.owned, pk__gt=upto)
    last = came.order_by("pk").values_list("pk", flat=True)[MAX_LOOKED_AT - 1 : MAX_LOOKED_AT].first()
    return came.filter(sought.fitting, pk__lte=last or LARGEST_ID).count(), last is not None


def waited(job: JobRow, now: datetime) -> float | None:
    """Return the seconds that the last attempt waited, from ready to its start or now; None if it was never ready."""
    if job.ready_at is not None:
        since, until = job.ready_at, now
    elif job.waited_since is not None:
        since, until = job.waited_since, job.start_time or job.end_time or now
    else:
        return None
    return max((until - since).total_seconds(), 0.0)  # `now` may be of another clock than `since`


def parts_of_wait(job: JobRow) -> tuple[float, float] | None:
    """Return the seconds that the last attempt waited for its tenant's own limits, and then for a process.

    None before its start. The two add up to what it `waited`.
    """
    if job.waited_since is None or job.start_time is None or job.ready_at is not None:
        return None
    own_until = min(max(job.own_until or job.waited_since, job.waited_since), max(job.start_time, job.waited_since))
    own = (own_until - job.waited_since).total_seconds()
    return own, max((job.start_time - own_until).total_seconds(), 0.0)


def wait_in_words(job: JobRow) -> str:
    """Return both parts of the wait of the last attempt, "4 min for own limits, 1.2 s for a process"; or ""."""
    parts = parts_of_wait(job)
    if parts is None:
        return ""
    words = [(parts[0], "for own limits"), (parts[1], "for a process")]
    return ", ".join(f"{duration(seconds)} {what}" for seconds, what in words if seconds >= SHOWN)


def ran(run: JobRow | AnyFailedAttempt, now: datetime) -> float | None:
    """Return the seconds that a failed attempt, or a job's last one, ran to its end or now; None before its start."""
    if run.start_time is None or (run.end_time is None and run.status != Status.RUNNING):
        return None
    return max(((run.end_time or now) - run.start_time).total_seconds(), 0.0)


def _fitting(sought: Sought, before: int | None) -> tuple[QuerySet[JobRow], int | None]:
    """Return the jobs of a page that fit, and the id of the last job that it looks at; None if it looks at all."""
    older = sought.owned if before is None else sought.owned & Q(pk__lt=before)
    older_jobs = queries.all_jobs().filter(older)
    end: int | None = None
    few = _few_of({*sought.statuses} if sought.status is None else {sought.status}, sought.owned)
    if few is not None:
        jobs: QuerySet[JobRow] = Job.objects.filter(older, pk__in=few)
        jobs = jobs.prefetch_related(*queries.RELATED).order_by("-pk")
    elif sought.fitting:
        end = older_jobs.values_list("pk", flat=True)[MAX_LOOKED_AT - 1 : MAX_LOOKED_AT].first()
        jobs = older_jobs.filter(pk__gte=end or 0)
    else:
        jobs = older_jobs
    return jobs.filter(sought.fitting), end


def _few_of(statuses: Collection[Status], owned: Q) -> set[int] | None:
    """Return the ids of all jobs that may have one of the statuses; None if there are many, or no status is wanted."""
    if not statuses or any(status in MANY for status in statuses):
        return None
    found = set[int]()
    for status in statuses:
        few = _few(status, owned)
        if few is None:
            return None
        found |= {*few}
    return found


def _few(status: Status, owned: Q) -> list[int] | None:
    """Return the ids of all jobs that may have the status, from its partial index; None if there are many.

    Many are found soon among the newest jobs. The index of dead jobs has no tenant: it gives the ids of all tenants.
    """
    jobs = Job.objects.filter(died_at__isnull=False)
    if status != Status.DEAD:
        jobs = Job.objects.filter(queries.witnessed(status), owned)
    if status == Status.CREATED:  # the index begins with the queue
        jobs = jobs.filter(queue__in=list(Queue.objects.values_list("pk", flat=True)))
    ids = list(jobs.order_by().values_list("pk", flat=True)[: MAX_LOOKED_AT + 1])
    return ids if len(ids) <= MAX_LOOKED_AT else None
