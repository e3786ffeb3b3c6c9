"""Limits that change while tokens are missing: a debt is in tokens, whatever limit comes, and however often."""

from datetime import UTC, datetime, timedelta
from math import floor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jobs import store
from jobs.models import Job, Queue, QueueTurn, TenantBook
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory
from tests.thorough import sized

START = datetime(2040, 1, 1, tzinfo=UTC)
NEAR = 1e-4  # tokens: moments are rounded to microseconds
JOBS = 400
Rate = tuple[int, float]  # jobs, in seconds

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
rates = st.tuples(st.sampled_from([1, 2, 3, 10, 40]), st.sampled_from([1.0, 7.0, 60.0, 1801.0, 3600.0]))
steps = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 6.0, 30.0, 400.0, 2000.0]), st.none() | rates), min_size=4, max_size=12
)


class Bucket:
    """How many tokens are missing. next_at: seconds until it has one."""

    def __init__(self, rate: Rate) -> None:
        self.limit, self.window = rate
        self.missing = 0.0

    def wait(self, seconds: float) -> None:
        self.missing = max(self.missing - seconds * self.limit / self.window, 0.0)

    def change(self, rate: Rate) -> None:
        self.limit, self.window = rate
        self.missing = min(self.missing, self.limit)

    @property
    def tokens(self) -> float:
        return self.limit - self.missing

    @property
    def next_at(self) -> float:
        return max(1 - self.tokens, 0.0) * self.window / self.limit


class Limited:
    """A queue or a tenant with more waiting jobs than may start, at a time that the test tells."""

    def __init__(self, whose: str, rate: Rate) -> None:
        Job.objects.all().delete()
        Queue.objects.all().delete()
        self.now = START
        tenant, queue = TenantFactory(queue__num_slots=JOBS), QueueFactory()
        rows = {"queue": Queue.objects.filter(pk=queue.pk), "tenant": TenantQueue.objects.filter(tenant=tenant)}
        self.limits = rows[whose]
        self.change(rate)
        store.insert([request_for(tenant, n) for n in range(JOBS)])

    def change(self, rate: Rate) -> None:
        """By whatever SQL; then the clock looks."""
        self.limits.update(rate_limit=rate[0], rate_window=rate[1])
        call_at(self.now, store.claim)  # a pass that takes the letter; another one may follow it at once
        call_at(self.now, store.tidy_turns)

    def claim(self) -> int:
        Job.objects.filter(slot__isnull=False).delete()  # they end at once
        claimed = 0
        while done := call_at(self.now, store.claim):
            claimed += len(done)
        return claimed


@pytest.fixture(autouse=True)
def workers_for_ever(settings, register) -> None:
    settings.JOBS_BEAT_INTERVAL = 1e9
    register(concurrency=1000)


def play(whose: str, rate: Rate, taken: list[tuple[float, Rate | None]]) -> None:
    limited, bucket = Limited(whose, rate), Bucket(rate)
    started: list[tuple[float, int]] = []
    raises, fastest, at = [], rate[0] / rate[1], 0.0
    for seconds, change in [(0.0, None), *taken]:
        at += seconds
        limited.now += timedelta(seconds=seconds)
        bucket.wait(seconds)
        claimed = 0
        if change is not None:
            without, raised = (
                bucket.next_at,
                change[0] >= bucket.limit and change[0] / change[1] >= bucket.limit / bucket.window,
            )
            raises.append((at, max(change[0] - bucket.limit, 0)))
            bucket.change(change)
            fastest = max(fastest, change[0] / change[1])
            assert not raised or bucket.next_at <= without + NEAR
            was = Job.objects.filter(ready_at__isnull=True).count()
            limited.change(change)
            claimed = Job.objects.filter(ready_at__isnull=True).count() - was
        claimed += limited.claim()
        assert floor(bucket.tokens - NEAR) <= claimed <= floor(bucket.tokens + NEAR), at
        bucket.missing += claimed
        started.append((at, claimed))
    for first, (begin, _) in enumerate(started):
        for last in range(first, len(started)):
            end = started[last][0]
            count = sum(n for _, n in started[first : last + 1])
            gained = sum(more for when, more in raises if begin < when <= end)
            held = max([limit for limit, _ in [rate, *[change for _, change in taken if change]]])
            assert count <= held + gained + fastest * (end - begin) + NEAR


@pytest.mark.parametrize("whose", ["queue", "tenant"])
@settings(max_examples=sized(6, thorough=60), derandomize=True)
@example(rate=(10, 3600.0), taken=[(0.0, (10, 1801.0)), (180.0, None), (1.0, None)])
@example(rate=(2, 3600.0), taken=[(0.0, (3, 3600.0)), (0.5, (1, 3600.0)), (0.5, (10, 7.0))])
@example(rate=(40, 3600.0), taken=[(0.5, (40, 60.0)), (6.0, None), (0.5, (40, 3600.0)), (30.0, None)])
@given(rate=rates, taken=steps)
def test_after_any_changes_a_bucket_holds_what_its_debt_in_tokens_leaves(whose, rate, taken):
    play(whose, rate, taken)


@pytest.mark.parametrize("whose", ["queue", "tenant"])
def test_a_clock_that_was_set_back_holds_it_up_for_a_window_at_most(whose):
    book = QueueTurn if whose == "queue" else TenantBook
    full_at = "rate_tokens(10, 3600, rate_full_at(10, 3600, full_at, full_limit, full_window, %s), %s)"
    for back in (5.0, 3000.0, 1e6):
        limited = Limited(whose, (10, 3600.0))
        assert limited.claim() == 10
        limited.now -= timedelta(seconds=back)
        books = book.objects.extra(select={"tokens": full_at}, select_params=[limited.now] * 2)
        assert 0 <= books.latest("version").tokens <= 10
        limited.now += timedelta(seconds=3600)
        call_at(limited.now, store.open_lanes)
        assert limited.claim() >= 1
