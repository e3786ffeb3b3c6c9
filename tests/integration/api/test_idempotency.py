"""`Idempotency-Key`: the same request gets the same answer, and is done once; whatever became of the job meanwhile."""

import json
from concurrent.futures import wait
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.engine import prune
from jobs.lifecycle import Status
from jobs.models import Job, KeptAnswer
from jobs.store import answers
from tests.callers import caller_with_key
from tests.clock import call_at
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(report):
    def post(caller, key, path="/api/v1/jobs", source=report, **said):
        call = {"source_type": "reports.datareport", "source_id": source.pk, "source_method": "execute"} | said
        body = {"jobs": [call, call | {"dedup": False}]} if path.endswith("bulk") else call
        headers = {"Idempotency-Key": key} if key is not None else {}
        return caller.post(path, json.dumps(body), content_type="application/json", headers=headers)

    return post


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/jobs/bulk"])
def test_the_same_key_and_body_get_the_same_answer_although_the_job_has_ended(owner, post, path):
    first = post(owner, "abc", path)
    Job.objects.all().delete()  # dedup finds nothing any more
    again = post(owner, "abc", path)
    assert (first.status_code, again.status_code) == (202, 202)
    assert (again.content, again.get("Location")) == (first.content, first.get("Location"))
    assert again["Content-Type"] == first["Content-Type"]
    assert not Job.objects.exists()


def test_another_body_or_address_is_refused_by_the_headers_name(owner, post):
    assert post(owner, "abc").status_code == 202
    for response in (post(owner, "abc", priority=1), post(owner, "abc", "/api/v1/jobs/bulk")):
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "Idempotency-Key"
    assert Job.objects.count() == 1


def test_two_keys_are_two_jobs_and_none_is_as_ever(owner, post):
    posts = [post(owner, key, dedup=False) for key in ("a", "b", None, None)]
    assert len({response.json()["id"] for response in posts}) == 4


def test_a_strangers_key_of_the_same_name_is_its_own(owner, stranger, post, foreign_report):
    mine = post(owner, "abc")
    theirs = post(stranger, "abc", source=foreign_report)
    assert theirs.status_code == 202
    assert theirs.json()["id"] != mine.json()["id"]
    assert post(stranger, "abc").status_code == 422, "told of its own key, not of the owner's answer"


def test_a_mate_is_not_given_the_answer_to_a_program(owner, mate, post):
    assert post(owner, "abc").status_code == 202
    assert post(mate, "abc").status_code == 422


def test_a_refusal_is_not_kept(owner, post):
    assert post(owner, "abc", priority=99).status_code == 422
    assert post(owner, "abc", queue="nonsense").status_code == 422
    assert not KeptAnswer.objects.exists()
    assert post(owner, "abc").status_code == 202


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a b", "ü"])
def test_a_key_that_cannot_be_kept_is_refused(owner, post, key):
    response = post(owner, key)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "Idempotency-Key")


def test_after_a_day_it_is_a_new_request(owner, tenant, post):
    first = post(owner, "abc", dedup=False)
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=23, minutes=59))
    assert post(owner, "abc", dedup=False).json()["id"] == first.json()["id"]
    KeptAnswer.objects.update(created_at=timezone.now() - timedelta(hours=24, minutes=1))
    assert post(owner, "abc", dedup=False).json()["id"] != first.json()["id"]


def test_answers_that_are_too_old_are_deleted_although_nobody_asks(monkeypatch):
    monkeypatch.setattr(prune, "BATCH", 2)
    tenant, now = TenantFactory(), timezone.now()
    for number, hours in enumerate((25, 25, 25, 1)):
        assert call_at(now - timedelta(hours=hours), answers.reserve, tenant.pk, str(number), "x")
    call_at(now, prune.prune)
    assert KeptAnswer.objects.get().key == "3"


@pytest.mark.django_db(transaction=True)
def test_many_at_once_are_one(tenant, report, post, elsewhere):
    def ask():
        return post(caller_with_key(tenant), "abc", dedup=False)

    asked = [elsewhere(ask) for _ in range(8)]
    wait(asked)
    responses = [one.result() for one in asked]
    assert {response.status_code for response in responses} == {202}
    assert len({response.content for response in responses}) == 1
    assert Job.objects.get().status == Status.CREATED
