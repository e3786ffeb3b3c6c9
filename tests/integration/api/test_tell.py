"""Events over HTTP: a tenant tells its own, by a key or a session; those of a stranger open nothing."""

import pytest

from jobs import async_
from jobs.contrib.testing import drain
from jobs.models import Job, JobEvent
from tenants.models import Change, Tenant
from tests.factories import status
from tests.sample.asking import ship

pytestmark = pytest.mark.django_db
URL, NAME = "/api/v1/events", "approved:42"


def test_an_event_opens_the_jobs_of_its_tenant_alone_and_comes_once(owner, mate, stranger, tenant):
    job_id = async_(ship, tenant=tenant)(order="42")
    drain()
    said = owner.get(f"/api/v1/jobs/{job_id}/reason").json()
    assert (said["gate"], said["sentence"].startswith(f"Waits for the event {NAME} until ")) == ("event", True)
    theirs = stranger.post(URL, {"name": NAME, "payload": "evil"}, content_type="application/json")
    assert theirs.status_code == 201
    drain()
    assert status(job_id) == "blocked"
    told = owner.post(URL, {"name": NAME, "payload": {"by": "ada"}}, content_type="application/json")
    assert (told.status_code, told.json()) == (201, {"name": NAME, "payload": {"by": "ada"}})
    again = mate.post(URL, {"name": NAME}, content_type="application/json")
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "An event of this name has come already. Its payload stays.",
    )
    drain()
    assert Job.objects.get(pk=job_id).event["payload"] == {"by": "ada"}
    [entry] = Change.objects.filter(tenant_id=tenant.pk, verb="told")
    assert (entry.kind, entry.subject, bool(entry.key)) == ("jobs.jobevent", NAME, True)


def test_a_repeated_request_with_its_key_gets_its_first_answer_and_one_too_many_is_refused(owner, stranger, settings):
    sent = [
        owner.post(URL, {"name": NAME}, content_type="application/json", headers={"Idempotency-Key": "7"})
        for _ in range(2)
    ]
    assert [one.status_code for one in sent] == [201, 201]
    assert JobEvent.objects.count() == 1
    settings.JOBS_MAX_EVENTS = 1
    answers = [one.post(URL, {"name": "paid"}, content_type="application/json") for one in (owner, stranger)]
    assert [one.status_code for one in answers] == [422, 201]
    assert answers[0].json()["errors"][0]["message"].startswith("is one too many: 1 events")


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"name": ""}, 422, "name"),
        ({"name": "x" * 201}, 422, "name"),
        ({"name": "a\x00"}, 422, "name"),
        ({"payload": 1}, 422, "name"),
        ({"name": NAME, "payload": "x" * 16_384}, 413, "payload"),
        ({"name": NAME, "to": 1}, 422, "to"),
    ],
)
def test_a_wrong_event_is_refused_with_the_name_of_the_field(owner, body, code, field):
    answer = owner.post(URL, body, content_type="application/json")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (code, field)
    assert not JobEvent.objects.exists()
    assert Tenant.objects.exists()
