"""One tenant cannot fill the disk: its backlog has a limit."""

import pytest
from django.db import transaction

from jobs import InvalidRequest, TooManyWaiting, cancel
from jobs.calls.arguments import digest
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.repairs import recount_all, recount_waiting
from jobs.engine.submitting.submit import submit, submit_all
from jobs.engine.upkeep.prune import forget_orphans
from jobs.engine.verbs import limits
from jobs.models import Arrival, Job, Lane, Sample, TenantBook
from jobs.recording.sample import record_sample
from jobs.store import EVERY_TENANT
from jobs.store.rows import rows
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory
from tests.sql import sql, value

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return TenantFactory(queue__max_waiting=3)


def test_a_tenant_may_have_so_many_jobs_waiting_and_no_more(tenant):
    submit_all([request_for(tenant, n) for n in range(3)])
    with pytest.raises(TooManyWaiting, match="3 jobs may wait"):
        submit(request_for(tenant, 4))
    assert Job.objects.count() == 3


def test_a_batch_is_refused_whole(tenant):
    with pytest.raises(TooManyWaiting):
        submit_all([request_for(tenant, n) for n in range(4)])
    assert Job.objects.count() == 0


def test_jobs_of_all_queues_and_those_due_later_count(tenant):
    QueueFactory(name="emails")
    submit(request_for(tenant, 1, queue="emails"))
    submit(request_for(tenant, 2, delay=60.0))
    submit(request_for(tenant, 3))
    with pytest.raises(TooManyWaiting):
        submit(request_for(tenant, 4))


def test_an_ended_job_does_not_count(tenant):
    first, *_ = submit_all([request_for(tenant, n) for n in range(3)])
    cancel(first.id, tenant_id=EVERY_TENANT)
    submit(request_for(tenant, 4))


def test_an_identical_call_gets_its_job_also_when_no_more_are_taken(tenant):
    key = digest("same")
    first = submit(request_for(tenant, 1, dedup_key=key))
    submit_all([request_for(tenant, n) for n in (2, 3)])
    again = submit(request_for(tenant, 1, dedup_key=key))
    assert (again.id, again.deduplicated) == (first.id, True)


def test_the_setting_holds_where_the_tenant_has_no_limit_of_its_own(settings):
    settings.JOBS_MAX_WAITING = 1
    tenant = TenantFactory()
    submit(request_for(tenant, 1))
    with pytest.raises(TooManyWaiting):
        submit(request_for(tenant, 2))


def test_another_tenant_is_not_refused(tenant):
    submit_all([request_for(tenant, n) for n in range(3)])
    assert submit(request_for(TenantFactory(), 1)).id


def test_a_full_backlog_is_not_invalid_input():
    assert not issubclass(TooManyWaiting, InvalidRequest)


def known(tenant, jobs: int) -> None:
    """What a lane is said to know, whatever waits in it; and nothing has arrived since."""
    dispatch()
    Arrival.objects.all().delete()
    Lane.objects.filter(tenant_id=tenant.pk).update(waiting=jobs)


@pytest.mark.django_db(transaction=True)
class TestTheCount:
    """The bound is held to what the lanes know: a dispatch adds what has arrived, and the clock counts anew."""

    @pytest.mark.parametrize("one_identity", [False, True])
    def test_a_submit_costs_the_same_however_many_wait(self, one_identity):
        tenant = TenantFactory(queue__num_slots=0)
        if one_identity:
            remember_one_identity(tenant)
        reads = []
        for backlog in (10, 20_000):
            submit_all([request_for(tenant, n) for n in range(backlog)])
            dispatch()
            sql("VACUUM jobs")
            reads.append(buffers_of_a_submit(tenant))
        assert reads[1] <= 1.2 * reads[0]

    def test_a_submit_costs_the_same_however_many_letters_no_dispatch_has_taken(self):
        tenant = TenantFactory(queue__num_slots=0)
        submit(request_for(tenant))
        reads = []
        for letters in (2_000, 20_000):
            numbers = range(Arrival.objects.count(), letters)
            Arrival.objects.bulk_create(Arrival(xid=2**40 + n, queue_id=1, tenant_id=0, jobs=1) for n in numbers)
            sql("ANALYZE arrivals")  # as autovacuum does, but perhaps when there is one letter
            reads.append(buffers_of_a_submit(tenant))
        assert reads[1] <= 1.2 * reads[0]

    def test_jobs_that_a_dispatch_has_seen_and_new_ones_both_count(self, tenant):
        submit_all([request_for(tenant, n) for n in range(2)])
        dispatch()
        submit(request_for(tenant, 3))
        with pytest.raises(TooManyWaiting):
            submit(request_for(tenant, 4))

    def test_a_count_that_is_too_high_is_put_right(self, tenant):
        submit(request_for(tenant, 1))
        known(tenant, 3)
        with pytest.raises(TooManyWaiting):
            submit(request_for(tenant, 2))
        assert recount_waiting() == 1
        submit_all([request_for(tenant, n) for n in (2, 3)])
        assert recount_waiting() == 0

    def test_a_count_that_is_too_low_is_put_right(self, tenant):
        QueueFactory(name="emails")
        submit_all([request_for(tenant, 1), request_for(tenant, 2, delay=60.0), request_for(tenant, 3, queue="emails")])
        known(tenant, 1)  # in each of two lanes
        assert recount_waiting() == 1
        with pytest.raises(TooManyWaiting):
            submit(request_for(tenant, 4))

    def test_jobs_that_are_being_submitted_are_counted_neither_twice_nor_too_early(self, tenant, elsewhere):
        submit_all([request_for(tenant, n) for n in range(2)])
        dispatch()
        with transaction.atomic():
            submit(request_for(tenant, 3))
            assert elsewhere(recount_waiting).result() == 0
        assert recount_waiting() == 0
        dispatch()
        assert recount_waiting() == 0

    def test_every_hour_all_counts_are_put_right(self):
        tenant = TenantFactory(queue__max_waiting=100)
        submit(request_for(tenant, 1))
        known(tenant, 7)
        assert recount_waiting() == 0
        recount_all()
        dispatch()
        assert Lane.objects.get().waiting == 1

    def test_the_books_of_a_deleted_tenant_go_and_show_in_no_sample(self, tenant, register):
        register()
        limited = TenantFactory(queue__rate_limit=1, queue__rate_window=60.0, queue__paused=True)
        submit_all([request_for(limited, n) for n in range(3)])
        limits.change(limited.jobs_queue, {"paused": False})
        assert TenantBook.objects.exists()
        submit(request_for(tenant, 1))
        limited.delete()
        recount_all()
        forget_orphans()
        dispatch()
        record_sample()
        assert set(Lane.objects.values_list("tenant_id", flat=True)) == {tenant.pk}
        assert set(TenantBook.objects.values_list("tenant_id", flat=True)) == {tenant.pk}
        assert set(Sample.objects.get().tenants) == {str(tenant.pk)}

    def test_outside_the_door_no_lane_and_no_book_goes(self, tenant, register):
        register()
        limits.change(tenant.jobs_queue, {"rate_limit": 1, "rate_window": 60.0})
        submit_all([request_for(tenant, n) for n in range(2)])
        assert rows("forget_lanes", tenants=[tenant.pk]) == []
        assert Lane.objects.exists()
        assert TenantBook.objects.exists()

    def test_the_counts_of_others_stay(self, tenant):
        far = TenantFactory(queue__max_waiting=100)
        submit_all([request_for(far, n) for n in range(3)])
        known(far, 40)
        assert recount_waiting() == 0, "less than half: it is not worth a look"
        submit(request_for(tenant, 1))
        known(tenant, 3)
        recount_waiting()
        assert set(Arrival.objects.values_list("tenant_id", "jobs")) == {(tenant.pk, -2)}


def remember_one_identity(tenant) -> None:
    """Leave statistics of jobs that were identical and have ended: as if any would be found at once."""
    submit_all([request_for(tenant, n) for n in range(1000)])
    sql(
        "UPDATE jobs SET dedup_key = %s, status = 'cancelled', ready_at = NULL, end_time = now() WHERE id %% 2 = 0",
        [digest("same")],
    )
    sql("ANALYZE jobs")
    Job.objects.all().delete()


def buffers_of_a_submit(tenant) -> int:
    """Pages of tables and indexes that one submit looks at, by the plan that its connection keeps."""
    with transaction.atomic():
        for n in range(8):
            submit(request_for(tenant, n))
        transaction.set_rollback(True)
    with transaction.atomic():
        before = pages()
        submit(request_for(tenant))
        looked_at = pages() - before
        transaction.set_rollback(True)
    return looked_at


def pages() -> int:
    """So many of our tables were looked at by this transaction; autovacuum has the catalogues read anew at any time."""
    return value(
        "SELECT sum(pg_stat_get_xact_blocks_fetched(oid))::int FROM pg_class"
        " WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace"
    )
