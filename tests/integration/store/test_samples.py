"""Once a minute the recorder notes what is under way."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.lifecycle import Status
from jobs.models import Lane, Sample, Worker
from jobs.recording import record
from jobs.recording.sample import record_sample
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)


def lane(tenant, queue, waiting: int) -> None:
    where = {"tenant_id": tenant.pk, "queue_id": queue.pk, "version": 1, "position": 1}
    Lane.objects.create(**where, state="ready", virtual_time=0, head=0, waiting=waiting)


def test_a_sample_has_what_tenants_queues_and_pools_hold_and_what_waits(register):
    Worker.objects.filter(pk=register(concurrency=3, pool="heavy")).update(beat_at=NOON, beat_interval=60.0)
    busy, idle, waiter = TenantFactory(queue__num_slots=5), TenantFactory(), TenantFactory(queue=None)
    heavy, light = QueueFactory(name="heavy", pool="heavy"), QueueFactory()
    make_job(busy, Status.RUNNING, queue=heavy)
    make_job(busy, Status.QUEUED, queue=light)
    make_job(idle, Status.SUCCESS)
    lane(busy, heavy, 7), lane(waiter, heavy, 2), lane(idle, light, 0)
    call_at(NOON + timedelta(seconds=31), record_sample)
    sample = Sample.objects.get()
    assert sample.at == NOON
    assert sample.tenants == {
        str(busy.pk): {"in_use": 2, "slots": 5, "waiting": 7, "entitled": 60.0, "seconds": 60.0},
        str(waiter.pk): {"in_use": 0, "slots": 0, "waiting": 2, "entitled": 0.0, "seconds": 0.0},
    }
    assert sample.queues == {str(heavy.pk): {"in_use": 1, "waiting": 9}, str(light.pk): {"in_use": 1, "waiting": 0}}
    assert sample.pools == {
        "heavy": {"in_use": 1, "processes": 3, "may_run": 3},
        "default": {"in_use": 1, "processes": 0, "may_run": 0},
    }
    assert sample.states == {"waiting": 1, "no slots": 1}


def test_where_nothing_is_under_way_there_is_an_empty_sample():
    call_at(NOON, record_sample)
    sample = Sample.objects.get()
    assert sample.tenants == sample.queues == sample.states == {}
    assert sample.pools["default"] == {"in_use": 0, "processes": 0, "may_run": 0}
    assert sample.fairness is None


def test_there_is_one_sample_for_each_minute():
    for seconds in (0, 20, 59, 60):
        call_at(NOON + timedelta(seconds=seconds), record_sample)
    assert list(Sample.objects.order_by("at").values_list("at", flat=True)) == [NOON, NOON + timedelta(minutes=1)]


def test_old_samples_are_forgotten():
    for days in (0, 1):
        call_at(NOON + timedelta(days=days), record_sample)
    record.forget_old(NOON + record.SAMPLES_KEPT + timedelta(hours=1))
    assert [sample.at for sample in Sample.objects.all()] == [NOON + timedelta(days=1)]
