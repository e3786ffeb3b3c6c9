"""Operators see the batches of all tenants, cancel them, and revive what failed."""

import pytest

from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.batch_actions import go_on_cancelling
from jobs.models import Job
from tenants.models import Change
from tests.callers import program_of, staff
from tests.integration.api.test_batches import made  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return program_of(staff("view_job", "change_job"))


def statuses(batch: int) -> set[str]:
    return set(Job.objects.filter(batch_id=batch).values_list("status", flat=True))


def test_batches_are_listed_and_read_with_their_tenant(operator, tenant, made):  # noqa: F811
    older, newer = made(), made()
    page = operator.get(f"/api/v1/operator/batches?limit=1&tenant={tenant.jobs_slug}").json()
    assert [(one["id"], one["tenant"], one["total"]) for one in page["batches"]] == [(newer, tenant.jobs_slug, 2)]
    assert [one["id"] for one in operator.get(page["next"]).json()["batches"]] == [older]
    assert operator.get(f"/api/v1/operator/batches/{older}").json()["name"] == "nightly"
    assert operator.get("/api/v1/operator/batches/99999999999999999999").status_code == 404
    assert operator.get("/api/v1/operator/batches?tenant=nobody").status_code == 422


def test_a_batch_is_cancelled_by_one_request_and_revived_part_by_part(operator, made, monkeypatch):  # noqa: F811
    monkeypatch.setattr("jobs.console.api.batches.MAX_CHANGED", 1)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 1)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 0)
    batch, other = made(), made()
    address = f"/api/v1/operator/batches/{batch}"
    answer = operator.post(f"{address}/cancel")
    assert (answer.status_code, answer.json()["cancelling"], statuses(batch)) == (202, True, {"cancelled", "created"})
    monkeypatch.undo()
    go_on_cancelling()
    assert (operator.get(address).json()["cancelling"], statuses(batch)) == (False, {"cancelled"})
    monkeypatch.setattr("jobs.console.api.batches.MAX_CHANGED", 1)
    answer = operator.post(f"{address}/revive").json()
    assert (answer["changed"], answer["skipped"]) == (1, 0)
    answer = operator.post(answer["next"]).json()
    assert (answer, statuses(batch)) == ({"changed": 1, "skipped": 0, "next": None}, {"created"})
    unblock()
    assert statuses(other) == {"created"}
    assert Change.objects.filter(values__filter=f"batch:{batch}").exists()
    assert operator.post("/api/v1/operator/batches/1234567/cancel").status_code == 404


def test_closing_a_batch_that_its_tenant_left_open_is_noted(operator, made):  # noqa: F811
    batch = made(close=False)
    assert operator.post(f"/api/v1/operator/batches/{batch}/close").json()["closed_at"]
    assert operator.post(f"/api/v1/operator/batches/{batch}/close").status_code == 409
    assert operator.post("/api/v1/operator/batches/1234567/close").status_code == 404
    assert Change.objects.get(verb="closed", kind="jobs.batch").subject == f"batch {batch}: nightly"
