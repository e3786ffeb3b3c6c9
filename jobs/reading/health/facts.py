"""The facts of one look, which conditions and metrics share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.core.cache import caches

from jobs.conf import settings
from jobs.models import Repair, Sample
from jobs.reading import looking, waits
from jobs.reading.health import looks
from jobs.reading.health.looks import (
    EndedLook,
    PredictionsLook,
    ServerLook,
    ShareLook,
    WorkersLook,
)
from jobs.reading.looking import Lane, Queue
from jobs.reading.shares import JUDGED, STARVED
from jobs.reading.tenant_state import starved
from jobs.reading.waits import Pool

MINUTES = 10  # of ended attempts


@dataclass(frozen=True)
class QueueNumbers:
    """What waits in a queue, about, and what it holds. oldest: seconds that a first job of a lane has been ready."""

    name: str
    waiting: int
    in_use: int
    oldest: float


@dataclass(frozen=True)
class Facts:
    """What one look has seen.

    last_beats: of pools without a live worker, when one last beat. starved: the tenants that could take a slot, and get
    too little. cache: it answers.
    """

    queues: Mapping[int, Queue]
    lanes: Sequence[Lane]
    workers: Sequence[WorkersLook]
    last_beats: Mapping[str, datetime]
    server: ServerLook
    ended: EndedLook
    repairs: Sequence[Repair]
    sample: Sample
    starved: Sequence[ShareLook]
    cache: bool
    predictions: PredictionsLook

    @cached_property
    def pools(self) -> list[Pool]:
        """The pools of all queues, by name."""
        return waits.pools(self.lanes, self.queues)

    @property
    def numbers(self) -> list[QueueNumbers]:
        """Of each queue, by name."""
        found = []
        for pk, queue in self.queues.items():
            lanes = [lane for lane in self.lanes if lane.queue_id == pk]
            oldest = max((self.seconds(lane.first_since) for lane in lanes), default=0.0)
            found.append(QueueNumbers(queue.name, sum(lane.waiting for lane in lanes), queue.in_use, oldest))
        return found

    def seconds(self, since: datetime | None) -> float:
        """From a moment until now; 0 if there is none."""
        return 0.0 if since is None else (self.server.now - since).total_seconds()


def look(
    now: datetime | None = None, queues: Mapping[int, Queue] | None = None, lanes: Sequence[Lane] | None = None
) -> Facts:
    """Look at everything once. Raises OperationalError if the database does not answer in time.

    queues, lanes: those that somebody has just looked at. `now` is the clock of a test.
    """
    cache_answers = _cache_answers()  # not in the transaction: it may take long
    with looking.looking(looks.TIMEOUT):
        queues = looking.look_queues(now) if queues is None else queues
        lanes = looking.look_lanes(now) if lanes is None else lanes
        server = looks.look_server(tuple(looks.COUNTS_OF_A_MINUTE), now)
        return Facts(
            queues,
            lanes,
            looks.look_workers(now),
            looks.look_last_beats(_abandoned(queues, lanes)),
            server,
            looks.look_ended(MINUTES, server.now),
            list(Repair.objects.order_by("kind")),
            looks.look_sample(),
            starving(queues, server.now),
            cache_answers,
            looks.look_predictions(now),
        )


def _abandoned(queues: Mapping[int, Queue], lanes: Sequence[Lane]) -> list[str]:
    """The pools that have jobs for a process, and none."""
    pools = waits.pools(lanes, queues)
    return [pool.name for pool in pools if pool.may_run and not pool.processes]


def starving(queues: Mapping[int, Queue], now: datetime) -> list[ShareLook]:
    """The tenants that are starved now, at most some; those that lack most first."""
    short = {share.tenant_id: share for share in looks.look_short_of_share(STARVED, JUDGED)}
    if not short:
        return []
    lanes = looking.look_lanes(now, tenants=short.keys())
    found = []
    for pk, share in short.items():
        own = [lane for lane in lanes if lane.tenant_id == pk]
        if starved(share, own, waits.cuts(own, queues), now):
            found.append(share)
    return found


def _cache_answers() -> bool:
    try:
        caches[settings.JOBS_CACHE].get("jobs.health")
    except Exception:  # any error of the cache's library
        return False
    return True
