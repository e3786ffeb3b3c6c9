"""Gathered calls over HTTP: whose calls come together, and how each is answered."""

import json

import pytest
from django.db import transaction

from jobs import async_
from jobs.models import Job
from tests.sample.gathered import index

CALL = {"source_type": "tests.sample.gathered", "source_method": "index"}
REFRESH = {"source_type": "reports.datareport", "source_method": "refresh_all"}  # gathers nothing


def post(caller, *calls, path="jobs", key=None, **said):
    body = CALL | {"args": {"calls": list(calls)}} | said
    headers = {"Idempotency-Key": key} if key else {}
    return caller.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers)


@pytest.mark.django_db
class TestGathered:
    def test_a_further_call_is_answered_with_the_job_that_has_it_and_a_stranger_with_its_own(self, owner, stranger):
        first, second, foreign = post(owner, 1), post(owner, 2), post(stranger, "x")
        assert (first.status_code, second.status_code, foreign.status_code) == (202, 200, 202)
        job = second.json()
        assert (job["id"], job["deduplicated"]) == (first.json()["id"], True)
        assert (job["args"], job["due_at"]) == ({"calls": [1, 2]}, first.json()["due_at"])
        assert foreign.json()["args"] == {"calls": ["x"]}
        assert stranger.get(f"/api/v1/jobs/{job['id']}").status_code == 404

    def test_a_request_that_is_sent_again_with_its_key_adds_no_call(self, owner):
        for _ in range(2):
            assert post(owner, 1, key="a").status_code == 202
            assert post(owner, 2, key="b").status_code == 200
        assert Job.objects.get().args == {"calls": [1, 2]}

    def test_many_in_one_request_are_answered_one_by_one(self, owner):
        jobs = [CALL | {"args": {"calls": [n]}} for n in range(5)]
        made = owner.post("/api/v1/jobs/bulk", json.dumps({"jobs": jobs}), content_type="application/json").json()
        assert [job["deduplicated"] for job in made["jobs"]] == [False, True, True, True, False]
        assert len({job["id"] for job in made["jobs"]}) == 2

    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"args": {"calls": []}}, "args"),
            ({"args": {"calls": [1, 2, 3, 4, 5]}}, "args"),
            ({"args": {"calls": {"a": 1}}}, "args"),
            ({"args": {}}, "args"),
            ({"delay": 5}, "delay"),
            ({"expires": 5}, "expires"),
            (REFRESH | {"args": {}, "identical": "gather"}, "identical"),
        ],
    )
    def test_a_request_that_cannot_be_gathered_is_refused_by_its_field(self, said, field, owner):
        response = post(owner, 1, **said)
        assert response.status_code == 422, response.content
        assert [error["field"] for error in response.json()["errors"]] == [field]
        assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_request_waits_only_briefly_for_code_that_holds_the_group_in_a_transaction(owner, tenant, elsewhere):
    with transaction.atomic():
        async_(index, tenant=tenant)(calls=[1])
        response = elsewhere(post, owner, 2).result(30)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert Job.objects.get().args == {"calls": [1]}
