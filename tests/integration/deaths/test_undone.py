"""The dead: revived, discarded, or deleted after their time; and what is revived besides them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.engine.upkeep.prune import expire_dead
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import discard, revive
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, JobLog
from jobs.store import EVERY_TENANT
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = 2**31  # an id that no job has
REVIVED = {Status.ERROR, Status.DEAD, Status.CANCELLED}


@pytest.fixture
def tenant(register):
    register()
    return TenantFactory(queue__num_slots=5)


def job_in(tenant, status: Status, **fields) -> Job:
    if status == Status.DEAD:
        fields = {"died_at": timezone.now()} | fields
    return make_job(tenant, status, **{"attempt": 4, "retries": 3, "crashes": 2} | fields)


def row(job: Job) -> dict:
    return Job.objects.values().get(pk=job.pk)


class TestRevive:
    @pytest.mark.parametrize("status", sorted(set(Status) - REVIVED))
    def test_a_job_that_has_not_failed_is_not_revived(self, status):
        job = job_in(TenantFactory(), status)
        before = row(job)
        assert not revive(job.pk, tenant_id=EVERY_TENANT)
        assert row(job) == before

    @pytest.mark.parametrize("status", sorted(REVIVED))
    def test_a_failed_job_is_revived_and_runs_again_at_once(self, status, tenant, sent):
        job = job_in(tenant, status, last_error="ValueError: no", progress=0.7)
        assert revive(job.pk, tenant_id=EVERY_TENANT)
        job.refresh_from_db()
        assert [(message.id, message.attempt) for message in sent] == [(job.pk, 5)]
        assert (job.status, job.attempt, job.retries, job.crashes, job.progress) == ("queued", 5, 0, 0, None)
        assert (job.end_time, job.died_at, job.cancel_requested_at) == (None, None, None)

    def test_a_stranger_cannot_and_cannot_tell_it_from_none(self, tenant):
        stranger, job = TenantFactory(), job_in(tenant, Status.DEAD)
        before = row(job)
        assert revive(job.pk, tenant_id=stranger.pk) is revive(NOWHERE, tenant_id=stranger.pk) is False
        assert row(job) == before
        assert revive(job.pk, tenant_id=tenant.pk)

    def test_twice_is_once(self, tenant, sent):
        job = job_in(tenant, Status.DEAD)
        assert [revive(job.pk, tenant_id=EVERY_TENANT), revive(job.pk, tenant_id=EVERY_TENANT)] == [True, False]
        assert len(sent) == 1

    def test_while_an_identical_job_is_under_way_both_run(self, tenant):
        thing = ThingFactory(tenant=tenant)
        first = thing.async_.echo("same")
        cancel(first, tenant_id=EVERY_TENANT)
        second = thing.async_.echo("same")
        assert second != first
        assert revive(first, tenant_id=EVERY_TENANT)
        assert set(Job.objects.filter(status="queued").values_list("pk", flat=True)) == {first, second}
        assert thing.async_.echo("same") == second

    def test_a_job_that_was_asked_to_stop_once_is_not_stopped_in_its_new_series(self, tenant):
        job = job_in(tenant, Status.RUNNING, cancel_requested_at=timezone.now())
        store.stop(job.pk, 4)
        revive(job.pk, tenant_id=EVERY_TENANT)
        assert call_at(timezone.now() + timedelta(days=1), store.running_here, job.worker, 0) == []
        assert Job.objects.get(pk=job.pk).cancel_requested_at is None


class TestDiscard:
    @pytest.mark.parametrize("status", Status)
    def test_only_a_dead_job_is_discarded(self, status, tenant):
        job = job_in(tenant, status)
        before = row(job)
        assert discard(job.pk) == (status == Status.DEAD)
        if status != Status.DEAD:
            assert row(job) == before
            return
        assert row(job) == before | {"status": "cancelled", "died_at": None, "barred": True}

    def test_a_discarded_job_is_kept_and_never_expires(self, tenant):
        job = job_in(tenant, Status.DEAD)
        discard(job.pk)
        assert call_at(timezone.now() + timedelta(days=999), store.expire_dead, 0) == []
        assert Job.objects.filter(pk=job.pk).exists()


class TestExpiry:
    TTL = 3600.0

    def test_a_dead_job_is_deleted_when_its_time_is_over_and_not_before(self, tenant):
        job = job_in(tenant, Status.DEAD)
        FailedAttempt.objects.create(job=job, attempt=4, error_class="ValueError", error="no", end_time=timezone.now())
        JobLog.objects.create(tenant=tenant, job_id=job.pk, attempt=4, text="said")
        over = job.died_at + timedelta(seconds=self.TTL)
        assert call_at(over, store.expire_dead, self.TTL) == []
        assert [e.id for e in call_at(over + timedelta(microseconds=1), store.expire_dead, self.TTL)] == [job.pk]
        for model in (Job, FailedAttempt, JobLog):
            assert not model.objects.exists()

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.DEAD}))
    def test_a_job_that_is_not_dead_stays(self, status, tenant):
        job_in(tenant, status)
        assert call_at(timezone.now() + timedelta(days=999), store.expire_dead, 0) == []

    def test_a_dead_job_that_was_revived_in_time_stays(self, tenant):
        job = job_in(tenant, Status.DEAD)
        revive(job.pk, tenant_id=EVERY_TENANT)
        assert call_at(timezone.now() + timedelta(days=999), store.expire_dead, 0) == []

    def test_many_go_in_batches_the_longest_dead_first(self, tenant):
        now = timezone.now()
        dead = [job_in(tenant, Status.DEAD, died_at=now - timedelta(hours=n)) for n in range(5)]
        first = call_at(now + timedelta(hours=1), store.expire_dead, 0, batch=2)
        assert {expired.id for expired in first} == {dead[4].pk, dead[3].pk}

    def test_the_clock_deletes_all_of_them_after_the_setting(self, tenant, settings):
        settings.JOBS_DEAD_TTL = 3600
        young = job_in(tenant, Status.DEAD, died_at=timezone.now() - timedelta(minutes=50))
        for _ in range(3):
            job_in(tenant, Status.DEAD, died_at=timezone.now() - timedelta(minutes=70))
        assert expire_dead() == 3
        assert Job.objects.get() == young
