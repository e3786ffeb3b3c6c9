"""Workers in a time of their own, so that hours of sharing pass in a second."""

import heapq
import os
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Literal

from jobs import store
from jobs.models import Job
from jobs.store import Failure, Holder
from tests.clock import call_at

REPLACED = 0.9  # seconds until another process works in the place of one that died
DIED = Failure("ProcessDied", "exit")


@dataclass(frozen=True)
class Habit:
    """How long a tenant's jobs run, and how they end.

    Also with the next job of their lane in their slot, with their process, or cancelled before they start.
    """

    seconds: float = 1.0  # since the start; of a cancelled one since the claim
    end: Literal["succeeds", "is followed", "crashes", "cancelled"] = "succeeds"


@dataclass
class Taken:
    """A process that a job has, or keeps from others, since that moment."""

    job: Job
    since: datetime
    habit: Habit


class Fleet:
    """A worker whose jobs do as `habit` says of each; `served` are the jobs in the order of their start.

    What a job takes of the processes is the time until another job may have them: `seconds` of each tenant.
    """

    def __init__(self, worker: uuid.UUID, processes: int, habit: Callable[[Job], Habit]) -> None:
        self._worker = worker
        self._habit = habit
        self._idle = processes
        self._messages: deque[Job] = deque()
        self._taken: dict[int, Taken] = {}
        self._events: list[tuple[datetime, int, Callable[[], bool]]] = []
        self._numbers = count()
        self.now = datetime.now(UTC)
        self.served: list[Job] = []
        self.seconds: Counter[int] = Counter()  # by tenant, of what has ended
        self.queue_seconds: Counter[str] = Counter()
        self.claims: Counter[tuple[str, int]] = Counter()  # of a queue and tenant
        self._lane_seconds: Counter[tuple[str, int]] = Counter()

    def dispatch(self) -> None:
        """Start what may start."""
        more = True
        while more:
            claimed = call_at(self.now, store.claim)
            more = claimed.more
            for job in Job.objects.select_related("queue").in_bulk([job.id for job in claimed]).values():
                self.claims[job.queue.name, job.tenant_id] += 1
                if self._habit(job).end == "cancelled":
                    self._take(job, self._cancel)
                else:
                    self._messages.append(job)
        while self._idle and self._messages:
            job = self._messages.popleft()
            assert call_at(self.now, store.start, job.id, job.attempt, store.Seat.here(self._worker))
            self._idle -= 1
            self._begin(job)

    def run(self, jobs: int, after_each: Callable[[], object] = lambda: None, *, tokens: bool = False) -> None:
        """Until so many jobs have ended, or none runs; `after_each` is called when one has, and others have begun.

        tokens: dispatch when a rate limit has a token, too, as the clock does.
        """
        self.dispatch()
        ended = 0
        while ended < jobs:
            seconds = call_at(self.now, store.next_moment) if tokens else None
            token = None if seconds is None else self.now + timedelta(seconds=max(seconds, 1e-6))
            if token is not None and (not self._events or token < self._events[0][0]):
                self.now = token
                self.dispatch()
                continue
            if not self._events:
                return
            moment, _, event = heapq.heappop(self._events)
            self.now = max(self.now, moment)
            job_ended = event()
            self.dispatch()
            if job_ended:
                ended += 1
                after_each()

    def worked(self, queue: str) -> dict[int, float]:
        """Seconds of processes that each tenant's jobs of that queue have taken, by now."""
        worked: defaultdict[int, float] = defaultdict(float)
        for (name, tenant), seconds in self._lane_seconds.items():
            worked[tenant] += seconds * (name == queue)
        for taken in self._taken.values():
            so_far = (self.now - taken.since).total_seconds()
            worked[taken.job.tenant_id] += min(max(so_far, 0), taken.habit.seconds) * (taken.job.queue.name == queue)
        return worked

    def _at(self, moment: datetime, event: Callable[[], bool]) -> None:
        """event: returns whether a job has ended."""
        heapq.heappush(self._events, (moment, next(self._numbers), event))

    def _begin(self, job: Job) -> None:
        ends = {"crashes": self._crash, "is followed": self._be_followed}
        self.served.append(job)
        self._take(job, ends.get(self._habit(job).end, self._succeed))

    def _take(self, job: Job, end: Callable[[Job], float]) -> None:
        habit = self._habit(job)
        self._taken[job.pk] = Taken(job, self.now, habit)
        self._at(self.now + timedelta(seconds=habit.seconds), partial(self._end, job, end))

    def _end(self, job: Job, end: Callable[[Job], float]) -> bool:
        """end: returns for how long nobody has the process afterwards."""
        taken = self._taken.pop(job.pk)
        seconds = taken.habit.seconds + end(job)
        self.seconds[job.tenant_id] += seconds
        self.queue_seconds[job.queue.name] += seconds
        self._lane_seconds[job.queue.name, job.tenant_id] += seconds
        return True

    def _succeed(self, job: Job) -> float:
        assert call_at(self.now, store.succeed, job.id, job.attempt, {}, None)
        self._idle += 1
        return 0.0

    def _be_followed(self, job: Job) -> float:
        holder = Holder(self._worker, os.getpid())
        applied, following = call_at(self.now, store.succeed_and_follow, job.id, job.attempt, {}, None, by=holder)
        assert applied
        if following is None:
            self._idle += 1
        else:
            self._begin(Job.objects.select_related("queue").get(pk=following.id))
        return 0.0

    def _crash(self, job: Job) -> float:
        assert call_at(self.now, store.take_back, job.id, job.attempt, DIED, 3)
        self._at(self.now + timedelta(seconds=REPLACED), self._replace)
        return REPLACED

    def _replace(self) -> bool:
        self._idle += 1
        return False

    def _cancel(self, job: Job) -> float:
        assert call_at(self.now, store.cancel, [job.id], tenant_id=job.tenant_id)
        return 0.0
