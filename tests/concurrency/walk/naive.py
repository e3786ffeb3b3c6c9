"""What must be true of the rows that everybody sees, computed from all of them, one by one."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from jobs.models import Hold, Job, JobEdge, JobEnd, JobEvent, Queue, Worker
from tenants.models import TenantQueue

Level = tuple[object, ...]
Row = Any  # a row of `jobs`, with COLUMNS
Tokens = Callable[[TenantQueue | Queue], float]


COLUMNS = (
    *("id", "tenant_id", "queue_id", "priority", "user_key", "status", "slot", "ticket", "attempt", "followed"),
    *("worker", "worker_pid", "ready_at", "end_time", "cancel_requested_at", "blocked_at"),
    *("sequence", "sequence_stops", "died_at", "spends", "waits_for"),
)


@dataclass(frozen=True)
class Picture:
    """All that is committed."""

    now: datetime
    jobs: list[Row]
    tenants: dict[int, TenantQueue]
    queues: dict[int, Queue]
    workers: list[Worker]
    holds: list[Hold]
    told: set[tuple[int, str]]  # the events that are kept

    @property
    def held(self) -> list[Row]:
        return [job for job in self.jobs if job.slot is not None]

    @property
    def ready(self) -> list[Row]:
        return [job for job in self.jobs if job.ready_at is not None]

    def holds_of(self, job: Row) -> list[Hold]:
        """Those of its lane, or its queue: the clock ends them."""
        return [hold for hold in self.holds if hold.queue_id == job.queue_id and hold.tenant_id in (0, job.tenant_id)]

    def live(self) -> list[Worker]:
        """Those that take jobs."""
        return [
            worker
            for worker in self.workers
            if worker.gone_at is None
            and worker.concurrency
            and worker.beat_at > self.now - timedelta(seconds=3 * worker.beat_interval)
        ]


def look(now: datetime) -> Picture:
    return Picture(
        now,
        list(Job.objects.order_by("pk").values_list(*COLUMNS, named=True)),
        {limits.tenant_id: limits for limits in TenantQueue.objects.all()},
        {queue.pk: queue for queue in Queue.objects.all()},
        list(Worker.objects.order_by("pk")),
        list(Hold.objects.all()),
        set(JobEvent.objects.filter(kept_until__gt=now).values_list("tenant_id", "name")),
    )


def locked() -> set[int]:
    """The waiting jobs that somebody's transaction has locked."""
    ready = Job.objects.filter(ready_at__isnull=False)
    with transaction.atomic():
        free = ready.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)
        return set(ready.values_list("pk", flat=True)) - set(free)


def levels(job: Row) -> Iterator[Level]:
    """What a job takes a place of, while it holds a slot."""
    yield "tenant", job.tenant_id
    yield "queue", job.queue_id
    yield "lane", job.tenant_id, job.queue_id
    if job.user_key:
        yield "user", job.tenant_id, job.user_key


def uses(picture: Picture) -> Counter[Level]:
    """The places taken at each level; of a pool, by what is on its way to it and what no leaving worker runs."""
    used = Counter(level for job in picture.held for level in levels(job))
    live = {worker.pk for worker in picture.live()}
    leaving = {worker.pk for worker in picture.workers if worker.gone_at is None} - live
    used.update(("pool", picture.queues[job.queue_id].pool) for job in picture.held if job.worker not in leaving)
    return used


def limit(picture: Picture, level: Level) -> float:
    """The most places at a level; 0 while it is paused."""
    match level:
        case "tenant", tenant:
            limits = picture.tenants.get(tenant)
            return 0 if limits is None or limits.paused else most_slots(limits)
        case "user", tenant, _:
            bound = picture.tenants[tenant].user_slots if tenant in picture.tenants else 0
        case "lane", tenant, queue:
            of_tenant = picture.tenants[tenant].queue_slots if tenant in picture.tenants else {}
            bound = of_tenant.get(picture.queues[queue].name, picture.queues[queue].tenant_slots)
        case "queue", queue:
            bound = 0 if picture.queues[queue].paused else picture.queues[queue].concurrency
        case "pool", pool:
            return sum(worker.concurrency for worker in picture.live() if worker.pool == pool)
    return float("inf") if bound is None else bound


def most_slots(limits: TenantQueue) -> int:
    """With borrowed ones."""
    return max(limits.num_slots, limits.burst_slots or 0) if limits.num_slots else 0


def exceeded(before: Picture, after: Picture, *, dispatched: bool) -> Iterator[str]:
    """The levels over their limit that this step has filled further (I1): what was there before drains.

    Of pools only after a dispatch: a queue that changes its pool takes its jobs along.
    """
    used = uses(before)
    for level, n in uses(after).items():
        if n > used[level] and n > limit(after, level) and (dispatched or level[0] != "pool"):
            yield f"{level} holds {n} of {limit(after, level)}"
    for (tenant, slot), n in Counter((job.tenant_id, job.slot) for job in after.held).items():
        if n > 1:
            yield f"slot {slot} of tenant {tenant} is held {n} times"


def forgotten(picture: Picture, tokens: Tokens, locked: set[int], pools: Collection[str]) -> Iterator[str]:
    """The jobs of these pools that wait although nothing holds them back, when a dispatch has found no more (I2).

    A claim reads eight jobs more than it wants of a lane, so that more locked ones than that hold up their lane.
    """
    used = uses(picture)
    locks = Counter((job.tenant_id, job.queue_id) for job in picture.ready if job.id in locked)
    for job in picture.ready:
        queue = picture.queues[job.queue_id]
        if (
            queue.pool in pools
            and job.id not in locked
            and locks[job.tenant_id, job.queue_id] <= 8
            and may_start_of_tenant(job, picture, used, tokens)
            and not (locked and borrows(picture, used, job.tenant_id, 1))
            and tokens(queue) >= 1
            and not picture.holds_of(job)
            and all(used[level] < limit(picture, level) for level in (("queue", queue.pk), ("pool", queue.pool)))
        ):
            yield f"job {job.id} of tenant {job.tenant_id} waits in {queue} although it could run"


def stuck(picture: Picture) -> Iterator[str]:
    """The jobs that wait for others although none of those holds them back, and there are no news of them either."""
    if JobEnd.objects.exists():
        return
    under_way = {job.id for job in picture.jobs if job.end_time is None}
    holding = {
        edge.follower_id
        for edge in JobEdge.objects.all()
        if edge.predecessor_id in under_way or (edge.until is not None and edge.until > picture.now)
    }
    for job in picture.jobs:
        waits = (job.tenant_id, job.waits_for) not in picture.told if job.waits_for else ahead(job, picture)
        if job.blocked_at is not None and job.id not in holding and not waits:
            yield f"job {job.id} of tenant {job.tenant_id} is blocked, and nothing blocks it"


def of_sequence(job: Row, picture: Picture) -> list[Row]:
    """The others of its sequence that have not ended, or stop it."""
    return [
        other
        for other in picture.jobs
        if (other.tenant_id, other.sequence) == (job.tenant_id, job.sequence)
        and other.id != job.id
        and (other.end_time is None or (other.died_at is not None and other.sequence_stops))
    ]


def ahead(job: Row, picture: Picture) -> list[Row]:
    """Those of its sequence whose turn comes before its own."""
    others = [] if job.sequence is None else of_sequence(job, picture)
    return [other for other in others if other.blocked_at is None or other.waits_for or other.id < job.id]


def out_of_turn(before: Picture, after: Picture) -> Iterator[str]:
    """The jobs that this step has let go while another of their sequence had the turn, or an older one waited."""
    waited = {job.id for job in before.jobs if job.blocked_at is not None}
    for job in after.jobs:
        if job.id in waited and job.blocked_at is None and job.end_time is None:
            for other in ahead(job, after):
                if other.blocked_at is None or other.waits_for or other.id in waited:
                    yield f"job {job.id} goes beside job {other.id} of sequence {job.sequence}"


def opened_untold(before: Picture, after: Picture) -> Iterator[str]:
    """The jobs that this step has let go before anybody has told the event that they waited for."""
    waited = {job.id: job.waits_for for job in before.jobs if job.blocked_at is not None and job.waits_for}
    for job in after.jobs:
        went = job.id in waited and job.blocked_at is None and job.end_time is None
        if went and (job.tenant_id, waited[job.id]) not in after.told:
            yield f"job {job.id} goes on without the event {waited[job.id]}"


def started_though_held(before: Picture, after: Picture) -> Iterator[str]:
    """The jobs that this step has given a slot in a line that a job holds for longer."""
    there = {job.id for job in before.held}
    for job in after.held:
        holds = {hold.pk for hold in before.holds_of(job)} & {hold.pk for hold in after.holds_of(job)}
        if job.id not in there and holds:
            yield f"job {job.id} started in a line that others hold: {holds}"


def borrows(picture: Picture, used: Counter[Level], tenant: int, more: int = 0) -> bool:
    """Whether it holds more than its own slots, with so many more."""
    return tenant in picture.tenants and used["tenant", tenant] + more > picture.tenants[tenant].num_slots


def lent(before: Picture, after: Picture, tokens: Tokens) -> Iterator[str]:
    """The jobs within their tenant's own slots that wait though a dispatch has lent a process of their pool.

    Of a tenant's new jobs in several pools it is not known which are borrowed: those that are more than its own slots.
    """
    used = uses(after)
    there = {job.id for job in before.held}
    new = Counter((job.tenant_id, after.queues[job.queue_id].pool) for job in after.held if job.id not in there)
    of_tenant = Counter(tenant for tenant, _ in new.elements())
    lending = {
        pool
        for (tenant, pool), n in new.items()
        if tenant in after.tenants
        and n > max(after.tenants[tenant].num_slots - used["tenant", tenant] + of_tenant[tenant], 0)
    }
    for job in after.ready:
        queue = after.queues[job.queue_id]
        if (
            queue.pool in lending
            and not borrows(after, used, job.tenant_id, 1)
            and may_start_of_tenant(job, after, used, tokens)
            and tokens(queue) >= 1
            and not after.holds_of(job)
            and used["queue", queue.pk] < limit(after, ("queue", queue.pk))
        ):
            yield f"job {job.id} of tenant {job.tenant_id} waits for pool {queue.pool}, which has lent a process"


def may_start_of_tenant(job: Row, picture: Picture, used: Counter[Level], tokens: Tokens) -> bool:
    """Whether its tenant lets it, and its user."""
    limits = picture.tenants.get(job.tenant_id)
    levels_of_tenant = [level for level in levels(job) if level[0] != "queue"]
    return (
        limits is not None
        and tokens(limits) >= 1
        and all(used[level] < limit(picture, level) for level in levels_of_tenant)
    )


def place(job: Row) -> tuple[int, int]:
    """In its lane."""
    return job.priority, job.id


def overtaken(before: Picture, after: Picture, locked: set[int]) -> Iterator[str]:
    """The jobs that wait although a dispatch has claimed a later one of their lane (I6); users take turns."""
    waited = {job.id for job in before.ready}
    last: dict[tuple[int, int], Row] = {}
    for job in after.held:
        if job.id in waited:  # claimed, or it follows
            lane = job.tenant_id, job.queue_id
            last[lane] = max(last.get(lane, job), job, key=place)
    for job in after.ready:
        late = last.get((job.tenant_id, job.queue_id))
        by_user = job.tenant_id in after.tenants and after.tenants[job.tenant_id].user_slots is not None
        if late and place(job) < place(late) and job.id not in locked and not by_user:
            yield f"job {late.id} overtook job {job.id}"
