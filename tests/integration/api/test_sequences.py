"""Sequences over HTTP: what a tenant may name, what it reads, and what it finds."""

import json

import pytest

from jobs.engine.door.unblock import unblock
from jobs.lifecycle import Status
from jobs.models import Job
from tests.factories import make_job
from tests.sample import sequenced

pytestmark = pytest.mark.django_db
A = "acct-7"


@pytest.fixture
def post(report):
    def post(caller, method: str = "execute", **said):
        on = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": method}
        return caller.post("/api/v1/jobs", json.dumps(on | said), content_type="application/json")

    return post


def book(caller, **said):
    call = {"source_type": sequenced.__name__, "source_method": "book", "args": {"account": A}} | said
    return caller.post("/api/v1/jobs", json.dumps(call), content_type="application/json")


def refused(response, field: str) -> str:
    assert response.status_code == 422, response.content
    [error] = response.json()["errors"]
    assert error["field"] == field
    assert not Job.objects.exists()
    return error["message"]


def test_a_tenant_names_a_sequence_where_the_method_has_none(owner, post):
    first, second = (post(owner, sequence=A).json() for _ in range(2))
    assert (first["sequence"], first["status"], second["status"]) == (A, "blocked", "blocked")
    unblock()
    read = owner.get(f"/api/v1/jobs/{first['id']}").json()
    assert (read["sequence"], read["status"]) == (A, "created")
    reason = owner.get(f"/api/v1/jobs/{second['id']}/reason").json()
    assert reason["gate"] == "sequence"
    assert f"Waits for job {first['id']} (created), the one before it in the sequence acct-7." in reason["sentence"]


def test_a_tenant_changes_no_sequence_of_a_method(owner):
    assert "book says itself in which one it is" in refused(book(owner, sequence="acct-8"), "sequence")
    assert book(owner).json()["sequence"] == A


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"sequence": ""}, "sequence"),
        ({"sequence": "x" * 201}, "sequence"),
        ({"sequence": 7}, "sequence"),
        ({"sequence": "a\x00"}, "sequence"),
        ({"sequence": A, "delay": 5}, "sequence"),
        ({"sequence": A, "identical": "replace"}, "sequence"),
        ({"sequence": A, "dedup": True}, "dedup"),
    ],
)
def test_a_request_that_a_sequence_cannot_be_is_refused_by_its_field(owner, post, said, field):
    assert refused(post(owner, **said), field)


def test_many_in_one_request_are_in_the_order_of_the_list(owner, report):
    on = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
    jobs = {"jobs": [on | {"sequence": A}] * 3}
    made = owner.post("/api/v1/jobs/bulk", json.dumps(jobs), content_type="application/json").json()["jobs"]
    unblock()
    assert [Job.objects.get(pk=job["id"]).status for job in made] == ["created", "blocked", "blocked"]
    assert [job["id"] for job in made] == sorted(job["id"] for job in made)


def test_a_list_of_one_sequence_has_no_other_and_no_strangers(owner, stranger, tenant, foreign_report):
    mine = make_job(tenant, Status.SUCCESS, sequence=A)
    make_job(tenant, Status.SUCCESS, sequence="acct-8")
    theirs = make_job(foreign_report.tenant, Status.SUCCESS, sequence=A)
    for caller, job in ((owner, mine), (stranger, theirs)):
        assert [job["id"] for job in caller.get(f"/api/v1/jobs?sequence={A}").json()["jobs"]] == [job.pk]
