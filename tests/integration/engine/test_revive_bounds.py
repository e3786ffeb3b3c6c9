"""A revival passes no bound, and no operator: by whichever way a job was ended and is revived."""

import pytest
from django.core.management import call_command

from jobs import TooManyWaiting, store
from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.revive import discard, revive
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.store import EVERY_TENANT
from tenants.models import TenantQueue
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


def ask(caller, job, verb="revive"):
    return caller.post(f"/api/v1/jobs/{job.pk}/{verb}")


def is_left(job):
    before = job.status
    job.refresh_from_db()
    return job.status == before


def test_a_job_that_an_operator_discarded_stays_so(owner, mate, tenant):
    job = make_job(tenant, Status.DEAD)
    assert discard(job.pk)
    job.refresh_from_db()
    for caller in (owner, mate):
        response = ask(caller, job)
        assert (response.status_code, response["Content-Type"]) == (409, PROBLEM)
        assert "operator" in response.json()["detail"]
    assert is_left(job)


@pytest.mark.parametrize("status", [Status.SCHEDULED, Status.CREATED, Status.QUEUED])
def test_a_job_that_an_operator_cancelled_stays_so(owner, tenant, status):
    job = make_job(tenant, status)
    assert cancel(job.pk, tenant_id=EVERY_TENANT) is Cancellation.CANCELLED
    assert ask(owner, job).status_code == 409
    call_command("jobs", "revive", str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.barred) == (Status.CREATED, False), "an operator may"


def test_a_job_that_an_operator_asked_to_stop_stays_so(owner, tenant):
    job = make_job(tenant, Status.RUNNING)
    assert cancel(job.pk, tenant_id=EVERY_TENANT) is Cancellation.REQUESTED
    assert cancel(job.pk, tenant_id=tenant.pk) is Cancellation.REQUESTED, "the tenant's own wish does not lift it"
    assert store.stop(job.pk, job.attempt)
    assert ask(owner, job).status_code == 409


@pytest.mark.parametrize("status", [Status.CREATED, Status.RUNNING])
def test_a_tenant_may_revive_a_job_that_it_cancelled(owner, tenant, status):
    job = make_job(tenant, status)
    assert ask(owner, job, "cancel").status_code in (200, 202)
    if status == Status.RUNNING:
        assert store.stop(job.pk, job.attempt)
    assert ask(owner, job).status_code == 202


def test_a_stranger_learns_nothing_of_what_an_operator_ended(stranger, tenant):
    job = make_job(tenant, Status.DEAD)
    discard(job.pk)
    barred = ask(stranger, job)
    job.delete()
    assert (barred.status_code, barred.content) == (404, ask(stranger, job).content if job.pk else barred.content)


def test_a_full_backlog_takes_no_revival_either(owner, stranger, tenant):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=1)
    jobs = [make_job(tenant, Status.ERROR) for _ in range(2)]
    assert ask(owner, jobs[0]).status_code == 202
    response = ask(owner, jobs[1])
    assert (response.status_code, response["Content-Type"]) == (429, PROBLEM)
    assert int(response["Retry-After"]) >= 1
    assert is_left(jobs[1])
    others = make_job(TenantFactory(), Status.ERROR)
    assert revive(others.pk, tenant_id=others.tenant_id), "another tenant's bound is its own"
    assert revive(jobs[1].pk, tenant_id=EVERY_TENANT), "an operator may"


def test_the_bound_of_nothing_refuses_everything(tenant):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=0)
    job = make_job(tenant, Status.DEAD)
    with pytest.raises(TooManyWaiting):
        revive(job.pk, tenant_id=tenant.pk)
    assert Job.objects.get(pk=job.pk).status == Status.DEAD


def test_an_operator_on_the_pages_revives_what_was_discarded(tenant, admin_client):
    job = make_job(tenant, Status.DEAD)
    discard(job.pk)
    admin_client.post("/ops/jobs/revive", {"ids": [job.pk]})
    job.refresh_from_db()
    assert job.status == Status.CREATED
