"""Read the recent work of the workers, and the jobs that they run."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobs.conf import settings
from jobs.console.ops.shared.present_queries import look, look_objects
from jobs.models import Job
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import blocks
from jobs.reading.blocks import BlockNow
from jobs.reading.looking import looking

MAX_WORKED = 20_000  # jobs of all workers
MAX_LISTED, MAX_LISTED_OF_ALL = 10, 300  # jobs of a worker, and of all, that are listed one by one


@dataclass(frozen=True)
class RecentWork:
    """The recent work of a worker.

    ended: the jobs that ended in the last minute
    crashes: the attempts of the last day whose process died, other than for their memory
    """

    ended: int = 0
    crashes: int = 0


@dataclass(frozen=True)
class RunningType:
    """The running jobs of a type at a worker.

    tenants: whose they are.
    since: the earliest start.
    ends_by: when the last one ends at the latest: by its time limit, with the grace, if it does not end before.
    """

    worker: UUID
    job_type: str
    jobs: int
    tenants: int
    since: datetime
    ends_by: datetime


def blocked_loops() -> Mapping[UUID, list[BlockNow]]:
    """Return the event loops that are blocked now, by worker; the longest blocked ones first."""
    by_worker: dict[UUID, list[BlockNow]] = defaultdict(list)
    with looking():
        for block in blocks.now():
            by_worker[block.worker].append(block)
    return by_worker


@cached(PAST_SECONDS, before={})
def recent_work() -> Mapping[UUID, RecentWork]:
    """Return the recent work of each worker; without workers that did nothing."""
    return {worker: RecentWork(*numbers) for worker, *numbers in look("look_worked", most=MAX_WORKED)}


def running_types() -> Mapping[UUID, list[RunningType]]:
    """Return the types of the running jobs of each worker, those with most jobs first."""
    limits = {"timeout": settings.JOBS_DEFAULT_TIMEOUT, "grace": settings.JOBS_TIMEOUT_GRACE}
    by_worker: dict[UUID, list[RunningType]] = defaultdict(list)
    for one in look_objects(RunningType, "look_running", **limits):
        by_worker[one.worker].append(one)
    return by_worker


def longest_running(each: int) -> Mapping[UUID | None, list[Job]]:
    """Return the jobs that have run longest at each worker, at most `each`; MAX_LISTED_OF_ALL of all workers."""
    ids = [pk for (pk,) in look("look_longest", each=each, most=MAX_LISTED_OF_ALL)]
    by_worker: dict[UUID | None, list[Job]] = defaultdict(list)
    running = Job.objects.filter(pk__in=ids, slot__isnull=False).order_by("start_time", "pk")
    for job in running.select_related("tenant", "queue").defer("args", "stats"):
        by_worker[job.worker].append(job)
    return by_worker
