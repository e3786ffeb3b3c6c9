"""With SECOND_FACTOR an operator's password alone opens nothing; an operator's session ends in any case."""

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from tenants.models import Change
from tests.callers import browser_of, program_of, superuser
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
PAGE = "/accounts/second-factor/"


@pytest.fixture
def olga(settings):
    settings.SECOND_FACTOR = True
    return superuser(username="olga")


def code_of(device: TOTPDevice) -> str:
    return f"{totp(device.bin_key):06}"


def set_up(user) -> Client:
    client = browser_of(user)
    page = client.get(PAGE).content.decode()
    device = TOTPDevice.objects.get(user=user)
    assert "data:image/svg" in page
    assert client.post(PAGE, {"code": code_of(device), "next": "/ops/"}).headers["Location"] == "/ops/"
    return client


def test_an_operator_sets_up_an_app_at_the_first_login_and_is_asked_for_it_at_the_next(olga):
    first = browser_of(olga)
    asked = first.get("/ops/jobs/?q=status:dead")
    assert asked.headers["Location"] == f"{PAGE}?next=%2Fops%2Fjobs%2F%3Fq%3Dstatus%3Adead"
    assert set_up(olga).get("/ops/").status_code == 200
    assert first.get("/ops/").status_code == 302, "another session is not let in by that"
    page = first.get(PAGE).content.decode()
    assert "data:image/svg" not in page, "the secret is shown once"
    device = TOTPDevice.objects.get(user=olga)
    assert "Wrong or expired code" in first.post(PAGE, {"code": code_of(device)}).content.decode(), "it was used"
    TOTPDevice.objects.update(last_t=-1, throttling_failure_count=0, throttling_failure_timestamp=None)
    assert first.post(PAGE, {"code": f" {code_of(device)}"}).headers["Location"] == reverse("jobs_ops:overview")
    assert first.get("/admin/").status_code == 200
    assert list(Change.objects.filter(who="olga").values_list("verb", flat=True)) == ["second factor set up"]


@pytest.mark.django_db(transaction=True)
def test_pages_that_are_opened_at_once_show_one_app_to_set_up(olga, elsewhere):
    """Two would keep the operator out: nobody could say which one a code is of."""
    barrier = threading.Barrier(8)

    def opened(client: Client) -> int:
        barrier.wait()
        return client.get(PAGE).status_code

    pages = [elsewhere(opened, browser_of(olga)) for _ in range(8)]
    assert [page.result() for page in pages] == [200] * 8
    assert TOTPDevice.objects.filter(user=olga).count() == 1


@pytest.mark.parametrize("path", ["/ops/", "/admin/", "/jobs/", "/accounts/password/", "/"])
def test_without_it_no_page_opens_and_nothing_is_changed(olga, path):
    client = browser_of(olga)
    assert client.get(path).headers["Location"].startswith(PAGE)
    assert client.post(path).status_code == 403
    refused = client.get("/api/v1/operator/jobs")
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")


def test_wrong_codes_open_nothing_and_slow_down_the_right_one(olga, settings):
    settings.OTP_TOTP_THROTTLE_FACTOR = 3600  # seconds, where the operator's machine may be slow
    set_up(olga)
    client, device = browser_of(olga), TOTPDevice.objects.get(user=olga)
    TOTPDevice.objects.update(last_t=-1)
    for wrong in ("000000", "x", "", "1" * 30):
        assert client.post(PAGE, {"code": wrong}).status_code == 200
    assert client.post(PAGE, {"code": code_of(device)}).status_code == 200, "not for a while"
    assert client.get("/ops/").status_code == 302


def test_the_login_goes_on_only_to_a_page_of_ours(olga):
    set_up(olga)
    TOTPDevice.objects.update(last_t=-1)
    code = code_of(TOTPDevice.objects.get(user=olga))
    gone = browser_of(olga).post(PAGE, {"code": code, "next": "https://example.com/ops/"})
    assert gone.headers["Location"] == reverse("jobs_ops:overview")


def test_an_operator_resets_that_of_a_lost_phone(olga, client):
    client = set_up(olga)
    lost = UserFactory(username="lost", is_staff=True)
    session = set_up(lost)
    asked = {"action": "reset_second_factor", "_selected_action": [lost.pk]}
    assert client.post("/admin/auth/user/", asked).status_code == 302
    assert not TOTPDevice.objects.filter(user=lost).exists()
    assert session.get("/admin/").headers["Location"].startswith(PAGE)
    assert Change.objects.filter(who="olga", verb="second factor reset", subject="lost").exists()


def test_members_and_programs_are_not_asked(olga, mate):
    assert mate.get("/jobs/").status_code == 200
    assert program_of(olga).get("/api/v1/operator/jobs").status_code == 200


def test_where_it_is_not_demanded_nobody_is_asked(olga, settings):
    settings.SECOND_FACTOR = False
    assert browser_of(olga).get("/ops/").status_code == 200


def test_an_operators_session_ends_whatever_is_done_in_it_and_a_members_goes_on(settings, mate):
    settings.OPERATOR_SESSION = 3600
    reverse("login")  # a web process has read the addresses, with which it is registered
    operator = browser_of(superuser())
    session = operator.session
    session["something"] = "changed"
    session.save()
    assert operator.session.get_expiry_date() <= timezone.now() + timedelta(hours=1)
    assert mate.session.get_expiry_date() > timezone.now() + timedelta(days=13)


def test_a_password_that_doubles_the_name_is_refused():
    with pytest.raises(ValidationError, match="too similar to the username"):
        validate_password("m-idle-m-idle", UserFactory.build(username="m-idle"))
