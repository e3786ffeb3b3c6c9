"""What the benchmarks put straight into the tables is what the scheduler would have put there."""

import pytest

from benchmarks import POOL, fill, finishing, mix, steady
from jobs.models import Job, Queue
from jobs.recording.inspection import findings, look
from tenants.models import Tenant, TenantQueue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def one_beat_for_hours(settings, monkeypatch):
    """`register` changes both; here they come back."""
    settings.JOBS_BEAT_INTERVAL = 15.0
    monkeypatch.setenv("JOBS_BEAT_INTERVAL", "15")


def statuses() -> list[str]:
    return sorted(Job.objects.values_list("status", flat=True))


def test_jobs_that_were_filled_in_are_claimed_and_finished_one_by_one_and_in_bulk():
    tenants = fill.tenants(3, slots=4)
    fill.waiting(tenants, 12, users=2)
    fill.finished(tenants, 5)
    assert statuses() == ["created"] * 12 + ["success"] * 5
    first, *others = steady.claim_all(6)
    assert findings(look(), look()) == []
    finishing.finish(first)
    finishing.finish_all(others)
    assert statuses().count("success") == 5 + 1 + len(others)
    assert len(others) >= 5
    assert not Job.objects.filter(slot__isnull=False).exists()


def test_a_cost_is_measured_while_others_keep_their_slots():
    full = fill.tenants(3, slots=1)
    fill.waiting(full, 9)
    assert len(steady.claim_all(3)) == 3
    fill.waiting(fill.tenants(2, slots=10), 300)
    assert steady.cost(occupied=3) > 0
    assert Job.objects.filter(slot__isnull=False).values("tenant").distinct().count() == 3
    assert Tenant.objects.count() == 5


def test_the_mix_has_three_queues_in_two_pools_and_tenants_that_limit_their_users_or_have_a_rate():
    tenants = fill.tenants(5, slots=6)
    mix.prepare(tenants, slots=6)
    assert set(Queue.objects.values_list("name", "pool")) >= {
        ("default", POOL),
        (mix.SECOND, POOL),
        (mix.OTHER, mix.OTHER),
    }
    assert Queue.objects.get(name=mix.SECOND).rate_limit == mix.QUEUE_RATE
    limits = TenantQueue.objects.order_by("tenant_id").values_list("user_slots", "rate_limit")
    assert list(limits) == [(2, None), (None, mix.RATE), *[(None, None)] * 3]
