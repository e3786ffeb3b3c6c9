"""Who may operate: an operator's key or a staff session, with the permission; and nobody else."""

import pytest
from django.test import Client

from jobs.api import api
from jobs.models import Queue
from tenants import auth
from tests.callers import browser_of, caller_with_key, program_of, staff, superuser
from tests.factories import make_job, operator_key

pytestmark = pytest.mark.django_db
QUEUE = "/api/v1/operator/queues/default"

ENDPOINTS = [
    (method.upper(), path.format(name="default", slug="nobody", job_id=1, batch_id=1, prefix="x", pk=1))
    for path, operations in api.get_openapi_schema()["paths"].items()
    if "/operator/" in path
    for method in operations
]
CHANGING = next(endpoint for endpoint in ENDPOINTS if endpoint[0] != "GET")


def call(client, method, path):
    return client.generic(method, path, "{}", "application/json")


def assert_problem(response, status, *words):
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == status
    for word in words:
        assert word in response.json()["detail"]


def test_there_are_endpoints_to_be_tested():
    assert len(ENDPOINTS) == 34


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_every_endpoint_lets_in_operators_alone(method, path, mate):
    response = call(Client(), method, path)
    assert_problem(response, 401, "operator's key")
    assert response["WWW-Authenticate"] == 'Bearer realm="jobs"'
    assert_problem(call(mate, method, path), 403, "not as an operator")
    assert_problem(call(program_of(staff()), method, path), 403, "lacks the permission")
    operator = program_of(superuser())
    assert call(operator, method, path).status_code in (200, 202, 404, 422)


@pytest.mark.parametrize(("method", "path"), [ENDPOINTS[0], CHANGING])
class TestTheWayIn:
    """One way for all endpoints: a read and a change stand for them."""

    def test_a_tenants_key_opens_nothing(self, method, path, owner):
        assert_problem(call(owner, method, path), 401)

    def test_a_session_opens_what_its_user_may(self, method, path):
        assert_problem(call(browser_of(staff()), method, path), 403, "lacks the permission")
        operator = browser_of(superuser())
        assert call(operator, method, path).status_code in (200, 404, 422)


def test_an_operator_who_may_only_look_may_not_change():
    looker = program_of(staff("view_queue"))
    assert looker.get("/api/v1/operator/queues").status_code == 200
    assert_problem(looker.patch(QUEUE, {"paused": True}, "application/json"), 403, "jobs.change_queue")
    assert not Queue.objects.get(name="default").paused


def test_an_operators_key_opens_nothing_of_a_tenant(tenant):
    made = make_job(tenant)
    operator = program_of(superuser())
    for method, path in (("GET", f"/api/v1/jobs/{made.pk}"), ("POST", f"/api/v1/jobs/{made.pk}/cancel")):
        assert_problem(call(operator, method, path), 401)


@pytest.mark.parametrize("change", [{"is_active": False}, {"is_staff": False}])
def test_a_key_is_worth_no_more_than_its_user_is_now(change):
    user = superuser()
    operator = program_of(user)
    assert operator.get("/api/v1/operator/queues").status_code == 200
    for name, value in change.items():
        setattr(user, name, value)
    user.save()
    assert_problem(operator.get("/api/v1/operator/queues"), 401)


def test_a_revoked_key_opens_nothing():
    user = superuser()
    key, token = operator_key(user, "leaked")
    auth.revoke(key)
    response = Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/operator/queues")
    assert_problem(response, 401)
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


def test_a_session_changes_nothing_without_the_csrf_token():
    browser = browser_of(superuser(), enforce_csrf_checks=True)
    paused = {"data": {"paused": True}, "content_type": "application/json"}
    assert_problem(browser.patch(QUEUE, **paused), 403, "CSRF")
    assert not Queue.objects.get(name="default").paused
    browser.get("/accounts/login/")
    token = browser.cookies["csrftoken"].value
    assert browser.patch(QUEUE, **paused, headers={"X-CSRFToken": token}).status_code == 200


def test_a_wrong_key_is_not_hidden_by_a_good_session(tenant):
    browser = browser_of(superuser())
    _, tenants_token = auth.issue(tenant, "test")
    for token in ("wrong", tenants_token):
        assert_problem(browser.get("/api/v1/operator/queues", headers={"Authorization": f"Bearer {token}"}), 401)


def test_the_same_prefix_and_secret_in_the_other_table_opens_nothing(tenant):
    """However alike the keys are: each kind is looked for in its own table."""
    key, token = operator_key(superuser(), "test")
    assert auth.tenant_of(token) is None
    assert auth.operator_of(token) == key.user
    assert caller_with_key(tenant).get("/api/v1/operator/queues").status_code == 401
