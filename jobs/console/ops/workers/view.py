"""The page of workers: their state, the jobs that each runs, and a button to drain it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max
from django.http import HttpRequest, HttpResponse

from jobs.conf import settings
from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, refused
from jobs.console.ops.workers.reads import MAX_RUNNING, RecentWork, recent_work, running_jobs
from jobs.engine.verbs import drain
from jobs.models import Job, Recorded, Worker
from jobs.pages.answers import existing
from jobs.reading.looking import Worker as ListedWorker
from jobs.reading.migrations import open_migrations
from plumbing.names import named


@dataclass(frozen=True)
class WorkerRow:
    """A registered worker, as the page lists it.

    in_use: the processes that have a job
    jobs: its running jobs, as far as they are listed
    last_end: when the last of them ends at the latest; None if not all of them are known
    """

    worker: ListedWorker
    state: str
    in_use: int
    work: RecentWork
    jobs: Sequence[Job]
    last_end: datetime | None


@dataclass(frozen=True)
class Running:
    """The running jobs of all workers.

    jobs: the number of those that are listed
    longest_since: the earliest start
    all_by: when the last one ends at the latest; None if not all of them are known
    """

    jobs: int
    longest_since: datetime | None
    all_by: datetime | None


@dataclass(frozen=True)
class ClockState:
    """The worker whose clock leads, if any, and when the recorder last looked."""

    leader: ListedWorker | None
    recorded_at: datetime | None


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    present, work = snapshot.current(), recent_work()
    jobs_by_worker = running_jobs() if request.user.has_perm(named("jobs.view_job")) else {}
    jobs = [job for jobs in jobs_by_worker.values() for job in jobs]
    all_known = len(jobs) < MAX_RUNNING
    leader = next((worker for worker in present.workers if worker.leads), None)
    recorded_at = Recorded.objects.exclude(task="missed").aggregate(at=Max("at"))["at"]
    rows = [
        WorkerRow(
            worker,
            worker.state(present.now),
            present.in_use_by_worker.get(worker.id, 0),
            work.get(worker.id, RecentWork()),
            jobs_by_worker.get(worker.id, []),
            _last_end(jobs_by_worker.get(worker.id, ())) if all_known else None,
        )
        for worker in present.workers
        if worker.gone_at is None
    ]
    gone = [worker for worker in present.workers if worker.gone_at is not None]
    regions = {
        "snapshot": present,
        "clock": ClockState(leader, recorded_at),
        "running": Running(
            len(jobs),
            min((job.start_time for job in jobs if job.start_time), default=None),
            _last_end(jobs) if all_known else None,
        ),
        "workers": rows,
        "gone": [(worker, work.get(worker.id, RecentWork())) for worker in gone],
        "open_migrations": open_migrations(),
        "handed_over": present.in_use_by_worker.get(None, 0),
    }
    return live.page(request, "workers", "Workers", ("old", "workers", "gone"), regions)


def _last_end(jobs: Iterable[Job]) -> datetime | None:
    """Return when the last of these jobs ends at the latest; None if there are no jobs."""
    return max(map(_latest_end, jobs), default=None)


def _latest_end(job: Job) -> datetime:
    """Return when the time limit of a job ends it, with the grace, if it does not end before."""
    limits = (job.timeout, job.queue.default_timeout, settings.JOBS_DEFAULT_TIMEOUT)
    seconds = next(limit for limit in limits if limit is not None)
    assert job.start_time is not None  # noqa: S101 - for the type checker: a worker has it
    return job.start_time + timedelta(seconds=seconds + settings.JOBS_TIMEOUT_GRACE)


@action_for("jobs.change_worker")
def drain_worker(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let a worker take no more jobs, and stop when its running jobs have ended."""
    worker = existing(Worker.objects.filter(pk=pk).first())
    if not drain.drain(pk):
        return refused(request, f"{worker.name} is gone, or is already draining.")
    return done(request, f"{worker.name} takes no more jobs, and stops when its running jobs have ended.")
