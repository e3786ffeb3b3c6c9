"""The facts of one look, which conditions and metrics share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache

from jobs.store import health
from jobs.store.health import EndedLook, QueueLook, RepairLook, ServerLook, WorkersLook

MINUTES = 10  # of ended attempts


@dataclass(frozen=True)
class Pool:
    """A pool: processes of its live workers; jobs that run there or are on their way; jobs that may run.

    demand: the processes that would be busy if there were enough. waited: seconds that a job which may run has been
    ready.
    """

    name: str
    processes: int
    held: int
    may_run: int
    waited: float

    @property
    def demand(self) -> int:
        return self.held + self.may_run


@dataclass(frozen=True)
class Facts:
    """What one look has seen. cache: whether it answers."""

    queues: Sequence[QueueLook]
    workers: Sequence[WorkersLook]
    server: ServerLook
    ended: EndedLook
    repairs: Sequence[RepairLook]
    cache: bool

    @property
    def pools(self) -> list[Pool]:
        """The pools of all queues, by name."""
        of: dict[str, list[QueueLook]] = {}
        for queue in self.queues:
            of.setdefault(queue.pool, []).append(queue)
        return [_pool(name, of[name]) for name in sorted(of)]


def look(now: datetime | None = None) -> Facts:
    """Look at everything once. Raises OperationalError if the database does not answer in time.

    `now` is the clock of a test.
    """
    with health.looking():
        return Facts(
            health.look_queues(now),
            health.look_workers(now),
            health.look_server(now),
            health.look_ended(MINUTES, now),
            health.look_repairs(now),
            _cache_answers(),
        )


def _pool(name: str, queues: Sequence[QueueLook]) -> Pool:
    first = queues[0]
    waited = max((queue.may_run_since or 0.0 for queue in queues if queue.may_run), default=0.0)
    return Pool(name, first.processes, first.pool_held, sum(queue.may_run for queue in queues), waited)


def _cache_answers() -> bool:
    try:
        cache.get("jobs.health")
    except Exception:  # any error of the cache's library
        return False
    return True
