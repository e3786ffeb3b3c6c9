"""POST /api/v1/jobs/{id}/cancel: stops what has not started, and nothing else."""

import pytest

from jobs.lifecycle import FINAL, Status
from jobs.models import Job
from tests.factories import make_job

pytestmark = pytest.mark.django_db
CANCELLABLE = {Status.SCHEDULED, Status.CREATED, Status.QUEUED}


def cancel(caller, job_id):
    return caller.post(f"/api/v1/jobs/{job_id}/cancel")


@pytest.mark.parametrize("status", CANCELLABLE)
@pytest.mark.parametrize("who", ["owner", "mate"])
def test_a_job_that_has_not_started_is_cancelled(request, tenant, status, who):
    job = make_job(tenant, status)
    response = cancel(request.getfixturevalue(who), job.pk)
    assert response.status_code == 200
    assert response.json()["status"] == "cancelled"
    job.refresh_from_db()
    assert (job.status, job.slot) == ("cancelled", None)
    assert job.end_time is not None


@pytest.mark.parametrize("status", {Status.RUNNING} | FINAL)
def test_a_job_that_runs_or_has_ended_is_left_alone(owner, tenant, status):
    job = make_job(tenant, status)
    before = Job.objects.values().get(pk=job.pk)
    response = cancel(owner, job.pk)
    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    assert status in response.json()["detail"]
    assert Job.objects.values().get(pk=job.pk) == before


def test_cancelling_twice_is_a_conflict_the_second_time(owner, tenant):
    job = make_job(tenant)
    assert [cancel(owner, job.pk).status_code for _ in range(2)] == [200, 409]


@pytest.mark.parametrize("status", [Status.CREATED, Status.RUNNING])
def test_a_stranger_cancels_nothing_and_learns_nothing(stranger, tenant, status):
    job = make_job(tenant, status)
    job_id = job.pk
    existing = cancel(stranger, job_id)
    job.refresh_from_db()
    assert job.status == status
    job.delete()
    missing = cancel(stranger, job_id)
    assert (existing.status_code, existing.content) == (404, missing.content)


@pytest.mark.parametrize("job_id", [0, 2**63, 10**40])
def test_a_job_that_cannot_be_is_not_found(owner, job_id):
    assert cancel(owner, job_id).status_code == 404
