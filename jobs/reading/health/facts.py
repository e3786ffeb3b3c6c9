"""The facts of one look, which conditions and metrics share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.core.cache import caches

from jobs.conf import settings
from jobs.models import Repair, Sample
from jobs.reading import blocks, looking, waits
from jobs.reading.blocks import BlockNow, BlocksOfType
from jobs.reading.health import looks
from jobs.reading.health.ended import EndedLook, look_ended
from jobs.reading.health.looks import BudgetLook, PredictionsLook, ServerLook, WebhooksLook
from jobs.reading.health.quiet import QuietPool, look_quiet
from jobs.reading.health.target_look import TargetLook, look_targets
from jobs.reading.looking import Lane, Queue, Tenant, Worker
from jobs.reading.standing import QueueStanding, StandingState, of_queues, of_tenants
from jobs.reading.waits import PoolDemand

MINUTES = 10  # of ended attempts, and of blocked loops
LATELY = timedelta(hours=1)  # for which a lost worker is shown


@dataclass(frozen=True)
class Facts:
    """The facts that one look has found.

    starved: the tenants that could take a slot, and get too little of their shares.
    cache: whether it answers.
    blocked: the event loops that are blocked.
    blocks: the blocks of the last MINUTES that are over.
    targets: the queues with a wait target, and how often they kept it lately.
    quiet: the full pools in which nothing has ended for a minute or more.
    budgets: those that are low or used up, at most MOST_SHORT.
    """

    queues: Mapping[int, Queue]
    lanes: Sequence[Lane]
    workers: Sequence[Worker]
    server: ServerLook
    ended: EndedLook
    repairs: Sequence[Repair]
    sample: Sample
    starved: Sequence[Tenant]
    cache: bool
    predictions: PredictionsLook
    webhooks: WebhooksLook
    blocked: Sequence[BlockNow]
    blocks: Sequence[BlocksOfType]
    targets: Sequence[TargetLook]
    quiet: Sequence[QuietPool]
    budgets: Sequence[BudgetLook]

    @cached_property
    def pools(self) -> list[PoolDemand]:
        """The pools of all queues and of all workers, by name."""
        return waits.pools(self.lanes, self.queues, self.workers)

    @cached_property
    def standings(self) -> list[QueueStanding]:
        """The standing of each queue, by name."""
        return list(of_queues(self.lanes, self.queues).values())

    @cached_property
    def worker_states(self) -> list[tuple[str, str, int]]:
        """(pool, state, number) of the registered workers, and of those that were lost in the last hour."""
        now = self.server.now
        workers = [worker for worker in self.workers if worker.gone_at is None]
        counted = Counter((worker.pool, worker.state(now)) for worker in [*workers, *self.lost])
        return [(*pool_and_state, number) for pool_and_state, number in sorted(counted.items())]

    @cached_property
    def lost(self) -> list[Worker]:
        """The workers that were lost in the last hour, latest first."""
        since = self.server.now - LATELY
        return [worker for worker in self.workers if worker.lost and worker.gone_at and worker.gone_at > since]

    def replaced(self, lost: Sequence[Worker]) -> bool:
        """Return whether as many workers of their pools have started since these were lost."""
        began, pools = min(worker.beat_at for worker in lost), {worker.pool for worker in lost}
        return len(lost) <= sum(
            worker.gone_at is None and worker.pool in pools and worker.started_at > began for worker in self.workers
        )

    @cached_property
    def database_waits(self) -> dict[str, float]:
        """The longest that a body of each light pool has lately waited for a database thread, in seconds.

        Of pools with live workers, and of these.
        """
        longest: dict[str, float] = {}
        for worker in self.workers:
            if worker.is_light and worker.is_live(self.server.now):
                longest[worker.pool] = max(longest.get(worker.pool, 0.0), worker.database_wait or 0.0)
        return longest

    def last_beat(self, pool: str) -> datetime | None:
        """Return when a worker of this pool last beat; None if none did in the last day."""
        return max((worker.beat_at for worker in self.workers if worker.pool == pool), default=None)

    def seconds(self, since: datetime | None) -> float:
        """Return the seconds from a moment until now; 0 for None."""
        return 0.0 if since is None else (self.server.now - since).total_seconds()


def look() -> Facts:
    """Look at everything once. Raises OperationalError if the database does not answer in time."""
    cache_answers = _cache_answers()  # not in the transaction: it may take long
    with looking.looking(looks.TIMEOUT):
        queues = looking.look_queues()
        lanes, workers = looking.look_lanes(), looking.look_workers()
        server = looks.look_server(tuple(looks.COUNTS_OF_A_MINUTE))
        return Facts(
            queues,
            lanes,
            workers,
            server,
            look_ended(MINUTES, server.now),
            list(Repair.objects.order_by("kind")),
            looks.look_sample(),
            starving(queues, server.now),
            cache_answers,
            looks.look_predictions(),
            looks.look_webhooks(),
            blocks.now(),
            blocks.lately(60.0 * MINUTES),
            look_targets() if any(queue.wait_target for queue in queues.values()) else [],
            look_quiet(waits.pools(lanes, queues, workers)),
            looks.look_budgets(),
        )


def starving(queues: Mapping[int, Queue], now: datetime) -> list[Tenant]:
    """Return the tenants that are starved now, at most MOST_SHORT; those that lack most first."""
    short = looks.look_short_of_share()
    if not short:
        return []
    tenants, lanes = looking.look_tenants(short), looking.look_lanes(tenants=short)
    standings = of_tenants([tenants[pk] for pk in short if pk in tenants], lanes, queues, now)
    return [standing.tenant for standing in standings if standing.state is StandingState.STARVED]


def _cache_answers() -> bool:
    try:
        caches[settings.JOBS_CACHE].get("jobs.health")
    except Exception:  # any error of the cache's library
        return False
    return True
