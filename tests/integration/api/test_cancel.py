"""POST /api/v1/jobs/{id}/cancel: stops what waits, asks what runs to stop, and comes too late for the rest."""

import pytest

from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, Job
from tenants.models import Change
from tests.factories import make_job

pytestmark = pytest.mark.django_db
CANCELLABLE = {Status.SCHEDULED, Status.CREATED, Status.QUEUED}


def cancel(caller, job_id):
    return caller.post(f"/api/v1/jobs/{job_id}/cancel")


@pytest.mark.parametrize("status", sorted(CANCELLABLE))
@pytest.mark.parametrize("who", ["owner", "mate"])
def test_a_job_that_has_not_started_is_cancelled(request, tenant, status, who):
    job = make_job(tenant, status)
    response = cancel(request.getfixturevalue(who), job.pk)
    assert response.status_code == 200
    assert response.json()["status"] == "cancelled"
    job.refresh_from_db()
    assert (job.status, job.slot) == ("cancelled", None)
    assert job.end_time is not None


def test_a_held_job_is_cancelled(owner, tenant):
    job = make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL)
    response = cancel(owner, job.pk)
    assert (response.status_code, response.json()["status"], response.json()["held"]) == (200, "cancelled", False)


@pytest.mark.parametrize("who", ["owner", "mate"])
def test_a_running_job_is_asked_to_stop_and_keeps_its_slot(request, tenant, who):
    job = make_job(tenant, Status.RUNNING)
    response = cancel(request.getfixturevalue(who), job.pk)
    assert response.status_code == 202
    assert response.json()["status"] == "running"
    assert Change.objects.get().verb == "asked to stop"
    assert response.json()["cancel_requested_at"] is not None
    job.refresh_from_db()
    assert (job.status, job.slot) == ("running", 1)


def test_asking_twice_keeps_the_moment_of_the_first_time(owner, tenant):
    job = make_job(tenant, Status.RUNNING)
    first, second = (cancel(owner, job.pk) for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["cancel_requested_at"] == second.json()["cancel_requested_at"]


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_job_that_has_ended_is_left_alone(owner, tenant, status):
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
    assert (job.status, job.cancel_requested_at) == (status, None)
    job.delete()
    missing = cancel(stranger, job_id)
    assert (existing.status_code, existing.content) == (404, missing.content)


@pytest.mark.parametrize("job_id", [0, 2**63, 10**40])
def test_a_job_that_cannot_be_is_not_found(owner, job_id):
    assert cancel(owner, job_id).status_code == 404
