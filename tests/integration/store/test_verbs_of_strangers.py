"""No tenant sees, cancels or learns of another's job (I8)."""

import pytest

from jobs import cancel, revive, store
from jobs.engine.verbs.cancel import Cancellation
from jobs.lifecycle import FINAL, Status
from jobs.models import Job
from jobs.reading import queries
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = 2**31  # an id that no job has


@pytest.fixture
def stranger():
    other = TenantFactory()
    make_job(other)
    return other


class TestCancel:
    @pytest.mark.parametrize("status", [Status.SCHEDULED, Status.CREATED, Status.QUEUED])
    def test_its_owner_cancels_a_job_that_has_not_started(self, status, tenant):
        job = make_job(tenant, status)
        assert cancel(job.pk, tenant_id=tenant.pk) == Cancellation.CANCELLED
        assert Job.objects.get(pk=job.pk).status == "cancelled"

    def test_its_owner_asks_a_running_job_to_stop(self, tenant):
        job = make_job(tenant, Status.RUNNING)
        assert cancel(job.pk, tenant_id=tenant.pk) == Cancellation.REQUESTED
        assert Job.objects.get(pk=job.pk).cancel_requested_at is not None

    @pytest.mark.parametrize("status", sorted(FINAL))
    def test_for_a_job_that_has_ended_it_is_too_late(self, status, tenant):
        assert cancel(make_job(tenant, status).pk, tenant_id=tenant.pk) == Cancellation.TOO_LATE

    @pytest.mark.parametrize("status", Status)
    def test_a_stranger_does_not_and_cannot_tell_it_from_none(self, status, tenant, stranger):
        job = make_job(tenant, status)
        before = Job.objects.values().get(pk=job.pk)
        assert cancel(job.pk, tenant_id=stranger.pk) == cancel(NOWHERE, tenant_id=stranger.pk) == Cancellation.TOO_LATE
        assert Job.objects.values().get(pk=job.pk) == before

    def test_an_operator_cancels_anybodys(self, tenant):
        assert cancel(make_job(tenant).pk, tenant_id=EVERY_TENANT) == Cancellation.CANCELLED

    def test_the_slot_of_a_cancelled_job_goes_to_the_next(self, register, sent):
        register()
        tenant = TenantFactory(queue__num_slots=1)
        job, waiting = make_job(tenant, Status.QUEUED), make_job(tenant)
        assert cancel(job.pk, tenant_id=tenant.pk) == Cancellation.CANCELLED
        assert [message.id for message in sent] == [waiting.pk]

    def test_the_message_of_a_cancelled_job_starts_nothing(self, tenant, register):
        job = make_job(tenant, Status.QUEUED)
        cancel(job.pk, tenant_id=tenant.pk)
        assert store.start(job.pk, job.attempt, store.Seat.here(register())) is None

    def test_a_job_cancelled_twice_is_cancelled_once(self, tenant):
        job = make_job(tenant)
        assert [cancel(job.pk, tenant_id=tenant.pk), cancel(job.pk, tenant_id=tenant.pk)] == [
            Cancellation.CANCELLED,
            Cancellation.TOO_LATE,
        ]


class TestRevive:
    @pytest.mark.parametrize("status", [Status.ERROR, Status.DEAD, Status.CANCELLED])
    def test_its_owner_gives_a_job_that_ended_badly_another_go(self, status, tenant):
        job = make_job(tenant, status)
        assert revive(job.pk, tenant_id=tenant.pk)
        assert Job.objects.get(pk=job.pk).status == "created"

    @pytest.mark.parametrize("status", Status)
    def test_a_stranger_does_not_and_cannot_tell_it_from_none(self, status, tenant, stranger):
        job = make_job(tenant, status)
        before = Job.objects.values().get(pk=job.pk)
        assert revive(job.pk, tenant_id=stranger.pk) is revive(NOWHERE, tenant_id=stranger.pk) is False
        assert Job.objects.values().get(pk=job.pk) == before


class TestReads:
    def test_a_tenant_sees_its_own_jobs_newest_first(self, tenant, stranger):
        jobs = [make_job(tenant) for _ in range(3)]
        assert [job.pk for job in queries.jobs(tenant.pk)] == [job.pk for job in jobs[::-1]]

    def test_its_own_job_is_there_with_its_queue_in_one_query(self, tenant, django_assert_num_queries):
        job = make_job(tenant)
        with django_assert_num_queries(1):
            assert queries.job(tenant.pk, job.pk).queue.name == "default"
        assert queries.status(tenant.pk, job.pk) == "created"

    @pytest.mark.parametrize("read", [queries.job, queries.status])
    def test_a_strangers_job_is_as_one_that_does_not_exist(self, read, tenant, stranger):
        theirs = Job.objects.get(tenant=stranger)
        assert read(tenant.pk, theirs.pk) is read(tenant.pk, NOWHERE) is None

    @pytest.mark.parametrize("read", [queries.job, queries.status])
    @pytest.mark.parametrize("job_id", [0, -1, 2**63 - 1, 2**63, 10**30])
    def test_a_number_that_is_no_id_is_no_job(self, read, job_id, tenant):
        assert read(tenant.pk, job_id) is None
