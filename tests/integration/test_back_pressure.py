"""One tenant cannot fill the disk: its backlog has a limit."""

import pytest

from jobs import InvalidRequest, TooManyWaiting
from jobs.engine.submit import submit, submit_all
from jobs.models import Job
from jobs.request import digest
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory

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


def test_what_has_ended_does_not_count(tenant):
    submit_all([request_for(tenant, n) for n in range(3)])
    Job.objects.filter(source_id="0").update(status="cancelled", ready_at=None, end_time="2030-01-01T00:00Z")
    submit(request_for(tenant, 4))


def test_whoever_asks_for_a_job_that_is_there_gets_it_also_when_no_more_are_taken(tenant):
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


def test_it_is_not_bad_input():
    assert not issubclass(TooManyWaiting, InvalidRequest)
