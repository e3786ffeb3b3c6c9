"""Read the recent work of the workers, and the jobs that they run."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from jobs.console.ops.shared.present_queries import look
from jobs.models import Job
from jobs.pages.cached import PAST_SECONDS, cached

MAX_WORKED = 20_000  # jobs of all workers
MAX_RUNNING = 500  # jobs that are listed


@dataclass(frozen=True)
class RecentWork:
    """The recent work of a worker.

    ended: the jobs that ended in the last minute
    crashes: the attempts of the last day whose process died, other than for their memory
    """

    ended: int = 0
    crashes: int = 0


@cached(PAST_SECONDS, before={})
def recent_work() -> Mapping[UUID, RecentWork]:
    """Return the recent work of each worker; without workers that did nothing."""
    return {worker: RecentWork(*numbers) for worker, *numbers in look("look_worked", most=MAX_WORKED)}


def running_jobs() -> Mapping[UUID | None, list[Job]]:
    """Return the first MAX_RUNNING running jobs, by worker."""
    by_worker: dict[UUID | None, list[Job]] = defaultdict(list)
    running = Job.objects.filter(slot__isnull=False, worker__isnull=False).order_by("ticket")
    for job in running.select_related("tenant", "queue").defer("args", "stats")[:MAX_RUNNING]:
        by_worker[job.worker].append(job)
    return by_worker
