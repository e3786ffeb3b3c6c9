"""`jobs.allocation` decides what the claim decides, through whatever history: the same jobs in order, the same books.

Left out, since memory cannot know it: rows that others have locked, the bound of a pass in time, the numbers of slots.
"""

import random
from collections import Counter
from contextlib import nullcontext
from functools import partial

import pytest
from django.db import transaction

from jobs import models, store
from jobs.allocation import fold, line, order, passes, state
from jobs.allocation.fold import LANES_TO_OPEN
from jobs.allocation.order import USERS_OF_A_FRONT
from jobs.allocation.state import Queue, Tenant
from jobs.store import claiming
from tests.clock import call_at
from tests.integration.store.twin import BY_NUMBER, TICK, WORKERS, Twin
from tests.sql import sql
from tests.thorough import sized

pytestmark = pytest.mark.django_db
STEPS = 40
HOLDS = 0.04  # of the attempts that end and free their slot
MET = ("claims", "more", "uncounted", "follows", "lent", "fed", "full", "held", "tenant", "queue")
FIRST, ALL = 18, sized(45, thorough=500)  # histories
RATES = [(None, None), (None, None), (2, 3.0), (5, 1.0), (1, 0.5)]
USERS = [0, 0, 3, 50]
MUTANTS = [  # the constants that memory has of its own, another value of each, and a history that tells it
    (order, "CREDIT_SECONDS", 1.25, 1),
    (order, "SLOT_SECONDS", 1.25, 5),
    (order, "JOBS_OF_A_PASS", 5, 0),
    (order, "LANES_OF_A_PASS", 3, 1),
    (order, "QUEUES_BEYOND_ROOM", 1, 0),
    (order, "SHORTEST_QUANTUM", 0.5, 3),
    (order, "quantum", lambda mean: max(order.SHORTEST_QUANTUM, 3 * mean), 2),
    (line, "USERS_OF_A_FRONT", 31, 1),
    (fold, "SHORTEST_CHARGE", 0.002, 0),
    (fold, "PRICE_OF_A_PROCESS", 1.2, 0),
    (fold, "FORGOTTEN", 0.85, 0),
    (state, "FORGIVEN", 0.0, 3),
    (state.Lane, "slots", None, 0),  # no lane has fewer than its tenant
    (passes.WorkerSeats, "withholds", lambda feeder: max(feeder.pool.free - feeder.seats, 0), 7),  # it takes no share
]
BOUNDS = [  # of a pass; low ones are met
    ("batch", "JOBS_OF_A_PASS", 4),
    ("visits", "LANES_OF_A_PASS", 7),
    ("queues", "QUEUES_BEYOND_ROOM", 2),
]
TIMES = [0.0, 0.25, 0.5, 1.0, 1.5, 3.0, 10.0]


class History:
    """Drawn at random, step by step."""

    def __init__(self, seed: int) -> None:
        self.draw, self.draw_light = random.Random(seed), random.Random(-1 - seed)
        self.draw_lanes = random.Random(1 << 32 | seed)
        self.draw_holds = random.Random(1 << 33 | seed)
        self.has_light = seed % 3 == 1
        self.twin = Twin()
        for name in ["a", "b", "c"]:
            pool = self.draw.choice(["one", "one", "two"])
            self.twin.begin_queue(name, pool, **self._queue_limits())
        for _ in range(self.draw.choice([1, 2, 5, 20])):
            self.twin.begin_tenant(**self._tenant_limits())
        self.users = [f"user{n:02}" for n in range(self.draw.choice(USERS))] or [""]
        self.short = self.draw.random() < 0.5  # ticks or seconds
        for pool in ["one", "two"]:
            self._staff(pool, self.draw.choice([1, 3, 8]))
        if len(self.users) > USERS_OF_A_FRONT:
            self._crowd(next(iter(self.twin.books.tenants.values())), next(iter(self.twin.books.queues.values())))

    def _crowd(self, tenant: Tenant, queue: Queue) -> None:
        """More users of one tenant than a visit looks at."""
        self.twin.limit_tenant(tenant, num_slots=5, user_slots=1)
        for user in self.users[: USERS_OF_A_FRONT + 8]:
            self.twin.submit(tenant, queue, 5, user, 1)

    def step(self) -> None:
        draw, twin = self.draw, self.twin
        tenants, queues = list(twin.books.tenants.values()), list(twin.books.queues.values())
        for _ in range(draw.choice([0, 1, 1, 3])):
            self._submit(draw.randint(1, 12))
        if draw.random() < 0.7:
            twin.now += draw.choice([1, 2, 5, 40] if self.short else [5, 64, 300]) * TICK
        for held in draw.sample(twin.held, draw.randint(0, len(twin.held))):
            if draw.random() < 0.2:
                twin.now += TICK
            how = draw.choice(["follow", "follow", "succeed", "succeed", "fail", "retry", "lose"])
            if how != "follow" and self.draw_holds.random() < HOLDS:
                how, twin.holds_for = self.draw_holds.choice(["hold", "hold", "hold the queue"]), self._holds_for()
            twin.end(held, how)
        self._change(draw.choice(tenants), draw.choice(queues))
        if self.draw_holds.random() < 0.9:
            twin.promote()
        seats = partial(self.draw_light.choice, [1, 2, 3, 5, 6, 8, 13])
        twin.dispatch(before_it_lends=lambda: self._submit(draw.choice([0, 0, 1])), seats=seats)

    def _holds_for(self) -> float:
        return self.draw_holds.choice([0, 1, 40, 100] if self.short else [5, 300, 1000]) * TICK

    def _staff(self, pool: str, processes: int) -> None:
        light = self.has_light and self.draw_light.random() < 0.7
        self.twin.staff(pool, processes * 3 if light else processes, light=light)

    def _submit(self, jobs: int) -> None:
        draw, books = self.draw, self.twin.books
        tenant, queue = draw.choice(list(books.tenants.values())), draw.choice(list(books.queues.values()))
        self.twin.submit(tenant, queue, draw.choice([1, 5, 5, 9]), draw.choice([*self.users, ""]), jobs)

    def _change(self, tenant: Tenant, queue: Queue) -> None:
        draw, twin = self.draw, self.twin
        if self.draw_lanes.random() < 0.05:
            twin.limit_queue(queue, tenant_slots=self.draw_lanes.choice([None, 1, 2, 3]))
        match draw.randrange(24):
            case 0 | 1:
                twin.limit_tenant(tenant, **self._tenant_limits())
            case 2:
                twin.limit_tenant(tenant, paused=not tenant.paused)
            case 3:
                twin.limit_queue(queue, **self._queue_limits())
            case 4:
                twin.limit_queue(queue, paused=not queue.paused)
            case 5:
                twin.limit_queue(queue, pool=draw.choice(["one", "two"]))
            case 6:
                self._staff(draw.choice(["one", "two"]), draw.choice([0, 1, 3, 8]))
            case 7:
                twin.stir(lambda: draw.choice(TIMES))
            case 8:
                twin.limit_tenant(tenant, user_slots=draw.choice([1, 2]))

    def _tenant_limits(self) -> dict[str, object]:
        draw = self.draw
        limit, window = draw.choice(RATES)
        return {
            "num_slots": draw.choice([0, 1, 2, 5, 40]),
            "burst_slots": draw.choice([None, None, 3, 8]),
            "weight": draw.choice([1, 1, 2, 3]),
            "user_slots": draw.choice([None, None, 0, 1, 2]),
            "queue_slots": self.draw_lanes.choice([{}, {}, {}, {}, {"a": 1}, {"a": 3, "b": 2}]),
            "paused": draw.random() < 0.1,
            "rate_limit": limit,
            "rate_window": window,
        }

    def _queue_limits(self) -> dict[str, object]:
        draw = self.draw
        limit, window = draw.choice(RATES)
        return {
            "concurrency": draw.choice([None, None, 1, 3, 8]),
            "tenant_slots": self.draw_lanes.choice([None, None, None, None, 1, 2]),
            "weight": draw.choice([1, 1, 2, 3]),
            "paused": draw.random() < 0.1,
            "rate_limit": limit,
            "rate_window": window,
        }


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(FIRST), id="the first"),
        pytest.param(
            range(FIRST, ALL),
            id="the others",
            marks=pytest.mark.long("what is rarer than the first meet, which tell each constant from another"),
        ),
    ],
)
def test_through_any_history_memory_decides_what_the_claim_decides(monkeypatch, settings, seeds):
    settings.JOBS_TIMEOUT_GRACE, settings.JOBS_MAX_WAITING = 1.0, None
    monkeypatch.setitem(claiming.RULES, "seconds", 3600.0)
    seen: Counter[str] = Counter()
    for seed in seeds:
        with monkeypatch.context() as bounds:
            for rule, name, low in BOUNDS if seed % 3 == 0 else ():
                bounds.setattr(order, name, low)
                bounds.setitem(claiming.RULES, rule, low)
            seen += play(seed)
    assert min(seen[what] for what in MET) >= 5, seen


@pytest.mark.long("the histories compare what the constants decide; this shows that they would tell another one")
@pytest.mark.timeout(1800)
def test_the_histories_tell_each_constant_from_another(monkeypatch, settings, subtests):
    settings.JOBS_TIMEOUT_GRACE, settings.JOBS_MAX_WAITING = 1.0, None
    monkeypatch.setitem(claiming.RULES, "seconds", 3600.0)
    for rule, name, low in BOUNDS:
        monkeypatch.setattr(order, name, low)
        monkeypatch.setitem(claiming.RULES, rule, low)
    for module, name, other, told in MUTANTS:
        with subtests.test(name), monkeypatch.context() as mutant:
            mutant.setattr(module, name, other)
            with pytest.raises(AssertionError):
                for seed in (told, *range(FIRST)):
                    play(seed)


@pytest.mark.parametrize("opened", [LANES_TO_OPEN, LANES_TO_OPEN + 1])
def test_a_pass_that_lends_opens_a_hundred_of_many_lanes_at_rest(settings, monkeypatch, opened):
    settings.JOBS_TIMEOUT_GRACE, settings.JOBS_MAX_WAITING = 1.0, None
    monkeypatch.setattr(fold, "LANES_TO_OPEN", opened)
    twin = Twin()
    twin.begin_queue("a", "one")
    for _ in range(LANES_TO_OPEN + 1):
        twin.begin_tenant(num_slots=1, burst_slots=2)
    twin.staff("one", LANES_TO_OPEN + 2)
    (queue,) = twin.books.queues.values()
    for tenant in twin.books.tenants.values():
        twin.submit(tenant, queue, 5, "", 2)
    with nullcontext() if opened == LANES_TO_OPEN else pytest.raises(AssertionError):
        twin.dispatch()
        assert twin.seen["lent"] == 1
        assert len(twin.held) == LANES_TO_OPEN + 2


def test_a_dispatch_in_memory_gives_the_seats_of_a_light_pool_to_those_whom_its_feeder_gives_them(settings):
    """With more free seats than a pass fills: the feeder is rung again after each, as the replay of a what-if."""
    settings.JOBS_MAX_WAITING = None
    twin = Twin()
    for name, weight in (("a", 1), ("b", 2)):
        twin.begin_queue(name, "one", weight=weight)
    for slots, weight in ((500, 1), (500, 3), (40, 1)):
        twin.begin_tenant(num_slots=slots, weight=weight)
    models.Worker.objects.create(
        id=WORKERS["one"], name="one", pid=1, pool="one", concurrency=250, seats=250, beat_interval=1e9, kind="light"
    )
    pool = twin.books.pool("one", 250, light=True)
    for tenant in twin.books.tenants.values():
        for queue in twin.books.queues.values():
            twin.submit(tenant, queue, 5, "", 150)
    claimed: list[tuple[int, int]] = []
    for _ in range(250):
        seats = min(250 - len(claimed), order.JOBS_OF_A_FEEDER)
        if not seats:
            break
        found = call_at(twin.moment, store.claim_within, feeder=store.FreeSeats(WORKERS["one"], "one", seats))
        claimed += [(one.tenant_id, one.id) for one in found]
    in_memory = [(one.visit.lane.tenant.id, one.job.place & BY_NUMBER) for one in passes.dispatch(twin.books, twin.now)]
    assert (pool.free, len(claimed), len({tenant for tenant, _ in claimed})) == (0, 250, 3)
    assert in_memory == claimed


@pytest.mark.django_db(transaction=True)
def test_any_plan_of_the_lanes_and_letters_decides_the_same(settings):
    """Planned when no lane was there, as after a quiet night; and the pages of the lanes are not filled in order."""
    settings.JOBS_TIMEOUT_GRACE, settings.JOBS_MAX_WAITING = 1.0, None
    sql("VACUUM ANALYZE lanes, arrivals, freed_slots, queues, tenant_queues")
    sql("SET plan_cache_mode = force_generic_plan")
    sql("SET enable_hashjoin = off; SET enable_mergejoin = off")
    for _ in range(8):  # until the server keeps the plan
        with transaction.atomic():
            store.claim_within()
            transaction.set_rollback(True)
    for seed in range(50, 53):
        play(seed, steps=30)
    sql("VACUUM (TRUNCATE false) lanes")
    try:
        for seed in (0, 1, 8):
            play(seed, steps=10)
    finally:
        sql("RESET ALL")


def play(seed: int, steps: int = STEPS) -> Counter[str]:
    """A history, which nobody else sees; return what it was made of."""
    with transaction.atomic():
        history = History(seed)
        for step in range(steps):
            try:
                history.step()
            except AssertionError as error:
                error.add_note(f"history {seed}, step {step}")
                raise
        transaction.set_rollback(True)
    return history.twin.seen
