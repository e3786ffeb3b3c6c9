"""Workers in a time of their own, so that hours of sharing pass in a second."""

import heapq
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs import store
from jobs.models import Job


@dataclass(order=True)
class Running:
    """A job under way, and how long it takes."""

    ends: datetime
    id: int
    job: Job
    begun: datetime
    seconds: float


class Fleet:
    """A worker whose jobs take as long as `seconds` says of each; `served` are the jobs in the order of their start."""

    def __init__(self, worker: uuid.UUID, seconds: Callable[[Job], float]) -> None:
        self._worker = worker
        self._takes = seconds
        self._running: list[Running] = []
        self.now = datetime.now(UTC)
        self.served: list[Job] = []
        self.seconds: Counter[int] = Counter()  # by tenant, of what has ended
        self.queue_seconds: Counter[str] = Counter()
        self._lane_seconds: Counter[tuple[str, int]] = Counter()

    def dispatch(self) -> None:
        """Start what may start."""
        while (claimed := store.claim(now=self.now)) or claimed.more:
            for one in claimed:
                assert store.start(one.id, one.attempt, self._worker, now=self.now)
                job = Job.objects.select_related("queue").get(pk=one.id)
                takes = self._takes(job)
                self.served.append(job)
                heapq.heappush(
                    self._running, Running(self.now + timedelta(seconds=takes), job.pk, job, self.now, takes)
                )

    def run(self, jobs: int, after_each: Callable[[], object] = lambda: None) -> None:
        """Until so many jobs have ended, or none runs; `after_each` is called when one has, and others have begun."""
        self.dispatch()
        for _ in range(jobs):
            if not self._running:
                return
            one = heapq.heappop(self._running)
            self.now = max(self.now, one.ends)
            assert store.succeed(one.id, one.job.attempt, {}, None, now=self.now)
            self.seconds[one.job.tenant_id] += one.seconds
            self.queue_seconds[one.job.queue.name] += one.seconds
            self._lane_seconds[one.job.queue.name, one.job.tenant_id] += one.seconds
            self.dispatch()
            after_each()

    def worked(self, queue: str) -> dict[int, float]:
        """Seconds for which each tenant's jobs of that queue have been running, by now."""
        worked: defaultdict[int, float] = defaultdict(float)
        for (name, tenant), seconds in self._lane_seconds.items():
            worked[tenant] += seconds * (name == queue)
        for one in self._running:
            so_far = (self.now - one.begun).total_seconds()
            worked[one.job.tenant_id] += min(max(so_far, 0), one.seconds) * (one.job.queue.name == queue)
        return worked
