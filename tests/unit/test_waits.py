"""Where waiting jobs wait, and what pools could use: over counts of lanes and queues."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.allocation.gates import Gate
from jobs.console.ops.shared.tags import GATES
from jobs.reading import waits
from jobs.reading.looking import Lane, Queue, Tenant

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def lane(
    tenant_id: int | None = 1,
    queue_id: int = 1,
    *,
    gate: Gate | None = None,
    no_tokens: bool = False,
    waiting: int | None = None,
    of_full_users: int = 0,
    passing: int = 0,
    lanes: int = 1,
    since: datetime | None = NOW,
) -> Lane:
    waiting = passing if waiting is None else waiting
    return Lane(tenant_id, queue_id, gate, no_tokens, waiting, passing, lanes, False, since, of_full_users)


def queue(
    pk: int = 1,
    *,
    pool: str = "default",
    processes: int = 10,
    used: int = 0,
    concurrency: int | None = None,
    paused: bool = False,
    tokens: float | None = None,
    **late: float,
) -> Queue:
    limits = (1, concurrency, paused, None, None)
    return Queue(pk, f"q{pk}", pool, *limits, used, used, processes, tokens, None, **late)


def tenant(
    pk: int = 1, slots: int | None = 5, *, in_use: int = 0, paused: bool = False, tokens: float | None = None
) -> Tenant:
    limits = {"num_slots": slots, "burst_slots": None, "paused": paused}
    rate = {"rate_limit": None, "tokens": tokens, "next_at": None}
    return Tenant(id=pk, name=f"Tenant {pk}", slug=f"t{pk}", in_use=in_use, **limits, **rate)


def found(lanes: list[Lane], *queues: Queue) -> list[waits.Cut]:
    return waits.cuts(lanes, {one.id: one for one in queues})


EIGHT = lane(passing=8)
FULL, SLOW = lane(gate=Gate.SLOTS_FULL, waiting=8), lane(no_tokens=True, waiting=8)
WAITS = [
    (lane(gate=Gate.TENANT_PAUSED, waiting=8), queue(), {Gate.TENANT_PAUSED: 8}),
    (lane(gate=Gate.NO_SLOTS, waiting=8), queue(), {Gate.NO_SLOTS: 8}),
    (FULL, queue(paused=True), {Gate.SLOTS_FULL: 8}),
    (lane(gate=Gate.LANE_FULL, waiting=8), queue(paused=True), {Gate.LANE_FULL: 8}),
    (lane(gate=Gate.LANE_HELD, waiting=8), queue(held=True), {Gate.LANE_HELD: 8}),
    (lane(passing=2, waiting=8), queue(held=True), {Gate.QUEUE_HELD: 8}),
    (SLOW, queue(processes=0), {Gate.TENANT_RATE: 8}),
    (SLOW, queue(paused=True), {Gate.QUEUE_PAUSED: 8}),
    (EIGHT, queue(paused=True), {Gate.QUEUE_PAUSED: 8}),
    (EIGHT, queue(concurrency=3, used=3), {Gate.QUEUE_FULL: 8}),
    (EIGHT, queue(concurrency=3, used=2), {Gate.NEXT: 8}),
    (EIGHT, queue(tokens=0.5), {Gate.QUEUE_RATE: 8}),
    (lane(waiting=8, of_full_users=3), queue(), {Gate.USER_FULL: 3, Gate.NEXT: 5}),
    (lane(waiting=8, of_full_users=3), queue(tokens=0.5), {Gate.QUEUE_RATE: 8}),
    (EIGHT, queue(processes=0), {Gate.NO_WORKER: 8}),
    (EIGHT, queue(processes=4, used=4), {Gate.POOL_FULL: 8}),
    (lane(waiting=8, passing=6), queue(processes=2, used=1), {Gate.NEXT: 8}),
]


@pytest.mark.parametrize(("line", "where", "told"), WAITS, ids=lambda value: "")
def test_jobs_wait_at_the_first_gate_that_is_closed_for_them(line, where, told):
    assert dict(waits.by_gate(found([line], where))) == told


def test_every_gate_that_counts_can_meet_has_its_words():
    assert {gate for _, _, told in WAITS for gate in told} == set(GATES)


def test_a_lane_of_a_queue_that_is_no_longer_there_is_left_out():
    assert found([lane(queue_id=9, passing=3)], queue()) == []


@given(
    passing=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    beyond=st.integers(0, 9),
    concurrency=st.none() | st.integers(0, 5),
)
def test_each_waiting_job_waits_at_exactly_one_gate_and_no_more_may_run_than_a_limit_lets(passing, beyond, concurrency):
    lanes = [lane(n, n % 2 + 1, passing=jobs, waiting=jobs + beyond) for n, jobs in enumerate(passing)]
    queues = {1: queue(1, concurrency=concurrency), 2: queue(2, pool="other")}
    assert sum(cut.jobs for cut in waits.cuts(lanes, queues)) == sum(one.waiting for one in lanes)
    limited, free = waits.pools(lanes, queues)
    of_each = [sum(passing[n::2]) for n in (1, 0)]
    assert limited.may_run == (of_each[1] if concurrency is None else min(of_each[1], concurrency))
    assert free.may_run == of_each[0]


class TestPools:
    def pools(self, lanes, *queues):
        return waits.pools(lanes, {one.id: one for one in queues})

    def test_a_pool_demands_what_it_runs_and_what_it_could_run(self):
        [pool] = self.pools([EIGHT, lane(2, 2, passing=2)], queue(processes=4, used=1), queue(2, processes=4, used=1))
        assert (pool.processes, pool.in_use, pool.may_run, pool.demand, pool.missing) == (4, 1, 10, 11, 7)

    def test_a_pool_that_has_enough_misses_nothing(self):
        [pool] = self.pools([lane(passing=1)], queue(processes=4, used=1))
        assert (pool.demand, pool.missing) == (2, 0)

    def test_a_job_that_could_run_before_and_still_can_is_late(self):
        both = {"late": 3, "late_seconds": 9.0, "idle_looks": 2}
        [pool] = self.pools([lane(n, 2, passing=3) for n in (1, 2)], queue(1, **both), queue(2, **both))
        assert (pool.late, pool.late_seconds, pool.idle_looks, pool.first_since) == (3, 9.0, 2, NOW)

    def test_no_more_is_late_than_may_run(self):
        [pool] = self.pools([lane(passing=3)], queue(concurrency=1, late=3))
        assert (pool.may_run, pool.late) == (1, 1)

    @pytest.mark.parametrize("closed", [{"paused": True}, {"concurrency": 1, "used": 1}, {"tokens": 0.0}])
    def test_nothing_is_late_in_a_queue_that_is_closed(self, closed):
        [pool] = self.pools([lane(passing=3)], queue(late=3, late_seconds=9.0, **closed))
        assert (pool.may_run, pool.late, pool.late_seconds, pool.first_since) == (0, 0, 0.0, None)
        assert waits.closed(queue(**closed))
        assert not waits.closed(queue())
