"""Steps of the feeders of light workers: trips that settle many, follow, claim for free seats, and start."""

import uuid
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from django.db import connection, transaction

from jobs import store
from jobs.engine.door.dispatch import hand_over
from jobs.models import Job, Worker
from jobs.store import Seat, Started, Success, Trip
from tests.concurrency.walk.world import LIGHT, NOT_LONG, NotPossible, World, possible
from tests.sql import sql

PIDS = (11, 12)  # of the processes of each light worker
MOST_TRIPS = 30  # of a worker, until nothing more can start


def trip(world: World) -> object:
    """Some seats have ended, some are free; at times there are messages; at times nobody asks for a pass."""
    draw = world.random
    workers = _light_workers()
    if not workers:
        return None
    worker = draw.choice(workers)
    held = _held_by(worker.pk)
    ended = draw.sample(held, draw.randint(0, len(held)))
    messages = [message for message in world.messages if message.pool == LIGHT]
    called = [
        (message.id, message.attempt) for message in draw.sample(messages, min(len(messages), draw.randint(0, 2)))
    ]
    return _trip(world, worker, ended, called=called, claims=draw.random() < 0.8, lost=draw.random() < 0.1)


def feed(world: World) -> object:
    """All light workers make trips, in turn, until none of them starts anything."""
    begun: list[object] = []
    workers = _light_workers()
    for _ in range(MOST_TRIPS):
        more = False
        for worker in workers:
            locked: frozenset[str] = frozenset()
            for borrow in (False, True):
                made = _make(world, worker, [], called=[], claims=True, borrow=borrow, locked=locked)
                if made is None or made.done is None:
                    return "locked"
                begun += [job.id for job in made.started]
                locked |= made.done.locked
                more = more or bool(made.done) or made.done.more
        if not more:
            break
    return begun


def _light_workers() -> list[Worker]:
    return list(Worker.objects.filter(pool=LIGHT, gone_at=None, concurrency__gt=0).order_by("pk"))


def _held_by(worker: uuid.UUID) -> list[Started]:
    """What its seats hold, by the rows."""
    running = [
        store.still_running(row.id, row.attempt, Seat(worker, row.pid)) for row, *_ in store.running_here(worker, 0)
    ]
    return [job for job in running if job is not None]


def _unlocked(jobs: Sequence[Started]) -> set[int]:
    """The ids of those whose rows nobody has locked; a trip leaves the others to the process."""
    rows = Job.objects.filter(pk__in=[job.id for job in jobs])
    with transaction.atomic():
        return set(rows.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))


def _trip(
    world: World,
    worker: Worker,
    ended: Sequence[Started],
    *,
    called: Sequence[tuple[int, int]],
    claims: bool,
    lost: bool,
) -> object:
    """Make a trip, with ends among the others that its seats do not hold: they are not settled.

    lost: its message is lost, of what it has claimed for other pools.
    """
    draw = world.random
    strangers = [
        draw.choice((replace(job, attempt=job.attempt - 1), replace(job, holder=replace(job.holder, pid=99))))
        for job in _held_by(worker.pk)
        if job not in ended and draw.random() < 0.3
    ]
    ends = [Success(job, {}, goes_on=draw.random() < 0.6) for job in (*ended, *strangers)]
    unlocked = _unlocked(ended)
    settled = {(job.id, job.attempt) for job in ended if job.id in unlocked}
    made = _make(world, worker, ends, called=called, claims=claims, borrow=draw.random() < 0.2)
    if made is None:
        return worker.pk, "not possible"
    assert made.settled is not None, "a trip that was answered does not say what it has settled"
    assert made.settled == settled, "not exactly what its seats held was settled, but for the locked rows"
    assert made.followed.keys() <= made.settled, "a job follows one that was not settled"
    if made.done and not lost:
        hand_over([job for job in made.done if job.pool != LIGHT])
    follows = {before[0]: job.id for before, job in made.followed.items()}
    return {"ended": sorted(made.settled), "follow": follows, "started": [job.id for job in made.started]}


def _make(
    world: World,
    worker: Worker,
    ends: Sequence[Success],
    *,
    called: Sequence[tuple[int, int]],
    claims: bool,
    borrow: bool,
    locked: Collection[str] = (),
) -> Trip | None:
    """Make a trip for all free seats; None if somebody holds a row that it needs."""
    seats = (
        worker.concurrency - len(_held_by(worker.pk)) + sum(not end.goes_on for end in ends if end.job.holder.pid != 99)
    )
    free = [world.random.choice(PIDS) for _ in range(max(seats, 0))]
    made = Trip(
        *(worker.pk, LIGHT),
        **{"ended": ends, "called": called[: len(free)], "free": free, "claims": claims, "borrow": borrow},
        locked=locked,
    )
    with suppress(NotPossible), possible():
        made.make()
        return made
    connection.close()  # as a feeder does: its pipeline was left in the middle
    sql(NOT_LONG)
    return None
