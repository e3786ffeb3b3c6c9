"""What waits for what: the pages, which count over lanes, say the same as `explain`, which looks at one job."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models import Count, Min
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import models, store
from jobs.allocation.gates import Gate
from jobs.models import QueueTurn
from jobs.reading import looking, waits
from jobs.reading.explain import reads
from jobs.reading.explain.gates import closed
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import TenantFactory, finish
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
        "queue_slots": st.sampled_from([{}, {}, {"q0": 1}, {"q0": 3, "q1": 2}]),
        "paused": st.sampled_from([False, False, False, True]),
        "rate": rates,
    }
)
queues = st.fixed_dictionaries(
    {
        "concurrency": st.sampled_from([None, None, 1, 3, 8]),
        "tenant_slots": st.sampled_from([None, None, 1, 2, 5]),
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
            finish(job, WORKER)
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
        assert not call_at(self.now, store.claim_within)

    def claim(self, processes: dict[str, int]) -> None:
        for pool, number in processes.items():
            if number:
                models.Worker.objects.create(
                    id=uuid4(), name=pool, pid=1, pool=pool, concurrency=number, beat_interval=1e9
                )
        self.running += call_at(self.now, store.claim_within)

    def reasons_of_looks(self) -> Counter[Gate]:
        """The waiting jobs by gate, as the pages count them."""
        with patch.object(looking, "MAX_COUNTED", 10_000):
            lanes = call_at(self.now, looking.look_lanes)
        return Counter(dict(waits.by_gate(waits.cuts(lanes, call_at(self.now, looking.look_queues)))))

    def reasons_of_explain(self) -> Counter[Gate]:
        """The same, asked of one job of each user of each lane: others of the same user wait for the same."""
        found: Counter[Gate] = Counter()
        waiting = models.Job.objects.filter(status="created").order_by().values("tenant_id", "queue_id", "user_key")
        for alike in waiting.annotate(first=Min("pk"), jobs=Count("pk")):
            facts = call_at(self.now, reads.facts, alike["first"], tenant_id=alike["tenant_id"])
            found[next((blocker.gate for blocker in closed(facts)), Gate.NEXT)] += alike["jobs"]
        return found


def flat(limits: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in limits.items() if key != "rate"} | limits["rate"]


@pytest.mark.timeout(1800)
@given(data=st.data())
@settings(max_examples=sized(40, thorough=2000), deadline=None, derandomize=True)
def test_pages_and_explain_give_the_same_reasons_for_whatever_waits(data):
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
            installation.claim(processes)
            assert installation.reasons_of_looks() == installation.reasons_of_explain()
        transaction.set_rollback(True)
