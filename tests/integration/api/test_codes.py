"""The codes of problems: a program tells refusals apart without reading English."""

import pytest

from jobs.http.codes import ProblemCode
from jobs.lifecycle import Status
from tenants.models import TenantQueue
from tests.clients import document
from tests.factories import make_job

pytestmark = pytest.mark.django_db


def test_refusals_of_one_status_have_codes_of_their_own_the_same_for_a_stranger(owner, stranger, tenant, report):
    done, failed = make_job(tenant, Status.SUCCESS).pk, make_job(tenant, Status.ERROR).pk
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
    closed = owner.post("/api/v1/batches", {"name": "nightly"}, "application/json").json()["id"]

    def code(path, body=None, caller=owner, **headers):
        response = caller.post(f"/api/v1/{path}", body or {}, "application/json", headers=headers)
        problem = response.json()
        assert (problem["status"], problem["type"]) == (response.status_code, "about:blank")
        assert ProblemCode(problem["code"]).status == response.status_code
        return problem["code"]

    assert code(f"jobs/{done}/cancel") == "job_ended"
    assert code(f"jobs/{done}/revive") == "job_not_revivable"
    assert code(f"batches/{closed}/close") == "batch_closed"
    assert owner.get(f"/api/v1/jobs/{failed}/result").json()["code"] == "job_not_successful"
    assert owner.get(f"/api/v1/jobs/{done}/result").json()["code"] == "result_gone"
    assert code(f"jobs/{done}/cancel", caller=stranger) == code("jobs/999999/cancel") == "not_found"
    assert code("nowhere") == "no_such_address"
    assert code("jobs", call | {"priority": 11}) == "invalid_input"
    owner.post("/api/v1/jobs", call, "application/json", headers={"Idempotency-Key": "one"})
    assert code("jobs", call | {"priority": 1}, **{"Idempotency-Key": "one"}) == "idempotency_key_reused"
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=1)
    assert code("jobs", call | {"dedup": False}) == "backlog_full"


def test_the_document_lists_every_code_with_its_meaning():
    described = document()["components"]["schemas"]["ProblemCode"]
    assert described["enum"] == list(ProblemCode)
    assert all(f"`{code}` ({code.status}): {code.meaning}" in described["description"] for code in ProblemCode)
