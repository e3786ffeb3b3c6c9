"""What a stranger can cause tells no password and runs no code: not in mails, not in answers, not in the log."""

import os
import pickle
import sys
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.core.management import call_command
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import path
from django.views.debug import ExceptionReporter, SafeExceptionReporterFilter, get_default_exception_reporter_filter
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from jobs.cache import Text
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.store import results
from tenants import auth
from tenants.models import ApiKey, Change, OperatorKey
from tests.callers import browser_of
from tests.factories import UserFactory, make_job, operator_key
from tests.sql import sql

pytestmark = pytest.mark.django_db
SECRET = "hunter2-of-the-broker"


def fail(request):
    raise RuntimeError("on purpose")


urlpatterns = [path("fail", fail), path("api/fail", fail)]
handler500 = "scheduler_project.errors.failed"


@pytest.fixture
def with_secrets(settings):
    """Passwords wherever settings may hold one, and somebody to mail to."""
    settings.ADMINS = [("", "ops@example.com")]
    settings.CELERY_BROKER_URL = f"redis://:{SECRET}@127.0.0.1:1/0"
    settings.JOBS_DEATH_WEBHOOK = f"http://127.0.0.1:1/{SECRET}"
    settings.EMAIL_HOST_PASSWORD = SECRET
    settings.SOMETHING_ELSE = [f"postgres://scheduler:{SECRET}@127.0.0.1/x"]
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    return settings


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "asked",
    [
        ("/", "evil.example"),
        ("/api/v1/jobs", "evil.example"),
        ("/fail", "testserver"),
        ("/api/fail", "testserver"),
        ("/nothing", "testserver"),
    ],
)
def test_no_failure_that_a_stranger_causes_sends_a_mail_or_tells_a_secret(with_secrets, caplog, capfd, method, asked):
    address, host = asked
    if "fail" in address:
        with_secrets.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False, headers={"Host": host})
    response = getattr(client, method)(address)
    assert response.status_code >= 400
    assert mail.outbox == []
    out, err = capfd.readouterr()
    assert SECRET not in response.content.decode() + caplog.text + out + err


def test_a_foreign_host_leaves_no_line_in_the_log(with_secrets, capfd):
    Client(headers={"Host": "evil.example"}).get("/")
    assert "evil.example" not in "".join(capfd.readouterr())


def test_the_settings_in_an_error_report_hold_no_secret(with_secrets):
    shown = get_default_exception_reporter_filter().get_safe_settings()
    assert SECRET not in str(shown)
    assert shown["JOBS_DEDUP_WINDOW"] == with_secrets.JOBS_DEDUP_WINDOW


@pytest.fixture
def reports():
    """What would be mailed of each failed request: the cookies, what was posted, and the variables of each frame."""
    yield from made_by(get_default_exception_reporter_filter())


@pytest.fixture
def plain_reports():
    """The same in a project of one's own, which has Django's filter."""
    yield from made_by(SafeExceptionReporterFilter())


def made_by(reporter_filter: SafeExceptionReporterFilter) -> Iterator[list[str]]:
    made: list[str] = []

    def report(request, **_):
        request.exception_reporter_filter = reporter_filter
        made.append(ExceptionReporter(request, *sys.exc_info()).get_traceback_html())

    got_request_exception.connect(report)
    yield made
    got_request_exception.disconnect(report)


def without(table: str, logged_in: User | None = None) -> Client:
    """A client whose requests fail when they need this table."""
    client = Client(raise_request_exception=False)
    if logged_in:
        client.force_login(logged_in)
    sql(f'ALTER TABLE "{table}" RENAME TO gone')
    return client


@pytest.mark.parametrize("whose", ["a tenant's", "an operator's"])
def test_no_report_of_a_failure_tells_the_key_that_came_with_the_request(plain_reports, tenant, whose):
    if whose == "a tenant's":
        path, kind, (_, token) = "/api/v1/jobs", ApiKey, auth.issue(tenant, "nightly export")
    else:
        path, kind, (_, token) = "/api/v1/operator/queues", OperatorKey, operator_key(UserFactory(is_staff=True), "ops")
    response = without(kind._meta.db_table).get(path, headers={"Authorization": f"Bearer {token}"})
    (report,) = plain_reports
    assert response.status_code == 500
    assert token[13:40] not in report, "nor a part of it: the repr of a match is cut"


def test_no_report_of_a_failure_before_the_view_tells_a_posted_password(plain_reports):
    user = UserFactory(is_staff=True)
    client = without("django_session", logged_in=user)
    posted = {"old_password": SECRET, "new_password1": f"{SECRET}-2", "new_password2": f"{SECRET}-2"}
    for page in ("/accounts/password/", f"/admin/auth/user/{user.pk}/password/"):
        assert client.post(page, posted).status_code == 500
    assert len(plain_reports) == 2
    assert SECRET not in "".join(plain_reports)


POSTED = {
    "/accounts/second-factor/": "code",
    "/admin/auth/user/add/": "password1",
    "/admin/reports/datasource/add/": "url",
}


def test_no_report_of_ours_of_a_failure_before_the_view_tells_a_secret_of_a_form(reports, admin_user):
    client = without("django_session", logged_in=admin_user)
    for page, name in POSTED.items():
        assert client.post(page, {name: SECRET, "note": "of the form"}).status_code == 500
        assert "of the form" in reports[-1]
    assert SECRET not in "".join(reports)


def test_no_report_of_a_failure_tells_the_key_that_the_admin_has_just_shown(reports, admin_user, tenant):
    admin = browser_of(admin_user, raise_request_exception=False)
    admin.post("/admin/tenants/apikey/add/", {"tenant": tenant.pk, "name": "nightly export"})
    shown_next = admin.cookies["messages"].value
    without(ApiKey._meta.db_table)
    assert admin.get("/admin/tenants/apikey/").status_code == 500
    assert shown_next[:100] not in reports[-1]


def test_no_report_of_a_failure_tells_the_code_of_a_second_factor(reports, admin_user):
    code = f"{totp(TOTPDevice.objects.create(user=admin_user, confirmed=False).bin_key):06}"
    asked = without(Change._meta.db_table, logged_in=admin_user).post("/accounts/second-factor/", {"code": code})
    assert asked.status_code == 500
    assert f"&#x27;{code}&#x27;" not in reports[-1]


class Evil:
    def __reduce__(self):
        return os.mkdir, (self.directory,)

    def __init__(self, directory):
        self.directory = str(directory)


@pytest.fixture
def poisoned(tenant, tmp_path):
    """A job in whose result's place somebody has put code. Needs the cache that is used in production."""
    if "Redis" not in type(cache._connections["default"]).__name__ and not hasattr(cache, "_cache"):
        pytest.skip("not a Redis")
    job = make_job(tenant, Status.SUCCESS, result_expires_at=HELD_UNTIL)
    results.keep(job, "1", 60)
    raw = cache._cache.get_client()
    [key] = [key for key in raw.scan_iter() if f"job-result:{tenant.pk}:{job.pk}:".encode() in key]
    directory = tmp_path / "pwned"
    raw.set(key, pickle.dumps(Evil(directory)))
    return job, directory


def test_code_in_the_cache_is_not_run(owner, poisoned):
    job, directory = poisoned
    response = owner.get(f"/api/v1/jobs/{job.pk}/result")
    assert (response.status_code, response["Content-Type"]) == (410, "application/problem+json")
    call_command("jobs", "show", str(job.pk))
    assert not directory.exists()


def test_the_cache_takes_text_and_gives_it_back():
    assert Text().loads(Text().dumps('{"müsli": "🥣"}')) == '{"müsli": "🥣"}'
    assert not Text().loads(Text().dumps([object()])), "kept what only code could bring back"


def test_the_keys_of_broker_and_cache_begin_with_the_deployments_name(settings):
    assert settings.CACHES["default"]["KEY_PREFIX"] == settings.DEPLOYMENT
    assert settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] == f"{settings.DEPLOYMENT}:"
