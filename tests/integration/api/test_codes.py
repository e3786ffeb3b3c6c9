"""The codes of problems, by which a program tells refusals apart, and the words about fields, which are our own."""

import pytest
from pydantic import ValidationError

from jobs.api import api
from jobs.http.codes import ProblemCode
from jobs.http.messages import MESSAGES
from jobs.lifecycle import Status
from tenants.models import TenantQueue
from tests.clients import document
from tests.factories import make_job

OURS = {"value_error", "extra_forbidden"}  # our validators' words, and the list of known fields
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


ODD = [None, 1, -1.0, 1.5, "x", "", True, [], {}, [None], [{}], {"a": None}, {"a": {"num_slots": "x"}}, 10**400, 1e400]
ODD += ["\ud800", "x" * 400, [1] * 2000, [{"priority": 11}], {str(n): 1 for n in range(200)}, "2030-01-01", "9" * 5000]


def test_no_field_is_refused_in_the_words_of_pydantic():
    views = [view for each in api._get_bound_routers() for view in each.path_operations.values()]
    models = [model for view in views for operation in view.operations for model in operation.models]
    foreign = {}
    for model in models:
        odd = [one for one in ODD if isinstance(one, str) or model.__ninja_param_source__ == "body"]
        for name, field in model.model_fields.items():
            inside = getattr(field.annotation, "model_fields", {})
            for sent in [{inner: one} for inner in inside for one in odd] or odd:
                try:
                    model.model_validate({name: sent})
                except ValidationError as refused:
                    kinds = {error["type"]: error["msg"] for error in refused.errors()}
                    foreign |= {kind: said for kind, said in kinds.items() if kind not in {*MESSAGES, *OURS}}
    assert len(models) > 50
    assert foreign == {}


def test_the_document_lists_every_code_with_its_meaning():
    described = document()["components"]["schemas"]["ProblemCode"]
    assert described["enum"] == list(ProblemCode)
    assert all(f"`{code}` ({code.status}): {code.meaning}" in described["description"] for code in ProblemCode)
