"""No action without its entry: if the entry cannot be written, the action is rolled back, by whichever way it came."""

import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.db import Error, connection
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.pause import pause_job_type
from jobs.engine.webhooks import outbox
from jobs.engine.webhooks.posting import NotDelivered
from jobs.lifecycle import Status
from jobs.models import Job, JobMemory, PausedJobType, Queue, WebhookEndpoint
from tenants import audit
from tenants.models import ApiKey, Change
from tests.callers import browser_of
from tests.factories import QueueFactory, UserFactory, make_job
from tests.sql import sql

SURFACES = ("jobs/console", "jobs/portal", "jobs/contrib", "jobs/management", "jobs/admin.py", "jobs/api.py")
OLD, NEW = "quokka-numbat-1", "bilby-potoroo-2"
VERBS = {"cancel": Status.CREATED, "revive": Status.DEAD, "discard": Status.DEAD}


@pytest.fixture
def broken(db):
    """No entry can be written."""

    def break_it():
        sql("ALTER TABLE changes ADD CONSTRAINT broken CHECK (false) NOT VALID")

    yield break_it
    if not connection.in_atomic_block:  # else it is rolled back
        sql("ALTER TABLE changes DROP CONSTRAINT IF EXISTS broken")


def refused(act):
    """Call it: a web client may answer with an error instead of raising the database's."""
    with suppress(Error):
        response = act()
        assert response is not None and response.status_code >= 500


@pytest.mark.parametrize("verb", ["cancel", "revive"])
def test_over_http(owner, tenant, broken, verb):
    owner.raise_request_exception = False
    job = make_job(tenant, VERBS[verb])
    broken()
    refused(lambda: owner.post(f"/api/v1/jobs/{job.pk}/{verb}"))
    assert Job.objects.get().status == VERBS[verb]


@pytest.mark.parametrize(("verb", "path"), [("cancel", "cancel"), ("revive", "run-again")])
def test_on_the_members_pages(mate, tenant, broken, verb, path):
    mate.raise_request_exception = False
    job = make_job(tenant, VERBS[verb])
    broken()
    refused(lambda: mate.post(f"/jobs/{job.pk}/{path}"))
    assert Job.objects.get().status == VERBS[verb]


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("verb", VERBS)
def test_at_the_command_line(tenant, broken, verb, number):
    jobs = [make_job(tenant, VERBS[verb]) for _ in range(number)]
    broken()
    with pytest.raises(Error):
        call_command("jobs", verb, *(str(job.pk) for job in jobs))
    assert set(Job.objects.values_list("status", flat=True)) == {VERBS[verb]}


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("verb", VERBS)
def test_on_the_operators_pages(admin_client, tenant, broken, verb, number):
    admin_client.raise_request_exception = False
    ids = [make_job(tenant, VERBS[verb]).pk for _ in range(number)]
    form = {"ids": ids}
    if verb == "discard":  # it asks
        page = admin_client.post("/ops/jobs/discard", form).content.decode()
        form = {"run": re.search(r'name="run" value="([^"]+)"', page)[1]}
    broken()
    refused(lambda: admin_client.post(f"/ops/jobs/{verb}", form))
    assert set(Job.objects.values_list("status", flat=True)) == {VERBS[verb]}


@pytest.mark.django_db(transaction=True)
def test_limits_types_keys_memories_and_webhooks(admin_client, owner, tenant, broken):
    admin_client.raise_request_exception = owner.raise_request_exception = False
    QueueFactory(name="mail", weight=1)
    pause_job_type("reports.datareport", "execute")
    memory = JobMemory.objects.create(tenant=tenant, source_type="a.b", source_method="c", content={})
    key = ApiKey.objects.get(tenant=tenant)
    fails = WebhookEndpoint.objects.create(tenant=tenant, tried_at=timezone.now())
    WebhookEndpoint.objects.update(failing_since=timezone.now() - 2 * outbox.PATIENCE)
    turn = outbox.DeliveryTurn(fails.pk, fails.turn, tenant.pk, fails.url, 1, timezone.now(), [])
    broken()
    refused(lambda: admin_client.post("/ops/queues/mail/change", {"weight": "5"}))
    refused(lambda: call_command("queues", "set", "mail", "--weight", "5"))
    refused(lambda: admin_client.post("/ops/types/resume", {"type": "reports.datareport.execute"}))
    refused(lambda: owner.delete(f"/api/v1/memories/{memory.pk}"))
    refused(lambda: admin_client.post("/admin/tenants/apikey/", {"action": "revoke", "_selected_action": [key.pk]}))
    refused(lambda: outbox.note(turn, [], 1, NotDelivered("the answer was 500")))
    for row in (key, fails):
        row.refresh_from_db()
    assert (key.revoked_at, fails.off_at) == (None, None)
    assert Queue.objects.get(name="mail").weight == 1
    assert PausedJobType.objects.exists() and JobMemory.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_passwords_and_second_factors(admin_client, admin_user, broken):
    admin_client.raise_request_exception = False
    mia, ida = (UserFactory(username=name, password=make_password(OLD), is_staff=True) for name in ("mia", "ida"))
    own = browser_of(mia, raise_request_exception=False)
    lost = TOTPDevice.objects.create(user=ida)
    new = TOTPDevice.objects.create(user=admin_user, confirmed=False)
    broken()
    asked = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    for page in ("/accounts/password/", "/admin/password_change/"):
        refused(lambda page=page: own.post(page, asked))
    refused(lambda: admin_client.post(f"/admin/auth/user/{ida.pk}/password/", {"password1": NEW, "password2": NEW}))
    refused(lambda: admin_client.post("/accounts/second-factor/", {"code": f"{totp(new.bin_key):06}"}))
    refused(
        lambda: admin_client.post("/admin/auth/user/", {"action": "reset_second_factor", "_selected_action": [ida.pk]})
    )
    for row in (mia, ida, lost, new):
        row.refresh_from_db()
    assert mia.check_password(OLD) and ida.check_password(OLD)
    assert lost.confirmed and not new.confirmed


@pytest.mark.django_db(transaction=True)
def test_nothing_is_erased_before_it_is_noted(tenant, broken):
    make_job(tenant, Status.SUCCESS, args={"region": "EU"})
    broken()
    with pytest.raises(Error):
        call_command("jobs", "erase", "--tenant", tenant.slug)
    assert Job.objects.get().args == {"region": "EU"}


def test_without_an_actor_nothing_is_noted(tenant, broken):
    broken()
    job = make_job(tenant)
    with audit.in_bulk(uuid4()):
        assert cancel(job.pk, tenant_id=tenant.pk) is Cancellation.CANCELLED
    assert not Change.objects.exists()


def test_a_tenant_finds_its_job_among_many_and_no_filter_of_an_operator(owner, stranger, admin_client, tenant):
    jobs = [make_job(tenant, Status.DEAD, last_error="ValueError: secret") for _ in range(3)]
    form = {"all": "1", "error": "ValueError", "upto": "2100-01-01T00:00:00+00:00"}
    admin_client.post("/ops/dead/revive", form)
    [change] = owner.get(f"/api/v1/changes?kind=jobs.job&subject_id={jobs[1].pk}").json()["changes"]
    assert (change["who"], change["verb"], change["subject"]) == ("operator", "revived", "3 jobs")
    assert change["values"] == {"number": 3}
    assert stranger.get(f"/api/v1/changes?kind=jobs.job&subject_id={jobs[1].pk}").json()["changes"] == []
    run = Change.objects.get(pk=change["id"]).bulk
    assert f'revived <a href="/ops/runs/{run}/">3 jobs</a>: matching error:ValueError' in re.sub(
        r"\s+", " ", admin_client.get("/ops/health/").content.decode()
    )
    listed = admin_client.get(f"/admin/tenants/change/?q={jobs[1].pk}").context["cl"].result_list
    assert [row.pk for row in listed] == [change["id"]]
    page = admin_client.get(f"/admin/tenants/change/{change['id']}/change/").content.decode()
    assert all(str(job.pk) in page for job in jobs)


def test_no_surface_notes():
    """The engine's verbs do, in their own transaction."""
    root = Path(__file__).parents[3]
    calls = re.compile(r"\b(audit\.(note\w*|complete)\(|note_(job|run)s?\(|engine\.audit\b|LogEntry)")
    files = [path for one in SURFACES for path in ([root / one] if one.endswith(".py") else (root / one).rglob("*.py"))]
    assert len(files) > 50
    assert [str(path) for path in files if calls.search(path.read_text(encoding="utf-8"))] == []
