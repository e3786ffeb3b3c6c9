"""Batches over HTTP: made, added to while they are open, followed, cancelled; and a stranger sees nothing of them."""

import json

import pytest

from jobs.engine.door.unblock import unblock
from jobs.lifecycle import Status
from jobs.models import Batch, Job
from tenants.models import Change

pytestmark = pytest.mark.django_db


def call(report, **fields):
    return {
        "source_type": "reports.datareport",
        "source_id": report.pk,
        "source_method": "execute",
        "dedup": False,
    } | fields


def post(caller, path, **document):
    return caller.post(f"/api/v1/batches{path}", json.dumps(document), content_type="application/json")


def refused(response, status, *fields) -> None:
    assert response.status_code == status, response.content
    assert [error["field"] for error in response.json()["errors"]] == list(fields)


@pytest.fixture
def made(owner, report):
    """Make a batch of two jobs, open or closed; its number."""

    def made(**fields) -> int:
        document = {"name": "nightly", "jobs": [call(report), call(report)], "on_end": call(report)} | fields
        response = post(owner, "", **document)
        assert response.status_code == 202, response.content
        return response.json()["id"]

    return made


def test_a_batch_is_made_with_its_jobs_and_callbacks(owner, mate, report, tenant):
    document = {"name": "nightly", "jobs": [call(report), call(report)], "on_success": call(report)}
    for caller, user in ((owner, ""), (mate, str(mate.user.pk))):
        response = post(caller, "", **document)
        assert response.status_code == 202
        batch = response.json()
        assert response["Location"] == f"/api/v1/batches/{batch['id']}"
        assert (batch["name"], batch["user"], batch["complete"], batch["share"]) == ("nightly", user, False, 0.0)
        assert (batch["total"], batch["waiting"]) == (2, 2)
        after = Job.objects.get(predecessors=[batch["id"]])
        assert (after.status, after.user_key) == ("blocked", user)
        assert owner.get(response["Location"]).json() == batch
        members = owner.get(f"/api/v1/jobs?batch={batch['id']}").json()["jobs"]
        assert {one["id"] for one in members} == set(
            Job.objects.filter(batch_id=batch["id"]).values_list("id", flat=True)
        )


def test_a_batch_grows_until_it_is_closed(owner, report, made):
    batch = made(close=False)
    assert post(owner, f"/{batch}/jobs", jobs=[call(report)]).json()["total"] == 3
    closed = post(owner, f"/{batch}/close")
    assert (closed.status_code, closed.json()["closed_at"] is None) == (200, False)
    assert post(owner, f"/{batch}/jobs", jobs=[call(report)]).status_code == 409
    assert post(owner, f"/{batch}/close").status_code == 409
    assert Job.objects.filter(batch_id=batch).count() == 3


def test_a_batch_is_cancelled(owner, made):
    batch = made()
    assert post(owner, f"/{batch}/cancel").status_code == 202
    unblock()
    told = owner.get(f"/api/v1/batches/{batch}").json()
    assert (told["cancelled"], told["complete"], told["share"]) == (2, True, 1.0)
    assert Job.objects.get(predecessors=[batch]).status == Status.CREATED


def test_failed_members_are_revived_unless_the_backlog_is_full(owner, tenant, made):
    batch = made()
    post(owner, f"/{batch}/cancel")
    for fits in (0, 1):
        tenant.jobs_queue.max_waiting = 1 + fits  # what waited for the end of the batch waits, too
        tenant.jobs_queue.save()
        assert post(owner, f"/{batch}/revive").status_code == 429
        assert Job.objects.filter(batch_id=batch, status="created").count() == fits, "those that fit"
        assert Change.objects.filter(verb="revived").count() == fits
    tenant.jobs_queue.max_waiting = 9
    tenant.jobs_queue.save()
    answer = post(owner, f"/{batch}/revive")
    assert (answer.status_code, set(Job.objects.filter(batch_id=batch).values_list("status", flat=True))) == (
        202,
        {"created"},
    )
    member = Job.objects.filter(batch_id=batch).first()
    assert owner.get(f"/api/v1/jobs/{member.pk}").json()["batch"] == batch


def test_an_empty_one_is_over_at_once(owner, report, made):
    batch = made(jobs=[])
    unblock()
    assert Job.objects.get(predecessors=[batch]).status == Status.CREATED
    assert owner.get(f"/api/v1/batches/{batch}").json()["complete"]


def test_batches_are_listed_newest_first_in_pages(owner, made):
    numbers = [made() for _ in range(3)]
    page = owner.get("/api/v1/batches?limit=2").json()
    assert [one["id"] for one in page["batches"]] == numbers[:0:-1]
    page = owner.get(page["next"]).json()
    assert ([one["id"] for one in page["batches"]], page["next"]) == (numbers[:1], None)


def test_a_stranger_sees_no_batch_and_no_sign_of_it(stranger, foreign_report, made):
    batch = made(close=False)
    for number in (batch, batch + 1000):
        assert stranger.get(f"/api/v1/batches/{number}/events").status_code == 404
        for path in ("jobs", "close", "cancel", "revive"):
            document = {"jobs": [call(foreign_report)]} if path == "jobs" else {}
            assert post(stranger, f"/{number}/{path}", **document).status_code == 404
        assert stranger.get(f"/api/v1/batches/{number}").status_code == 404
        waits = call(foreign_report, after=[number])
        answer = stranger.post("/api/v1/jobs", json.dumps(waits), content_type="application/json")
        refused(answer, 422, "after")
    assert stranger.get("/api/v1/batches").json()["batches"] == []
    assert stranger.get(f"/api/v1/jobs?batch={batch}").json()["jobs"] == []
    assert Batch.objects.get().closed_at is None


def test_nonsense_is_refused_by_its_name_and_stores_nothing(owner, report, foreign_report):
    good = call(report)
    for document, field in (
        ({"jobs": [good]}, "name"),
        ({"name": "", "jobs": [good]}, "name"),
        ({"name": "x", "jobs": [good, call(report, source_method="delete")]}, "jobs[1].source_method"),
        ({"name": "x", "jobs": [good, call(foreign_report)]}, "jobs[1].source_id"),
        ({"name": "x", "jobs": [good], "on_end": call(report, args={"nonsense": 1})}, "on_end.args"),
        ({"name": "x", "jobs": [good], "on_success": call(report, queue="nowhere")}, "on_success.queue"),
        ({"name": "x", "jobs": [call(report, after=[10**9])]}, "jobs[0].after"),
        ({"name": "x", "more": 1}, "more"),
    ):
        refused(post(owner, "", **document), 422, field)
    assert owner.get("/api/v1/batches/99999999999999999999").status_code == 404
    assert not Job.objects.exists()
    assert not Batch.objects.exists()
