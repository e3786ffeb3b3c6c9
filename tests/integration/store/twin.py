"""The claim and `jobs.allocation`, led through the same history in a time of its own, and compared after every pass."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from math import inf
from typing import Any
from uuid import uuid4

import pytest

from jobs import models, store
from jobs.allocation import order
from jobs.allocation.books import Books
from jobs.allocation.fold import LANES_TO_OPEN
from jobs.allocation.follow import follow
from jobs.allocation.line import BookedJob
from jobs.allocation.passes import WorkerSeats, make_pass
from jobs.allocation.state import Lane, LineHold, Pool, Queue, Tenant
from jobs.authoring.exceptions import Later
from jobs.models import QueueTurn, TenantBook
from jobs.store import Failure, Holder
from jobs.store.attempts import most_time
from tenants.models import Tenant as Owner
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import TenantFactory
from tests.sql import value

TICK = 1 / 64  # seconds; whole microseconds and whole in binary, so both sides compute the same
WORKERS = {"one": uuid4(), "two": uuid4()}  # by pool
OTHERS = {"one": uuid4(), "two": uuid4()}  # by light pool: of the same, but never rung
RESTS = 9999  # the year in which a lane opens that waits for a pass that lends
BY_NUMBER = (1 << 58) - 1  # of a place
LANE = ["state", "virtual_time", "head", "last_user", "opens_at", "in_use", "tickets"]
TURN = [
    "virtual_time",
    "pool_time",
    "lane_time",
    "growth",
    "timed_at",
    "round_least",
    "round_growth",
    "mean_seconds",
    "full_at",
    "in_use",
    "tickets",
]
LONGEST = 3.0  # seconds: the limit of each job, with the grace and a slice
FAILED = Failure("ValueError", "no")


@dataclass
class Held:
    """A slot, and its job. since: the start of the first job in it; None: none has started."""

    lane: Lane
    job: BookedJob
    attempt: int
    pool: str
    since: float | None = None

    @property
    def id(self) -> int:
        return self.job.place & BY_NUMBER


class Twin:
    """An installation, and its books in memory."""

    def __init__(self) -> None:
        self.origin = datetime.now(UTC).replace(microsecond=0)
        self.now = 0.0  # seconds since then
        self.books = Books(far_number())
        self.held: list[Held] = []
        self.retrying: dict[int, tuple[Lane, BookedJob]] = {}  # by number
        self.holding: dict[int, LineHold] = {}  # by number, of jobs that are not in line again
        self.holds_for = 2.0  # seconds
        self.seen: Counter[str] = Counter()  # what the history was made of
        self._sources = count()
        self._owners: dict[int, Owner] = {}
        self._names: dict[int, str] = {}  # of queues

    @property
    def moment(self) -> datetime:
        return self.origin + timedelta(seconds=self.now)

    def begin_tenant(self, **limits: Any) -> None:
        owner = TenantFactory(**{f"queue__{name}": value for name, value in limits.items()})
        self._owners[owner.pk] = owner
        self.books.add_tenant(Tenant(id=owner.pk, **limits))

    def begin_queue(self, name: str, pool: str, **limits: Any) -> None:
        queue, _ = models.Queue.objects.update_or_create(name=name, defaults={"pool": pool, **limits})
        self._names[queue.pk] = name
        self.books.add_queue(Queue(id=queue.pk, name=name, pool=self.books.pool(pool), **limits))

    def limit_tenant(self, tenant: Tenant, **limits: Any) -> None:
        TenantQueue.objects.filter(tenant_id=tenant.id).update(**limits)
        self.books.limit_tenant(tenant, **limits)

    def limit_queue(self, queue: Queue, **limits: Any) -> None:
        models.Queue.objects.filter(pk=queue.id).update(**limits)
        self.books.limit_queue(queue, **limits)

    def staff(self, pool: str, processes: int, *, light: bool = False) -> None:
        """Give a pool so many processes; or make it light, with so many seats in two workers."""
        models.Worker.objects.filter(pool=pool).delete()
        others = 2 * processes // 3 if light else 0
        for worker, concurrency in ((WORKERS[pool], processes - others), (OTHERS[pool], others)):
            if concurrency:
                facts = {"name": pool, "pid": 1, "pool": pool, "concurrency": concurrency, "beat_interval": 1e9}
                models.Worker.objects.create(id=worker, kind="light" if light else "ordinary", **facts)
        self.books.pool(pool, processes, light=light and processes > 0)

    def submit(self, tenant: Tenant, queue: Queue, priority: int, user: str, jobs: int) -> None:
        options = {"queue": self._names[queue.id], "priority": priority, "user_key": user, "timeout": LONGEST}
        requests = [request_for(self._owners[tenant.id], next(self._sources), **options) for _ in range(jobs)]
        for answer in call_at(self.moment, store.insert, requests):
            self.books.arrive(self.books.lane(tenant.id, queue.id), BookedJob((priority << 58) + answer.id, user))

    def start(self, held: Held) -> None:
        assert call_at(self.moment, store.start, held.id, held.attempt, store.Seat.here(WORKERS[held.pool]))
        held.since = self.now

    def end(self, held: Held, how: str) -> None:
        """how: succeed, follow, fail, retry; hold, or hold the queue, for a while; or lose, which ends its process."""
        if held.since is None:
            self.start(held)
        if how == "follow" and self._may_follow(held):
            self._follow(held)
            return
        by = Holder(
            WORKERS[held.pool], os.getpid(), since=self.origin + timedelta(seconds=held.since), lost=how == "lose"
        )
        if how == "retry":
            assert call_at(self.moment, store.retry, held.id, held.attempt, FAILED, delay=1.0, by=by)
            self.retrying[held.id] = held.lane, BookedJob(held.job.place, held.job.user)
        elif how in {"hold", "hold the queue"}:
            self._hold_line(held, by, "tenant" if how == "hold" else "queue")
        elif how in {"fail", "lose"}:
            assert call_at(self.moment, store.fail, held.id, held.attempt, FAILED, by=by)
        else:
            assert call_at(self.moment, store.succeed, held.id, held.attempt, {}, None, by=by)
        self._free(held, lost=how == "lose")

    def _hold_line(self, held: Held, by: Holder, what: str) -> None:
        self.seen[what] += 1
        facts = {"delay": self.holds_for, "later": Later(self.holds_for, what), "by": by}
        assert call_at(self.moment, store.snooze, held.id, held.attempt, {}, **facts)
        self.retrying[held.id] = held.lane, BookedJob(held.job.place, held.job.user)
        hold = LineHold(self.now + self.holds_for, in_line=False)
        self.holding[held.id] = self.books.hold_line(held.lane if what == "tenant" else held.lane.queue, hold)

    def promote(self) -> None:
        for due in call_at(self.moment, store.promote) if self.retrying else ():
            self.books.arrive(*self.retrying.pop(due.id))
            if due.id in self.holding:
                self.holding.pop(due.id).in_line = True

    def stir(self, time: Callable[[], float]) -> None:
        """Any times: as after whatever history. None of a queue that sleeps: it does not keep its pool's time."""
        for lane in self._lanes():
            lanes = models.Lane.objects.filter(tenant_id=lane.tenant.id, queue_id=lane.queue.id)
            if lanes.update(virtual_time=(moved := time())):
                lane.virtual_time = moved
        for pool in self.books.pools.values():
            for queue in pool.queues:
                times = {name: time() for name in ("virtual_time", "pool_time", "lane_time")}
                times["mean_seconds"] = time() / 4
                if QueueTurn.objects.filter(queue_id=queue.id).exclude(state="asleep").update(**times):
                    for name, value in times.items():
                        setattr(queue, name, value)
            pool.time = max((queue.pool_time for queue in pool.queues), default=0.0)

    def dispatch(
        self, before_it_lends: Callable[[], object] = lambda: None, seats: Callable[[], int] = lambda: 100
    ) -> None:
        """Pass after pass, compared after each; then those of the feeders. Queues that sleep change nothing.

        seats: how many are free, as a feeder believes.
        """
        call_at(self.moment, store.tidy_turns, idle=-1)
        self._dispatch(before_it_lends)
        for pool in self.books.pools.values():
            if pool.light:
                self._dispatch(before_it_lends, pool, seats())

    def _dispatch(self, before_it_lends: Callable[[], object], pool: Pool | None = None, seats: int = 0) -> None:
        borrow = False
        for _ in range(order.MAX_PASSES):
            ours, theirs = self._feeders(pool, seats)
            claimed = call_at(self.moment, store.claim_within, borrow=borrow, feeder=theirs)
            done = make_pass(self.books, self.now, borrow=borrow, feeder=ours)
            fed = sum(pool is not None and job.pool == pool.name for job in claimed)
            seats -= fed
            self.seen["fed"] += fed
            self.seen.update(passes=1, claims=len(claimed), more=claimed.more, uncounted=claimed.uncounted)
            self.seen["lent"] += borrow and len(claimed)
            assert [job.id for job in claimed] == [choice.job.place & BY_NUMBER for choice in done]
            assert (claimed.more, claimed.uncounted) == (done.more, done.uncounted)
            assert done.idle <= (claimed.idle and claimed.resting)  # that also where nobody rests
            self.held += [
                Held(choice.visit.lane, choice.job, job.attempt, job.pool)
                for choice, job in zip(done, claimed, strict=True)
            ]
            self.compare()
            if claimed.uncounted:
                assert not store.recount_books()
                self.books.recount()
            elif claimed.more:
                borrow = False
            elif claimed.idle and claimed.resting and (claimed or not borrow):
                borrow = True
                before_it_lends()
            else:
                return
        # A pass that lends opens so many lanes; one that visits fewer leaves some to the next, and so on for ever.
        assert order.LANES_OF_A_PASS < LANES_TO_OPEN, "no end of passes"

    def _feeders(self, pool: Pool | None, seats: int) -> tuple[WorkerSeats | None, store.FreeSeats | None]:
        if pool is None or not seats:
            return None, None
        return (
            WorkerSeats(pool, pool.processes - 2 * pool.processes // 3, seats),
            store.FreeSeats(WORKERS[pool.name], pool.name, seats),
        )

    def compare(self) -> None:
        """The books, as far as they decide anything. Places in a circle are told by their order."""
        ours = {(lane.tenant.id, lane.queue.id): lane for lane in self._lanes() if lane.position is not None}
        theirs = {(lane.tenant_id, lane.queue_id): lane for lane in models.Lane.objects.all()}
        assert in_order(ours) == in_order(theirs)
        for key, lane in theirs.items():
            self._same(ours[key], lane, LANE, f"lane {key}")
            self.seen[lane.state] += 1
        for turn in QueueTurn.objects.all():
            queue = self.books.queues[turn.queue_id]
            self._same(queue, turn, TURN, f"queue {queue.id}")
            assert queue.held == (turn.opened_at is not None and turn.opened_at > self.moment), f"queue {queue.id}"
            assert round_of(queue, ours.values()) == round_of(turn, theirs.values())
        for book in TenantBook.objects.all():
            tenant = self.books.tenants[book.tenant_id]
            self._same(tenant, book, ["in_use", "full_at"], f"tenant {tenant.id}")
            assert book.users == (tenant.users if tenant.counted else None) or not tenant.in_use

    def _same(self, ours: Any, theirs: Any, names: list[str], thing: str) -> None:
        for name in names:
            ours_now, theirs_now = getattr(ours, name), getattr(theirs, name)
            if name == "full_at":  # a bucket that is full is full, since whenever
                ours_now, theirs_now = max(ours_now or self.now, self.now), max(theirs_now or self.moment, self.moment)
            if isinstance(theirs_now, datetime):
                theirs_now = inf if theirs_now.year == RESTS else (theirs_now - self.origin).total_seconds()
            elif name == "tickets":
                theirs_now -= theirs.in_use * int(self.origin.timestamp()) * 1000
            wanted = pytest.approx(theirs_now, abs=1e-6) if isinstance(theirs_now, float) else theirs_now
            assert ours_now == wanted, f"{name} of {thing}: {ours_now}, not {theirs_now}"

    def _may_follow(self, held: Held) -> bool:
        """A worker serves the pool, and the tenant has the number of this slot, and no slot more than it has."""
        slot, tenant = models.Job.objects.get(pk=held.id).slot, held.lane.tenant
        return bool(self.books.pools[held.pool].processes) and (tenant.num_slots or 0) >= max(slot, tenant.in_use)

    def _follow(self, held: Held) -> None:
        by = Holder(WORKERS[held.pool], os.getpid(), since=self.origin + timedelta(seconds=held.since or 0.0))
        applied, started = call_at(self.moment, store.succeed_and_follow, held.id, held.attempt, {}, None, by=by)
        following = follow(held.lane, held.job, self.books.pools[held.pool])
        assert applied
        assert (started and started.id) == (following and following.place & BY_NUMBER)
        if started is None or following is None:
            self._free(held)
        else:
            self.seen["follows"] += 1
            held.job, held.attempt = following, started.attempt

    def _free(self, held: Held, *, lost: bool = False) -> None:
        self.held.remove(held)
        longest = LONGEST + most_time()["overtime"]
        self.books.free(held.lane, held.job, self.now - (held.since or 0.0), longest, lost=lost)

    def _lanes(self) -> list[Lane]:
        return [lane for tenant in self.books.tenants.values() for lane in tenant.lanes.values()]


def far_number() -> int:
    """Where the places of both sides begin: far from the beginning of a circle, near which they are not told apart."""
    return value("SELECT setval('door_seq', greatest(last_value, %s)) FROM door_seq", [1 << 21])


def in_order(lanes: dict[tuple[int, int], Any]) -> list[tuple[int, int]]:
    return sorted(lanes, key=lambda key: lanes[key].position)


def round_of(turn: Any, lanes: Iterable[Any]) -> tuple[int, int]:
    """How many lanes stand up to where the circle continues, and up to the end of the round."""
    places = [lane.position for lane in lanes]
    return sum(place <= turn.head for place in places), sum(place <= turn.circle_end for place in places)
