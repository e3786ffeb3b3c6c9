"""Who may call: keys and sessions; and what every endpoint tells the others."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from jobs.models import Job
from tenants import auth
from tenants.models import ApiKey
from tests.callers import browser_of
from tests.factories import MemberFactory, TenantFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db
ENDPOINTS = [
    ("GET", "/api/v1/jobs"),
    ("POST", "/api/v1/jobs"),
    ("GET", "/api/v1/jobs/1"),
    ("GET", "/api/v1/jobs/1/result"),
    ("GET", "/api/v1/jobs/1/events"),
    ("POST", "/api/v1/jobs/1/cancel"),
    ("POST", "/api/v1/jobs/1/revive"),
    ("GET", "/api/v1/stats"),
]


def assert_problem(response, status):
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["status"] == status


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_a_caller_without_credentials_is_refused_everywhere(method, path):
    response = Client(enforce_csrf_checks=True).generic(method, path, "{}", "application/json")
    assert_problem(response, 401)
    assert response["WWW-Authenticate"] == 'Bearer realm="jobs"'


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_a_revoked_key_opens_nothing(method, path, owner):
    auth.revoke(ApiKey.objects.get())
    response = owner.generic(method, path, "{}", "application/json")
    assert_problem(response, 401)
    assert 'error="invalid_token"' in response["WWW-Authenticate"]


def test_the_scheme_may_be_written_in_any_case(tenant):
    _, token = auth.issue(tenant, "test")
    assert Client(headers={"Authorization": f"bearer {token}"}).get("/api/v1/jobs").status_code == 200


def test_a_wrong_key_is_not_hidden_by_a_good_session(mate):
    response = mate.get("/api/v1/jobs", headers={"Authorization": "Bearer wrong"})
    assert_problem(response, 401)


def test_a_key_wins_over_a_session_of_another_tenant(tenant):
    browser = browser_of(MemberFactory().user)
    _, token = auth.issue(tenant, "test")
    made = make_job(tenant)
    response = browser.get("/api/v1/jobs", headers={"Authorization": f"Bearer {token}"})
    assert [job["id"] for job in response.json()["jobs"]] == [made.pk]


def test_a_login_without_a_tenant_is_told_so():
    assert_problem(browser_of(UserFactory()).get("/api/v1/jobs"), 403)


def test_a_member_who_was_deactivated_is_nobody(mate):
    mate.user.is_active = False
    mate.user.save()
    assert_problem(mate.get("/api/v1/jobs"), 401)


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/jobs/{}/cancel"])
def test_a_session_changes_nothing_without_the_csrf_token(tenant, path):
    made = make_job(tenant)
    browser = browser_of(MemberFactory(tenant=tenant).user, enforce_csrf_checks=True)
    assert_problem(browser.post(path.format(made.pk), "{}", "application/json"), 403)
    made.refresh_from_db()
    assert made.status == "created"
    assert Job.objects.count() == 1


def test_a_session_with_the_csrf_token_may_change_things(tenant):
    made = make_job(tenant)
    browser = browser_of(MemberFactory(tenant=tenant).user, enforce_csrf_checks=True)
    browser.get("/accounts/login/")
    token = browser.cookies["csrftoken"].value
    response = browser.post(f"/api/v1/jobs/{made.pk}/cancel", headers={"X-CSRFToken": token})
    assert response.status_code == 200


def test_a_key_needs_no_csrf_token(tenant):
    made = make_job(tenant)
    _, token = auth.issue(tenant, "test")
    program = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"})
    assert program.post(f"/api/v1/jobs/{made.pk}/cancel").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/v1/jobs", {"GET", "HEAD", "POST"}),
        ("PUT", "/api/v1/jobs/1", {"GET", "HEAD"}),
        ("POST", "/api/v1/jobs/1", {"GET", "HEAD"}),
        ("GET", "/api/v1/jobs/1/cancel", {"POST"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(owner, method, path, allowed):
    response = owner.generic(method, path)
    assert_problem(response, 405)
    assert set(response["Allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", ["/api/v1/nonsense", "/api/v1/jobs/", "/api/v2/jobs", "/api/v1/jobs/1/nonsense"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_address_is_a_problem_too(method, path):
    assert_problem(Client(enforce_csrf_checks=True).generic(method, path), 404)


def test_no_key_is_logged(tenant, caplog, settings):
    settings.DEBUG = True  # ninja logs headers it does not understand, when debugging
    caplog.set_level("DEBUG")
    _, token = auth.issue(tenant, "test")
    secret = token.partition(".")[2]
    for header in (f"Bearer {token}", f"Bearer {token}x", f"Token {token}"):
        Client(headers={"Authorization": header}).get("/api/v1/jobs")
    assert secret not in caplog.text


def test_the_fixtures_are_who_they_say(owner, mate, stranger, tenant):
    """Otherwise every test of isolation would prove nothing."""
    made = make_job(tenant)
    statuses = [caller.get(f"/api/v1/jobs/{made.pk}").status_code for caller in (owner, mate, stranger)]
    assert statuses == [200, 200, 404]
    assert not isinstance(mate.user, AnonymousUser)
    assert TenantFactory().pk != tenant.pk
