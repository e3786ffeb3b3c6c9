"""GET /api/v1/jobs/{id}/reason: what a job waits for, in words for its tenant."""

import pytest

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from tenants.models import TenantQueue
from tests.factories import make_job

pytestmark = pytest.mark.django_db


def reason_of(client, job_id: int):
    return client.get(f"/api/v1/jobs/{job_id}/reason")


def test_a_waiting_job_names_its_gate_and_its_place(owner, mate, tenant):
    TenantQueue.objects.update(num_slots=1)
    make_job(tenant, Status.RUNNING)
    make_job(tenant)
    job = make_job(tenant)
    for caller in (owner, mate):
        response = reason_of(caller, job.pk)
        assert (response.status_code, response.json()) == (
            200,
            {
                "gate": "slots_full",
                "sentence": "All of your slots are in use (1 of 1).",
                "place": 2,
                "opens_at": None,
            },
        )


@pytest.mark.parametrize("status", [Status.RUNNING, Status.SUCCESS, Status.DEAD])
def test_a_job_that_waits_no_more_has_no_place(owner, tenant, status):
    assert reason_of(owner, make_job(tenant, status).pk).json()["place"] is None


def test_a_job_of_a_paused_type_shows_no_date(owner, tenant):
    told = reason_of(owner, make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL).pk).json()
    assert (told["sentence"], told["opens_at"]) == ("Jobs of this kind are paused for now.", None)


def test_a_strangers_job_is_as_one_that_does_not_exist(stranger, tenant):
    job_id = make_job(tenant).pk
    existing, missing = reason_of(stranger, job_id), reason_of(stranger, 10**6)
    assert existing.status_code == missing.status_code == 404
    assert existing.content == missing.content
    assert reason_of(stranger, 2**70).status_code == 404


def test_a_job_that_gave_its_slot_back_says_that_it_goes_on_and_not_why(owner, tenant):
    job = make_job(tenant, Status.RUNNING, handed_back=3, handed_back_why="drain", cursor=7)
    assert reason_of(owner, job.pk).json()["sentence"] == "It is running. It goes on from where it stopped."
