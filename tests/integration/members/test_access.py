"""Who may open the members' pages of jobs, and who may cancel: what nobody else learns."""

import re

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from jobs.lifecycle import Status
from jobs.models import Job
from tests.callers import browser_of, staff
from tests.factories import UserFactory, make_job
from tests.integration.members.reading import LIST, page

pytestmark = pytest.mark.django_db
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')


def test_an_anonymous_visitor_gets_the_login(job):
    for client in (Client(), Client(enforce_csrf_checks=True)):
        for path in (LIST, f"{LIST}{job.pk}/"):
            response = client.get(path)
            assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={path}")
    for wanted, then in ((LIST, LIST), ("//evil.example/", f"{LIST}{job.pk}/cancel")):  # an action cannot be asked for
        response = Client().post(f"{LIST}{job.pk}/cancel", {"next": wanted})
        assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={then}")
        assert [str(one) for one in get_messages(response.wsgi_request)] == [
            "You had been logged out: nothing was changed."
        ]
    assert Job.objects.get().status == "created"


def test_a_login_without_a_tenant_is_told_so_and_staff_sent_to_the_admin(job):
    nobody = browser_of(UserFactory())
    assert nobody.get(LIST).status_code == nobody.post(f"{LIST}{job.pk}/cancel").status_code == 403
    assert browser_of(staff()).get(LIST)["Location"] == "/admin/"
    assert browser_of(staff("view_job")).get(LIST)["Location"] == "/ops/"


def test_a_stranger_sees_no_job_and_gets_for_one_what_it_gets_for_none(foreign_mate, job, report):
    assert f"job-{job.pk}" not in page(foreign_mate)
    assert report.name not in page(foreign_mate)
    for method in (foreign_mate.get, foreign_mate.head):
        theirs, none = method(f"{LIST}{job.pk}/"), method(f"{LIST}{10**9}/")
        assert theirs.status_code == none.status_code == 404
        assert TOKEN.sub(b"", theirs.content) == TOKEN.sub(b"", none.content)
    assert foreign_mate.post(f"{LIST}{job.pk}/cancel").status_code == 404
    assert foreign_mate.post(f"{LIST}{10**9}/cancel").status_code == 404
    assert Job.objects.get().status == "created"


def test_a_stranger_runs_no_job_again_and_cannot_tell_it_from_none(foreign_mate, tenant):
    dead = make_job(tenant, Status.DEAD)
    theirs, none = (foreign_mate.post(f"{LIST}{pk}/run-again") for pk in (dead.pk, 10**9))
    assert theirs.status_code == none.status_code == 404
    assert TOKEN.sub(b"", theirs.content) == TOKEN.sub(b"", none.content)
    assert Client().post(f"{LIST}{dead.pk}/run-again").status_code == 302
    assert Job.objects.get().status == "dead"


@pytest.mark.parametrize("number", ["0", "9" * 19, "9" * 40])
def test_a_number_that_is_no_id_is_no_job(mate, number):
    assert mate.get(f"{LIST}{number}/").status_code == 404
    assert mate.post(f"{LIST}{number}/cancel").status_code == 404


def test_the_pages_only_answer_to_get_and_the_cancellation_only_to_a_post_with_its_token(mate, job):
    strict = browser_of(mate.user, enforce_csrf_checks=True)
    assert mate.post(LIST).status_code == mate.post(f"{LIST}{job.pk}/").status_code == 405
    for verb in ("cancel", "run-again"):
        assert mate.get(f"{LIST}{job.pk}/{verb}").status_code == 405
        assert strict.post(f"{LIST}{job.pk}/{verb}").status_code == 403
    assert Job.objects.get().status == "created"


def test_the_policy_needs_no_exception(mate, job):
    for path in (LIST, f"{LIST}{job.pk}/"):
        response = mate.get(path)
        policy, text = response["Content-Security-Policy"], response.content.decode()
        assert "unsafe" not in policy
        assert " style=" not in text and "<script>" not in text and " onclick=" not in text
        assert "//" not in text.replace("<!doctype", "")
        assert "no-store" in response["Cache-Control"]


def test_the_page_of_the_operators_stays_closed_to_members(mate):
    assert mate.get("/ops/").status_code == 404
