"""What a replay says of more seats, beside what a real light worker with more seats then does."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import async_
from jobs.insight.what_if import Question, answer_document
from jobs.models import Attempt, Job, Pool, PoolChange, Queue
from tenants.models import Tenant
from tests.factories import TenantFactory
from tests.sample import light
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("how near a replay comes to a real light pool; test_replay.py has its rules"),
]
FEW, MORE = 4, 12  # seats
BODY = 0.5  # seconds
JOBS = {"narrow": 10, "wide": 40}  # by tenant
MINUTE = timedelta(minutes=1)


@pytest.fixture
def tenants() -> dict[str, Tenant]:
    return {slug: TenantFactory(slug=slug, queue__num_slots=slots) for slug, slots in (("narrow", 2), ("wide", 20))}


def run_all(start_worker, tenants: dict[str, Tenant], seats: int) -> dict[str, float]:
    """Let a worker with so many seats run the jobs of all tenants; the mean waits."""
    Pool.objects.update_or_create(name="light", defaults={"kind": "light", "seats": seats})
    worker = start_worker("light", 1)
    noted = PoolChange.objects.filter(pool="light", processes=1, seats=seats, at__gte=timezone.now() - MINUTE)
    wait_until(noted.exists, "the recorder notes the seats")
    since = timezone.now()
    for slug, jobs in JOBS.items():
        for _ in range(jobs):
            async_(light.wait, tenant=tenants[slug])(seconds=BODY)
    wait_until(lambda: not Job.objects.exclude(status="success").exists(), "all have ended")
    worker.stop()
    waits: dict[str, list[float]] = {slug: [] for slug in tenants}
    for attempt in Attempt.objects.filter(waited_since__gte=since):
        (slug,) = (slug for slug, tenant in tenants.items() if tenant.pk == attempt.tenant_id)
        waits[slug].append((attempt.start_time - attempt.waited_since).total_seconds())
    assert {slug: len(found) for slug, found in waits.items()} == JOBS
    return {slug: sum(found) / len(found) for slug, found in waits.items()}


def test_a_replay_of_few_seats_tells_what_more_seats_do(start_worker, tenants):
    Queue.objects.create(name=light.QUEUE, pool="light")
    begun = timezone.now()
    before = run_all(start_worker, tenants, FEW)
    question = Question(begun, timezone.now(), {"pools": {"light": {"seats": MORE}}})
    answer = answer_document(question)
    after = run_all(start_worker, tenants, MORE)
    assert answer["knows"], answer["told"]
    [wide] = [line for line in answer["lines"] if line["tenant"] == "wide"]
    assert wide["recorded"]["mean"] == pytest.approx(before["wide"], rel=0.05)
    off, nothing_changes = abs(wide["changed"]["mean"] - after["wide"]), before["wide"] - after["wide"]
    assert off < nothing_changes / 3
