"""Steps of those who run the place: limits, workers, time, locks, and the dispatch itself."""

import uuid
from datetime import timedelta

from jobs import store
from jobs.engine.door import unblock
from jobs.engine.door.dispatch import dispatch as dispatch_all
from jobs.engine.door.dispatch import hand_over
from jobs.models import Job, Queue
from jobs.store.workers import Beat
from tenants.models import TenantQueue
from tests.concurrency.walk.world import LIGHT, POOLS, World
from tests.sql import value


def dispatch(world: World) -> object:
    return dispatch_all(in_line=False)


def read_news(world: World) -> object:
    """The clock's net."""
    unblock.unblock_if_news()
    return "read"


def one_pass(world: World) -> object:
    """A dispatch that dies after its first pass, at times before its messages are sent."""
    claimed = store.claim(in_line=False)
    if world.random.random() < 0.8:
        hand_over(claimed)
    return [job.id for job in claimed]


def promote(world: World) -> object:
    return [(job.id, job.held) for job in store.promote()]


def lapse(world: World) -> object:
    return [job.id for job in store.lapse()]


def tick(world: World) -> object:
    seconds = world.random.choice((0.05, 0.3, 1.0, 4.0, 10.0))
    world.now += timedelta(seconds=seconds)
    return seconds


def change_tenant(world: World) -> object:
    draw, tenant = world.random, world.random.choice(world.tenants)
    limited = draw.random() < 0.4
    names = sorted(queue.name for queue in world.seen.queues.values())
    change = draw.choice(
        (
            {"num_slots": draw.choice((0, 1, 1, 2, 2, 3, 5, 8, 20))},
            {"user_slots": draw.choice((None, None, 0, 1, 2))},
            {"burst_slots": draw.choice((None, 3, 6, 20))},
            {"queue_slots": {name: draw.randint(1, 4) for name in names if draw.random() < 0.5}},
            {"budgets": draw.choice(({}, {"tokens": draw.randint(1, 20)}, {"pages": 2, "tokens": 9}))},
            {"weight": draw.randint(1, 100)},
            {"paused": draw.random() < 0.1},
            {"rate_limit": draw.randint(1, 4), "rate_window": draw.choice((0.5, 5.0))}
            if limited
            else {"rate_limit": None, "rate_window": None},
        )
    )
    TenantQueue.objects.filter(tenant=tenant).update(**change)
    return tenant, change


def change_queue(world: World) -> object:
    draw, queue = world.random, world.random.choice(world.queues)
    limited = draw.random() < 0.4
    change = draw.choice(
        (
            {"concurrency": draw.choice((None, None, None, 0, 1, 2, 3, 5))},
            {"tenant_slots": draw.choice((None, None, 1, 1, 2, 3))},
            {"weight": draw.randint(1, 100)},
            {"paused": draw.random() < 0.1},
            {"pool": draw.choice((*POOLS, POOLS[0]))},
            {"rate_limit": draw.randint(1, 6), "rate_window": draw.choice((0.5, 5.0))}
            if limited
            else {"rate_limit": None, "rate_window": None},
        )
    )
    Queue.objects.filter(pk=queue).update(**change)
    return queue, change


def open_line(world: World) -> object:
    """Somebody does not wait for the moment."""
    if not world.seen.holds:
        return None
    hold = world.random.choice(world.seen.holds)
    return hold.pk, world.do(lambda: store.open_line(hold.queue_id, hold.tenant_id))


def _beat(world: World, worker: uuid.UUID, concurrency: int) -> Beat | None:
    pool = world.workers[worker]
    answer = store.beat(
        worker, name=str(worker), pid=1, pool=pool, capacity=concurrency, kind=LIGHT if pool == LIGHT else "ordinary"
    )
    if answer is None:
        del world.workers[worker]  # it was declared gone
    return answer


def register(world: World) -> object:
    if len(world.workers) >= 5:
        return None
    worker = uuid.UUID(int=world.random.getrandbits(128))
    taken = list(world.workers.values())
    world.workers[worker] = min(POOLS, key=taken.count)  # a pool without a worker stands still
    size = world.random.randint(3, 8) if world.workers[worker] == LIGHT else world.random.randint(1, 4)
    return world.workers[worker], _beat(world, worker, size)


def beat(world: World) -> object:
    """Most workers beat as they did; some drain, or change their number of processes."""
    sizes = {worker.pk: worker.concurrency for worker in world.seen.workers}
    for worker in list(world.workers):
        size = sizes.get(worker, 2)
        if world.random.random() < 0.1:
            size = world.random.randint(0, 4)
        _beat(world, worker, size)
    return len(world.workers)


def leave(world: World) -> object:
    if len(world.workers) < 2:
        return None
    worker = world.random.choice(list(world.workers))
    del world.workers[worker]
    store.leave(worker)
    return worker


def declare_gone(world: World) -> object:
    return store.declare_gone()


def lock(world: World) -> object:
    """Somebody's transaction holds some rows that wait, all of one lane or here and there."""
    draw = world.random
    rows = Job.objects.filter(slot=None, end_time=None)
    if draw.random() < 0.5:
        rows = rows.filter(tenant=draw.choice(world.tenants), queue=draw.choice(world.queues))
    ids = list(rows.order_by("priority", "pk").values_list("pk", flat=True)[: draw.choice((1, 2, 5, 12))])

    def lock() -> list[int]:
        return [job.pk for job in Job.objects.select_for_update(skip_locked=True).filter(pk__in=ids)]

    return draw.choice(world.sessions).do(lock)


def end_transaction(world: World) -> object:
    commit = world.random.random() < 0.7
    world.random.choice(world.sessions).end(commit=commit)
    return commit


def many_numbers(world: World) -> object:
    """The door has drawn so many numbers that it renews its memory of the slots in use."""
    return value("SELECT setval('door_seq', nextval('door_seq') + 600)")
