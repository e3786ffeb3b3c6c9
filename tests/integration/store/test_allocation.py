"""`jobs.allocation` says what the claim does: the same jobs, in the same order, from random states. And what waits for
what: the pages, which count over lanes, say the same as `explain`, which looks at one job.

Left out, since the pure side cannot know it: rows that others have locked, the bounds of a pass in visits and time, and
books that must be counted anew.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Count, Min
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import models, store
from jobs.allocation import order
from jobs.allocation.gates import Gate
from jobs.allocation.nouns import Job, Lane, Pool, Queue, Tenant
from jobs.allocation.passes import predict
from jobs.models import QueueTurn, TenantBook
from jobs.reading import looking, waits
from jobs.reading.explain import reads
from jobs.reading.explain.gates import closed
from tenants.models import TenantQueue
from tests.conftest import request_for
from tests.factories import TenantFactory
from tests.thorough import sized

pytestmark = pytest.mark.django_db
WORKER = uuid4()
POOLS = ["one", "two"]
times = st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.5, 3.0, 10.0])
rates = st.sampled_from([{}, {}, {"rate_limit": 2, "rate_window": 3.0}, {"rate_limit": 5, "rate_window": 1.0}])
tenants = st.fixed_dictionaries(
    {
        "num_slots": st.sampled_from([0, 1, 2, 5, 40]),
        "weight": st.integers(1, 3),
        "user_slots": st.sampled_from([None, None, 0, 1, 2]),
        "paused": st.sampled_from([False, False, False, True]),
        "rate": rates,
    }
)
queues = st.fixed_dictionaries(
    {
        "concurrency": st.sampled_from([None, None, 1, 3, 8]),
        "weight": st.integers(1, 3),
        "pool": st.sampled_from(POOLS),
        "paused": st.sampled_from([False, False, False, True]),
        "rate": rates,
    }
)
works = st.lists(  # (tenant, queue, priority, user, jobs)
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 2),
        st.sampled_from([1, 5, 9]),
        st.sampled_from(["", "a", "b", "c"]),
        st.integers(1, 12),
    ),
    min_size=1,
    max_size=12,
)


@dataclass
class Installation:
    """Tenants, queues and workers of one example, whose clock the test tells."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    running: list[store.Claimed] = field(default_factory=list)

    def begin(self, owners: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
        self.owners = [TenantFactory(**{f"queue__{key}": value for key, value in flat(one).items()}) for one in owners]
        for n, one in enumerate(lines):
            models.Queue.objects.update_or_create(name=f"q{n}", defaults=flat(one))
        self.lines = len(lines)

    def submit(self, work: list[tuple[int, int, int, str, int]]) -> None:
        for owner, line, priority, user, jobs in work:
            tenant, queue = self.owners[owner % len(self.owners)], f"q{line % self.lines}"
            store.insert([request_for(tenant, n, queue=queue, priority=priority, user_key=user) for n in range(jobs)])

    def end(self, jobs: int) -> None:
        for job in self.running[:jobs]:
            assert store.start(job.id, job.attempt, WORKER)
            assert store.succeed(job.id, job.attempt, {}, None)
        del self.running[:jobs]

    def stir(self, time: Callable[[], float]) -> None:
        """Any times: as after whatever history."""
        for lane in models.Lane.objects.values_list("tenant_id", "queue_id"):
            models.Lane.objects.filter(tenant_id=lane[0], queue_id=lane[1]).update(virtual_time=time())
        for queue in QueueTurn.objects.values_list("queue_id", flat=True):
            QueueTurn.objects.filter(queue_id=queue).update(
                virtual_time=time(), pool_time=time(), lane_time=time(), mean_seconds=time() / 4
            )

    def fold(self) -> None:
        """Without workers a dispatch only folds."""
        models.Worker.objects.all().delete()
        assert not store.claim_within(now=self.now)

    def claim(self, processes: dict[str, int]) -> list[int]:
        for pool, number in processes.items():
            if number:
                models.Worker.objects.create(
                    id=uuid4(), name=pool, pid=1, pool=pool, concurrency=number, beat_interval=1e9
                )
        claimed = store.claim_within(now=self.now)
        self.running += claimed
        return [job.id for job in claimed]

    def predict(self, processes: dict[str, int]) -> list[int]:
        """The books as the nouns of allocation, and what it says."""
        turns = {turn.queue_id: turn for turn in QueueTurn.objects.all()}
        stored = {queue.pk: queue for queue in models.Queue.objects.all() if queue.pk in turns}
        pools = {
            name: Pool(name, number, sum(turns[pk].in_use for pk, queue in stored.items() if queue.pool == name))
            for name, number in processes.items()
        }
        pool_time = {
            name: max((turns[pk].pool_time for pk, queue in stored.items() if queue.pool == name), default=0.0)
            for name in processes
        }
        known = {pk: self._queue(queue, turns[pk], pool_time[queue.pool]) for pk, queue in stored.items()}
        owners = {owner.pk: self._tenant(owner.pk) for owner in self.owners}
        lanes = [self._lane(lane, owners[lane.tenant_id], known[lane.queue_id]) for lane in ready_lanes()]
        return [job.place & ((1 << 58) - 1) for job in predict(lanes, pools)]

    def reasons_of_looks(self) -> Counter[Gate]:
        """The waiting jobs by gate, as the pages count them."""
        with patch.object(looking, "MAX_COUNTED", 10_000):
            lanes = looking.look_lanes(self.now)
        return Counter(dict(waits.by_gate(waits.cuts(lanes, looking.look_queues(self.now)))))

    def reasons_of_explain(self) -> Counter[Gate]:
        """The same, asked of one job of each user of each lane: others of the same user wait for the same."""
        found: Counter[Gate] = Counter()
        waiting = models.Job.objects.filter(status="created").order_by().values("tenant_id", "queue_id", "user_key")
        for alike in waiting.annotate(first=Min("pk"), jobs=Count("pk")):
            facts = reads.facts(alike["first"], tenant_id=alike["tenant_id"], now=self.now)
            found[next((blocker.gate for blocker in closed(facts)), Gate.NEXT)] += alike["jobs"]
        return found

    def _queue(self, queue: models.Queue, turn: QueueTurn, pool_time: float) -> Queue:
        passed = (self.now - turn.timed_at).total_seconds() if turn.timed_at else 0
        worked = self._worked(turn.in_use, turn.tickets)
        return Queue(
            id=queue.pk,
            pool=queue.pool,
            concurrency=queue.concurrency,
            in_use=turn.in_use,
            weight=queue.weight,
            paused=queue.paused,
            tokens=self._tokens(queue, turn.full_at),
            present=order.at_least(turn.virtual_time + worked / queue.weight, pool_time, queue.weight),
            lane_time=turn.lane_time + turn.growth * passed,
            mean_seconds=turn.mean_seconds,
            head=turn.head,
        )

    def _tenant(self, pk: int) -> Tenant:
        limits = TenantQueue.objects.get(tenant_id=pk)
        book = TenantBook.objects.filter(tenant_id=pk).first()
        return Tenant(
            id=pk,
            num_slots=limits.num_slots,
            in_use=book.in_use if book else 0,
            weight=1 if limits.paused else limits.weight,  # a paused tenant's lanes only pass by
            paused=limits.paused,
            tokens=self._tokens(limits, book.full_at if book else None),
            user_slots=limits.user_slots,
            users=book.users if book else None,
        )

    def _lane(self, lane: models.Lane, tenant: Tenant, queue: Queue) -> Lane:
        jobs = models.Job.objects.filter(ready_at__isnull=False, tenant_id=lane.tenant_id, queue_id=lane.queue_id)
        return Lane(
            tenant=tenant,
            queue=queue,
            position=lane.position,
            jobs=[
                Job((priority << 58) | pk, user)
                for priority, pk, user in jobs.order_by("priority", "id").values_list("priority", "id", "user_key")
            ],
            in_use=lane.in_use,
            virtual_time=lane.virtual_time,
            seconds=self._worked(lane.in_use, lane.tickets),
            last_user=lane.last_user,
        )

    def _worked(self, in_use: int, tickets: int) -> float:
        return value("SELECT worked_since(%s, %s, %s)", in_use, tickets, self.now)

    def _tokens(self, limits: Any, full_at: datetime | None) -> float | None:
        bucket = (limits.rate_limit, limits.rate_window, full_at, self.now)
        return value("SELECT rate_tokens(%s, %s, %s, %s)", *bucket) if limits.rate_limit else None


def ready_lanes() -> list[models.Lane]:
    return list(models.Lane.objects.filter(state="ready"))


def value(sql: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]


def flat(limits: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in limits.items() if key != "rate"} | limits["rate"]


@pytest.mark.timeout(1800)
@given(data=st.data())
@settings(max_examples=sized(60, thorough=2000), deadline=None, derandomize=True)
def test_the_claim_takes_what_allocation_predicts_in_this_order(data):
    with transaction.atomic():
        installation = Installation()
        owners = data.draw(st.lists(tenants, min_size=1, max_size=5), "tenants")
        installation.begin(owners, data.draw(st.lists(queues, min_size=1, max_size=3), "queues"))
        for step in range(data.draw(st.integers(1, 4), "passes")):
            installation.submit(data.draw(works, f"work {step}"))
            installation.end(data.draw(st.integers(0, 10), f"ends {step}"))
            installation.now += timedelta(seconds=data.draw(times, f"seconds {step}"))
            installation.fold()
            if data.draw(st.booleans(), f"stir {step}"):
                installation.stir(lambda: data.draw(times))
            processes = {pool: data.draw(st.integers(0, 20), pool) for pool in POOLS}
            predicted = installation.predict(processes)
            assert installation.claim(processes) == predicted
            assert installation.reasons_of_looks() == installation.reasons_of_explain()
        transaction.set_rollback(True)
