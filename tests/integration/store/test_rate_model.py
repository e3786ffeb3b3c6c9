"""The token bucket of the claim against a model of it: levels that fill up, in whole microseconds, so exact."""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import store
from jobs.models import Job, Queue
from jobs.store.claiming import Pass
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish
from tests.thorough import sized

START = datetime(2040, 1, 1, tzinfo=UTC)
WORKER = uuid.uuid4()
JOBS = 120  # in each lane
Lane = tuple[int, str]  # tenant's id, queue's name


@dataclass
class Bucket:
    """What a rate limit of `limit` tokens, one every `refill` µs, allows."""

    limit: int
    refill: int
    level: int = field(init=False)  # the µs of refill that are in it
    taken: list[int] = field(default_factory=list, init=False)  # when

    def __post_init__(self) -> None:
        self.level = self.limit * self.refill

    def fill(self, passed: int) -> None:
        self.level = min(self.level + passed, self.limit * self.refill)

    @property
    def tokens(self) -> int:
        return self.level // self.refill

    def take(self, now: int) -> None:
        assert self.tokens > 0, "a job was claimed without a token"
        self.level -= self.refill
        self.taken.append(now)

    def check_promise(self) -> None:
        """Over any t seconds at most limit * (1 + t / window)."""
        for first, start in enumerate(self.taken):
            for count, end in enumerate(self.taken[first:], 1):
                assert count * self.refill <= self.limit * self.refill + (end - start)


def columns(limit: Bucket | None, prefix: str = "") -> dict[str, float]:
    if limit is None:
        return {}
    return {f"{prefix}rate_limit": limit.limit, f"{prefix}rate_window": limit.limit * limit.refill / 1e6}


class Line:
    """Jobs of every tenant in every queue, claimed at a time that the test tells; each claim is told to the model."""

    def __init__(self, tenants: list[Bucket | None], queues: list[Bucket | None], concurrency: int | None) -> None:
        Job.objects.all().delete()
        Queue.objects.all().delete()
        self.now = 0
        self.concurrency = concurrency
        self.limits = [limit for limit in (*tenants, *queues) if limit]
        owners = [TenantFactory(queue__num_slots=1000, **columns(limit, "queue__")) for limit in tenants]
        for n, limit in enumerate(queues):
            QueueFactory(name=f"q{n}", concurrency=concurrency, **columns(limit))
        self.limits_of: dict[Lane, list[Bucket]] = {}
        self.lane_of: dict[int, Lane] = {}
        for (owner, of_tenant), (n, of_queue) in product(zip(owners, tenants, strict=True), enumerate(queues)):
            lane = (owner.pk, f"q{n}")
            self.limits_of[lane] = [limit for limit in (of_tenant, of_queue) if limit]
            stored = store.insert([request_for(owner, n, queue=lane[1]) for n in range(JOBS)])
            self.lane_of |= {job.id: lane for job in stored}
        self.waiting = dict.fromkeys(self.limits_of, JOBS)
        self.running: list[store.Claimed] = []

    def pass_time(self, passed: int, ended: int) -> None:
        self.now += passed
        for limit in self.limits:
            limit.fill(passed)
        for job in self.running[:ended]:
            finish(job, WORKER)
        del self.running[:ended]

    def claim(self) -> Pass:
        claimed = call_at(START + timedelta(microseconds=self.now), store.claim)
        for job in claimed:
            lane = self.lane_of[job.id]
            self.waiting[lane] -= 1
            for limit in self.limits_of[lane]:
                limit.take(self.now)
        self.running += claimed
        return claimed

    def allowed(self, lane: Lane) -> int:
        """How many jobs of this lane may go now, if none of another does."""
        least = [self.waiting[lane], *(limit.tokens for limit in self.limits_of[lane])]
        if self.concurrency is not None:
            least.append(self.concurrency - sum(self.lane_of[job.id][1] == lane[1] for job in self.running))
        return min(least)


rates = st.builds(Bucket, st.integers(1, 6), st.sampled_from([1_000, 70_000, 333_333, 1_000_000, 7_200_000_000]))


def steps(limits: list[Bucket | None]) -> st.SearchStrategy[list[tuple[int, int]]]:
    """(µs that pass, jobs that end), again and again: often exactly at a token, or one µs beside."""
    ticks = sorted({limit.refill for limit in limits if limit}) or [1000]
    beside = st.sampled_from([-1, 0, 0, 0, 1])
    at_token = st.builds(lambda tick, n, off: max(tick * n + off, 0), st.sampled_from(ticks), st.integers(0, 4), beside)
    passed = st.one_of(at_token, at_token, st.integers(0, 3 * max(ticks)))
    return st.lists(st.tuples(passed, st.integers(0, 8)), min_size=12, max_size=30)


@pytest.fixture
def workers_for_ever(settings, register) -> None:
    settings.JOBS_BEAT_INTERVAL = 1e9  # seconds: they are live whatever time the test tells
    register(concurrency=1000)


pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("exact_capacity", "workers_for_ever"),
    pytest.mark.long("odd orders of rate limits; tests/integration/store/test_rate_limits.py has the usual ones"),
]
long_runs = settings(
    max_examples=sized(15, thorough=40),
    derandomize=True,
)


@pytest.mark.parametrize("limited", ["queue", "tenant", "both", "both, and concurrency"])
@long_runs
@given(data=st.data())
def test_a_claim_takes_exactly_as_many_jobs_as_the_bucket_holds_tokens(limited, data):
    tenant = None if limited == "queue" else data.draw(rates, "tenant")
    queue = None if limited == "tenant" else data.draw(rates, "queue")
    concurrency = data.draw(st.integers(1, 4), "concurrency") if "concurrency" in limited else None
    line = Line([tenant], [queue], concurrency)
    (lane,) = line.waiting
    for passed, ended in data.draw(steps([tenant, queue]), "steps"):
        line.pass_time(passed, ended)
        expected = line.allowed(lane)
        assert len(line.claim()) == expected
    for limit in line.limits:
        limit.check_promise()


@long_runs
@given(data=st.data())
def test_over_two_tenants_and_two_queues_no_token_is_overspent_and_none_is_left_while_a_job_waits_for_it(data):
    tenants = [data.draw(st.none() | rates, f"tenant {n}") for n in range(2)]
    queues = [data.draw(rates, "queue 0"), data.draw(st.none() | rates, "queue 1")]
    line = Line(tenants, queues, data.draw(st.none() | st.integers(1, 5), "concurrency"))
    for passed, ended in data.draw(steps([*tenants, *queues]), "steps"):
        line.pass_time(passed, ended)
        while line.claim().more:  # as a dispatch does
            pass
        assert {lane: line.allowed(lane) for lane in line.waiting} == dict.fromkeys(line.waiting, 0)
    for limit in line.limits:
        limit.check_promise()
