"""The page of workers: their state, the jobs that each runs, and a button to drain it."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.http import HttpRequest, HttpResponse

from jobs.conf import settings
from jobs.console.ops import history_charts, live, snapshot
from jobs.console.ops.access import action_for, page_for
from jobs.console.ops.answers import done, refused
from jobs.console.ops.history_charts import Worked
from jobs.engine.verbs import drain
from jobs.models import Job, Recorded, Worker
from jobs.pages.answers import existing
from jobs.reading.migrations import open_migrations
from plumbing.names import named

MAX_RUNNING = 500  # jobs that are listed


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    seen = snapshot.current()
    runs, worked = _running(request), history_charts.worked()
    running = [job for jobs in runs.values() for job in jobs]
    shown = {
        "snapshot": seen,
        "workers": [
            (
                worker,
                worker.state(seen.now),
                seen.in_use_by_worker.get(worker.id, 0),
                worked.get(worker.id, Worked()),
                runs.get(worker.id, []),
                max(map(_latest_end, runs.get(worker.id, [])), default=None) if len(running) < MAX_RUNNING else None,
            )
            for worker in seen.workers
            if worker.gone_at is None
        ],
        "gone": [(worker, worked.get(worker.id, Worked())) for worker in seen.workers if worker.gone_at is not None],
        "running": len(running),
        "longest_since": min((job.start_time for job in running if job.start_time), default=None),
        "all_by": max(map(_latest_end, running)) if 0 < len(running) < MAX_RUNNING else None,
        "open_migrations": open_migrations(),
        "leader": next((worker for worker in seen.workers if worker.leads), None),
        "recorded_at": Recorded.objects.exclude(task="missed").aggregate(at=Max("at"))["at"],
        "handed_over": seen.in_use_by_worker.get(None, 0),
    }
    return live.page(request, "workers", "Workers", ("old", "workers", "gone"), shown)


def _latest_end(job: Job) -> datetime:
    """Return when the time limit of a job ends it, with the grace, if it does not end before."""
    limits = (job.timeout, job.queue.default_timeout, settings.JOBS_DEFAULT_TIMEOUT)
    seconds = next(limit for limit in limits if limit is not None)
    assert job.start_time is not None  # noqa: S101 - for the type checker: a worker has it
    return job.start_time + timedelta(seconds=seconds + settings.JOBS_TIMEOUT_GRACE)


def _running(request: HttpRequest) -> dict[Any, list[Job]]:
    """Return the running jobs by worker; none for users who may not see jobs."""
    found: dict[Any, list[Job]] = defaultdict(list)
    if request.user.has_perm(named("jobs.view_job")):
        held = Job.objects.filter(slot__isnull=False, worker__isnull=False).order_by("ticket")
        for job in held.select_related("tenant", "queue").defer("args", "stats")[:MAX_RUNNING]:
            found[job.worker].append(job)
    return found


@action_for("jobs.change_worker")
def drain_worker(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Let a worker take no more jobs, and stop when its running jobs have ended."""
    worker = existing(Worker.objects.filter(pk=pk).first())
    if not drain.drain(pk):
        return refused(request, f"{worker.name} is gone, or is already draining.")
    return done(request, f"{worker.name} takes no more jobs, and stops when its running jobs have ended.")
