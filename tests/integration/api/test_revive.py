"""POST /api/v1/jobs/{id}/revive: another go for what ended badly, and for nothing else."""

import pytest

from jobs.lifecycle import Status
from jobs.models import Job
from tests.factories import make_job

pytestmark = pytest.mark.django_db
BAD = {Status.ERROR, Status.DEAD, Status.CANCELLED}


def revive(caller, job_id):
    return caller.post(f"/api/v1/jobs/{job_id}/revive")


@pytest.mark.parametrize("status", sorted(BAD))
@pytest.mark.parametrize("who", ["owner", "mate"])
def test_a_job_that_ended_badly_begins_a_new_series(request, tenant, status, who):
    job = make_job(tenant, status, retries=3, crashes=1, attempt=4)
    response = revive(request.getfixturevalue(who), job.pk)
    assert response.status_code == 202
    story = {"status": "created", "retries": 0, "crashes": 0, "attempt": 4, "end_time": None}
    assert response.json().items() >= story.items()


@pytest.mark.parametrize("status", sorted(set(Status) - BAD))
def test_any_other_is_left_alone(owner, tenant, status):
    job = make_job(tenant, status)
    before = Job.objects.values().get(pk=job.pk)
    response = revive(owner, job.pk)
    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    assert status in response.json()["detail"]
    assert Job.objects.values().get(pk=job.pk) == before


def test_reviving_twice_is_a_conflict_the_second_time(owner, tenant):
    job = make_job(tenant, Status.DEAD)
    assert [revive(owner, job.pk).status_code for _ in range(2)] == [202, 409]


@pytest.mark.parametrize("status", [Status.DEAD, Status.SUCCESS])
def test_a_stranger_revives_nothing_and_learns_nothing(stranger, tenant, status):
    job = make_job(tenant, status)
    job_id = job.pk
    existing = revive(stranger, job_id)
    job.refresh_from_db()
    assert job.status == status
    job.delete()
    assert (existing.status_code, existing.content) == (404, revive(stranger, job_id).content)


@pytest.mark.parametrize("job_id", [0, 2**63, 10**40])
def test_a_job_that_cannot_be_is_not_found(owner, job_id):
    assert revive(owner, job_id).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_revived_job_starts_at_once(owner, tenant, register, sent):
    register()
    job = make_job(tenant, Status.ERROR)
    revive(owner, job.pk)
    assert [message.id for message in sent] == [job.pk]
