"""Signed links: who has one tells its event, once, by a button or a POST; a GET changes nothing."""

import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs import InvalidRequest, async_, events
from jobs.contrib.testing import drain
from jobs.models import Job, JobEvent
from tests.clock import call_at
from tests.factories import status
from tests.sample.asking import ship

pytestmark = pytest.mark.django_db
NAME = "approved:42"


@pytest.fixture
def waiting(tenant) -> int:
    job_id = async_(ship, tenant=tenant)(order="42")
    drain()
    return job_id


def test_a_person_without_a_login_answers_by_a_button_and_the_first_answer_counts(tenant, waiting, caplog):
    caplog.set_level("INFO", "jobs")
    visitor = Client(enforce_csrf_checks=True)
    yes = events.link(tenant, NAME, seconds=60, payload="yes", button="Approve <b>")
    no = events.link(tenant, NAME, seconds=60, payload="no", button="Refuse")
    for look in (visitor.get, visitor.head):  # a program that reads mails
        page = look(yes)
        assert (page.status_code, page["Cache-Control"]) == (200, "private, no-store")
    page = visitor.get(yes).content.decode()
    assert "<button>Approve &lt;b&gt;</button>" in page
    assert f"Owner &amp; Co. waits for your answer: <strong>{NAME}</strong>" in page
    assert not JobEvent.objects.exists()
    told = visitor.post(yes)
    assert (told.status_code, "Thank you" in told.content.decode()) == (201, True)
    assert [visitor.post(one).status_code for one in (yes, no)] == [409, 409]
    assert "/jobs/events/-/" in caplog.text
    assert yes not in caplog.text, "who reads the log could answer"
    drain()
    assert Job.objects.get(pk=waiting).event["payload"] == "yes"


def test_a_program_posts_json_which_is_the_payload_unless_the_link_has_one(tenant, waiting):
    partner, link = Client(), events.link(tenant, NAME, seconds=60)
    for body, code, said in (("{", 400, "body: must be JSON"), ('"' + "x" * 16_384 + '"', 413, "at most 16,384 bytes")):
        refused = partner.post(link, body, content_type="application/json")
        assert (refused.status_code, said in refused.json()["detail"]) == (code, True)
    answer = partner.post(link, {"id": 7}, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (201, "application/json")
    drain()
    assert Job.objects.get(pk=waiting).event["payload"] == {"id": 7}
    fixed = events.link(tenant, "paid", seconds=60, payload=0)
    assert partner.post(fixed, {"id": 8}, content_type="application/json").status_code == 201
    assert JobEvent.objects.get(name="paid").payload == 0


def test_a_link_ends_and_works_once_and_none_can_be_made_up(tenant, settings):
    visitor, now = Client(), time.time()
    link = events.link(tenant, NAME, seconds=10 * 86_400)
    assert visitor.post(link[:-3] + "xx/").status_code == visitor.get(link[:-3] + "xx/").status_code == 404
    assert visitor.post(link).status_code == 201
    kept = JobEvent.objects.get()
    assert kept.kept_until.timestamp() == pytest.approx(now + 10 * 86_400, abs=60), "longer than JOBS_EVENT_TTL"
    assert not events.tell(tenant, NAME)
    old = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "x" * 60, [old]
    assert visitor.get(link).status_code == 200, "a changed secret"
    ended = call_at(timezone.now() + timedelta(days=10, seconds=2), visitor.post, link)
    assert (ended.status_code, "Too late" in ended.content.decode()) == (410, True)
    tenant.delete()
    assert visitor.get(link).status_code == 410


def test_a_wrong_link_is_refused_where_it_is_made(tenant, waiting):
    for wrong, field in (
        ({"seconds": 0}, "seconds"),
        ({"seconds": 60, "payload": "x" * 1024}, "payload"),
        ({"seconds": 60, "button": ""}, "button"),
        ({"seconds": 60, "button": "x" * 41}, "button"),
    ):
        with pytest.raises(InvalidRequest) as refused:
            events.link(tenant, NAME, **wrong)
        assert refused.value.field == field
    assert status(waiting) == "blocked"
    assert Job.objects.get(pk=waiting).expires_at > timezone.now()
