"""`Idempotency-Key`: the same request gets the same answer, and is done once; whatever became of the job meanwhile."""

import json
from concurrent.futures import wait
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from jobs.api import api
from jobs.engine.upkeep import prune
from jobs.engine.webhooks import endpoints
from jobs.lifecycle import Status
from jobs.models import Job, KeptAnswer, WebhookEndpoint
from jobs.store import answers
from tests.callers import caller_with_key
from tests.clock import call_at
from tests.factories import TenantFactory, make_job

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


def test_a_verb_that_is_repeated_is_done_once(owner, tenant, subtests):
    """Its answer was lost; meanwhile the job has run, and failed again."""
    job = make_job(tenant, Status.ERROR)
    endpoint, _ = endpoints.add(tenant, "https://example.com/hook")
    batch = owner.post("/api/v1/batches", {"name": "a", "close": False}, content_type="application/json").json()["id"]
    for path in (
        f"jobs/{job.pk}/revive",
        f"jobs/{job.pk}/cancel",
        f"batches/{batch}/close",
        f"batches/{batch}/revive",
        f"batches/{batch}/cancel",
        f"webhooks/{endpoint.pk}/switch-off",
        f"webhooks/{endpoint.pk}/switch-on",
        f"webhooks/{endpoint.pk}/try-now",
    ):
        with subtests.test(path):
            first = owner.post(f"/api/v1/{path}", headers={"Idempotency-Key": path})
            assert first.status_code in (200, 202)
            changes = list(LogEntry.objects.values_list("pk", flat=True))
            again = owner.post(f"/api/v1/{path}", headers={"Idempotency-Key": path})
            assert (again.status_code, again.content) == (first.status_code, first.content)
            assert list(LogEntry.objects.values_list("pk", flat=True)) == changes, "nothing was done"


def test_where_no_answer_is_kept_the_header_is_refused_and_nothing_done(owner, tenant):
    """Answers with a secret are not kept."""
    new = {"url": "https://example.com/hook"}
    for path in ("webhooks", f"webhooks/{endpoints.add(tenant, new['url'])[0].pk}/replace-secret"):
        refused = owner.post(f"/api/v1/{path}", new, content_type="application/json", headers={"Idempotency-Key": "a"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "Idempotency-Key")
    assert WebhookEndpoint.objects.get().former_salt == ""


def test_each_post_says_whether_it_knows_the_header(subtests):
    """Of the tenants' all do but those with a secret; an operator's POSTs may be repeated, and refuse it."""
    without = {"add_webhook", "replace_webhook_secret", "preview_rule"}
    for path, operations in api.get_openapi_schema()["paths"].items():
        if "post" in operations:
            with subtests.test(path):
                named = {one["name"] for one in operations["post"].get("parameters", ())}
                expected = "/operator/" not in path and operations["post"]["operationId"] not in without
                assert ("Idempotency-Key" in named) == expected


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
