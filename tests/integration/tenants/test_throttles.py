"""Who fails to log in again and again, or asks too fast, is told to wait; and nobody else is."""

import itertools

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from jobs.http import throttle
from jobs.lifecycle import Status
from plumbing.throttle import Throttle
from tenants import logins
from tests.callers import browser_of
from tests.factories import MemberFactory, make_job

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(logins, "failures", Throttle(lambda: 0.0))
    monkeypatch.setattr(throttle, "callers", Throttle(lambda: 0.0))
    monkeypatch.setattr(throttle, "strangers", Throttle(lambda: 0.0))


@pytest.fixture
def anna():
    user = MemberFactory(user__is_staff=True).user
    user.set_password(PASSWORD)
    user.save()
    return user.username


def log_in(address, name, password, machine="192.0.2.1"):
    return Client(REMOTE_ADDR=machine).post(address, {"username": name, "password": password})


def test_after_some_wrong_passwords_even_the_right_one_has_to_wait(anna, settings, caplog):
    settings.LOGIN_FAILURES = 3
    assert [log_in(LOGIN, anna, "wrong").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = log_in(LOGIN, anna.upper(), PASSWORD)
    assert (refused.status_code, int(refused["Retry-After"])) == (429, 60)
    assert "60 seconds" in refused.content.decode()
    assert log_in(LOGIN, anna, PASSWORD, machine="192.0.2.2").status_code == 302, "from elsewhere she gets in"
    assert f"login failed user='{anna}' address=192.0.2.1" in caplog.text
    assert "wrong" not in caplog.text


def test_one_machine_cannot_try_many_names(settings):
    settings.LOGIN_FAILURES = 2
    answers = [log_in(LOGIN, f"name{n}", "wrong").status_code for n in range(11)]
    assert answers == [200] * 10 + [429]


def test_many_machines_cannot_try_one_name_for_ever_however_they_write_it(settings):
    settings.LOGIN_FAILURES = 1
    written = itertools.cycle(("anna", " anna", "anna\t", "Anna", "\uff41nna"))  # which Django's form takes for one
    answers = [log_in(LOGIN, next(written), "wrong", f"192.0.2.{n}").status_code for n in range(25)]
    assert answers == [200] * 20 + [429] * 5
    accents = "a" + "\u0301" * 150_000 + "\u0327" * 150_000  # in a moment: to sort all of them takes minutes
    assert log_in(LOGIN, accents, "wrong", "192.0.2.99").status_code == 200


def test_logging_in_well_uses_nothing_up(anna, settings):
    settings.LOGIN_FAILURES = 1
    assert [log_in(LOGIN, anna, PASSWORD).status_code for _ in range(5)] == [302] * 5


def test_a_tenant_that_asks_too_fast_is_told_to_wait_and_others_are_not(owner, mate, stranger, settings):
    settings.JOBS_API_RATE = 0.3  # and so three at once
    answers = [owner.get("/api/v1/jobs").status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]
    refused = mate.get("/api/v1/jobs")
    assert refused.status_code == 429, "of the same tenant"
    assert refused["Content-Type"] == "application/problem+json"
    assert int(refused["Retry-After"]) >= 1
    assert stranger.get("/api/v1/jobs").status_code == 200


def test_without_a_rate_nobody_is_told_to_wait(owner, settings):
    settings.JOBS_API_RATE = 0
    assert {owner.get("/api/v1/jobs").status_code for _ in range(50)} == {200}


def test_wrong_keys_have_to_wait_and_lock_out_no_good_key_of_the_same_address(owner, settings, monkeypatch):
    settings.JOBS_API_RATE = 100
    monkeypatch.setattr(throttle, "STRANGERS_AT_ONCE", 3)
    wrong = Client(headers={"Authorization": f"Bearer {'0' * 12}.{'x' * 43}"})
    assert [wrong.get("/api/v1/jobs").status_code for _ in range(4)] == [401, 401, 401, 429]
    assert owner.get("/api/v1/jobs").status_code == 200


def test_a_tenant_has_so_many_long_polls_and_another_has_its_own(owner, stranger, tenant, settings, monkeypatch):
    settings.JOBS_API_WAITS = 1
    job = make_job(tenant, Status.RUNNING)
    monkeypatch.setitem(throttle.waits, tenant.pk, 1)
    refused = owner.get(f"/api/v1/jobs/{job.pk}?wait=1")
    assert (refused.status_code, refused["Retry-After"]) == (429, "1")
    assert owner.get(f"/api/v1/jobs/{job.pk}").status_code == 200
    assert stranger.get(f"/api/v1/jobs/{job.pk}?wait=1").status_code == 404


def test_a_long_poll_counts_from_its_admission_until_it_is_closed_read_or_not(owner, tenant, settings):
    """Of many at once none is admitted before the others count."""
    settings.JOBS_API_WAITS = 2
    job = make_job(tenant, Status.RUNNING)
    admitted = [owner.get(f"/api/v1/jobs/{job.pk}?wait=30") for _ in range(3)]
    assert [one.status_code for one in admitted] == [200, 200, 429]
    request_finished.disconnect(close_old_connections)  # as Django's own client does: the connection is the test's
    try:
        for one in admitted:
            one.close()
            one.close()
        assert tenant.pk not in throttle.waits
        owner.head(f"/api/v1/jobs/{job.pk}?wait=30").close()
        assert tenant.pk not in throttle.waits
    finally:
        request_finished.connect(close_old_connections)


def test_a_weak_password_is_refused(subtests):
    for weak in ("a", "short-one", "1234567890123", "password1234"):
        with subtests.test(weak), pytest.raises(ValidationError):
            validate_password(weak, get_user_model()(username="anna"))


def test_a_member_changes_the_own_password(anna):
    client = Client()
    client.post(LOGIN, {"username": anna, "password": PASSWORD})
    page = client.get("/accounts/password/")
    assert "Change your password" in page.content.decode()
    form = {"old_password": PASSWORD, "new_password1": "staple of twelve", "new_password2": "staple of twelve"}
    assert client.post("/accounts/password/", form | {"old_password": "wrong"}).status_code == 200
    assert client.post("/accounts/password/", form)["Location"] == "/"
    assert log_in(LOGIN, anna, PASSWORD).status_code == 200
    assert log_in(LOGIN, anna, "staple of twelve").status_code == 302


@pytest.mark.parametrize("page", ["/accounts/password/", "/admin/password_change/"])
def test_an_open_session_cannot_try_many_old_passwords_and_others_can_change_theirs(page, anna, settings):
    """A session that was left open, or stolen, must not tell its user's password."""
    settings.LOGIN_FAILURES = 3
    changed = dict.fromkeys(("new_password1", "new_password2"), "staple of twelve")
    client = Client(REMOTE_ADDR="192.0.2.1")
    client.post(LOGIN, {"username": anna, "password": PASSWORD})
    tried = [client.post(page, changed | {"old_password": old}).status_code for old in ("a", "", "b", "c", PASSWORD)]
    assert tried == [200, 200, 200, 200, 429]
    assert log_in(LOGIN, anna, PASSWORD).status_code == 429
    other = browser_of(MemberFactory(user__is_staff=True).user, REMOTE_ADDR="192.0.2.1")
    assert other.post(page, changed | {"old_password": "a"}).status_code == 200


def test_an_anonymous_visitor_does_not_see_that_page():
    assert Client().get("/accounts/password/").status_code == 302
