"""Steps of those who carry and hold jobs: messages, processes, and whoever cleans up after them."""

import uuid
from collections.abc import Callable
from functools import partial

from jobs import store
from jobs.authoring.exceptions import EventWait, Later
from jobs.lifecycle import HandBack
from jobs.store import Failure, Holder, Seat
from tests.concurrency.walk.naive import Row
from tests.concurrency.walk.world import EVENTS, QUEUES, World

REFUSED = Failure("ValueError", "no")
KILLED = Failure("ProcessDied", "killed")


def start(world: World) -> object:
    """Messages come to workers of their pools: for the first time, again, or late."""
    begun = [_start(world) for _ in range(world.random.randint(1, 4)) if world.messages]
    return begun if any(begun) else None


def _start(world: World) -> object:
    queued = {(job.id, job.attempt) for job in world.seen.jobs if job.status == "queued"}
    new = [message for message in world.messages if (message.id, message.attempt) in queued]
    message = world.random.choice(world.messages if world.random.random() < 0.1 else new or [None])
    if message is None:
        return None
    workers = [worker for worker, pool in world.workers.items() if pool == message.pool]
    if not workers:
        return None
    worker = world.random.choice(workers)
    begun = world.do(lambda: store.start(message.id, message.attempt, store.Seat.here(worker)))
    if begun is not None:
        again = world.do(lambda: store.start(message.id, message.attempt, store.Seat.here(worker)))
        assert again is None, "an attempt was started twice"
    return message.id, message.attempt, begun is not None


def _settle(
    world: World,
    how: Callable[[int, int, Holder], object],
    *,
    fits: Callable[[Row], bool] = lambda job: True,
    at_once: bool = False,
) -> object:
    """The process of a running job settles it, after others tried to that do not hold it.

    at_once: in a transaction that does not stay open.
    """
    job = world.one(lambda job: job.status == "running" and fits(job))
    if job is None:
        return None
    by = Holder(job.worker, job.worker_pid)
    assert not how(job.id, job.attempt - 1, by), "a stale attempt was settled"
    assert not how(job.id, job.attempt, Holder(uuid.UUID(int=1), job.worker_pid)), "another process settled"
    return job.id, job.attempt, world.do(lambda: how(job.id, job.attempt, by), open_at_times=not at_once)


def succeed(world: World) -> object:
    units = world.random.choice((None, {"tokens": 1}, {"tokens": 4, "pages": 1}))
    return _settle(world, lambda job, attempt, by: store.succeed(job, attempt, {}, None, by=by, units=units))


def follow(world: World) -> object:
    """The process goes on with the next jobs of the lane, if it may."""
    lanes = {(job.tenant_id, job.queue_id) for job in world.seen.ready}

    def follow(job: int, attempt: int, by: Holder) -> object:
        applied, following = store.succeed_and_follow(job, attempt, {}, None, by=by)
        if following is not None and world.random.random() < 0.5:
            return following.id, follow(following.id, following.attempt, following.holder)
        return applied and (following and following.id, "ended")

    # At once: what it checks may change before a later commit.
    return _settle(world, follow, fits=lambda job: (job.tenant_id, job.queue_id) in lanes, at_once=True)


def fail(world: World) -> object:
    dead = world.random.random() < 0.5
    return _settle(world, lambda job, attempt, by: store.fail(job, attempt, REFUSED, dead=dead, by=by))


def retry(world: World) -> object:
    delay, queue = world.random.choice((0.5, 5.0)), world.random.choice((None, *QUEUES))
    return _settle(world, lambda job, attempt, by: store.retry(job, attempt, REFUSED, delay=delay, queue=queue, by=by))


def snooze(world: World) -> object:
    return _settle(world, lambda job, attempt, by: store.snooze(job, attempt, {}, delay=0.5, by=by))


def hold(world: World) -> object:
    """The job holds its lane, or its queue."""
    later = Later(world.random.choice((0.2, 1.0, 6.0)), world.random.choice(("tenant", "tenant", "queue")), "429")

    def hold(job: int, attempt: int, by: Holder) -> object:
        return store.snooze(job, attempt, {}, delay=later.seconds, later=later, by=by) and later

    return _settle(world, hold)


def hand_back(world: World) -> object:
    return _settle(world, lambda job, attempt, by: store.hand_back(job, attempt, HandBack.DRAIN, by=by))


def wait_for(world: World) -> object:
    wait = EventWait(world.random.choice(EVENTS), world.random.choice((1.0, 20.0)))
    return _settle(world, lambda job, attempt, by: store.wait_for(job, attempt, wait, by=by) and wait)


def stop(world: World) -> object:
    def is_asked_to_stop(job: Row) -> bool:
        return job.cancel_requested_at is not None

    return _settle(world, lambda job, attempt, by: store.stop(job, attempt, by=by), fits=is_asked_to_stop)


def put_off(world: World) -> object:
    job = world.one(lambda job: job.status == "queued")
    return job and (job.id, world.do(lambda: store.put_off(job.id, job.attempt)))


def turn_away(world: World) -> object:
    job = world.one(lambda job: job.status == "queued")
    return job and (job.id, world.do(lambda: store.turn_away(job.id, job.attempt)))


def die(world: World) -> object:
    """The process of an attempt dies, before its start or later; its parent takes the attempt back."""
    job = world.one(lambda job: job.followed > 0 and job.slot is not None) or world.one(
        lambda job: job.slot is not None
    )
    return job and (job.id, job.status, world.do(lambda: _take_back(job)))


def _take_back(job: Row) -> object:
    seat, forgiven = Seat(job.worker, job.worker_pid), job.id % 2  # of every second job the worker is stopped
    return store.take_back(job.id, job.attempt, KILLED, max_crashes=3, seat=seat, forgiven=forgiven)


def take_back_orphans(world: World) -> object:
    return [
        (orphan.id, world.do(partial(store.take_back, orphan.id, orphan.attempt, KILLED, max_crashes=3)))
        for orphan in store.orphans()
    ]


def hand_over_again(world: World) -> object:
    again = store.hand_over_again(5.0)
    world.messages += again
    return [job.id for job in again]


def lose_messages(world: World) -> object:
    """The broker is flushed."""
    if world.random.random() < 0.6:
        return None
    lost = len(world.messages)
    world.messages.clear()
    return lost
