"""Each end of a job is stored once for the endpoints of its tenant; nothing for strangers, and no job."""

import json
import uuid
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from jobs import async_, batch, store
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain, webhook_messages
from jobs.engine.upkeep.prune import prune
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.erase import erase
from jobs.engine.webhooks import deliver, endpoints, outbox, signing
from jobs.engine.webhooks.outbox import OutboxMessage
from jobs.models import Job, WebhookEndpoint, WebhookHour, WebhookMessage
from jobs.reading.health.looks import WebhooksLook, look_webhooks
from tenants.models import Change
from tests.clock import call_at
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db

URL = "https://hooks.customer.example/jobs"


@pytest.fixture
def endpoint(tenant) -> WebhookEndpoint:
    return endpoints.add(tenant, URL)[0]


def submit(report) -> Job:
    return Job.objects.get(pk=report.async_(dedup=False).execute())


def told(endpoint: WebhookEndpoint | None = None) -> list[tuple[int, str]]:
    """The messages that wait to be delivered, to this endpoint or to all: job and status."""
    found = WebhookMessage.objects.order_by("event", "endpoint_id")
    if endpoint is not None:
        found = found.filter(endpoint_id=endpoint.pk)
    return [(one.data["id"], one.data["status"]) for one in found]


def start(job: Job) -> None:
    started = {"status": "running", "slot": 1, "ticket": 0, "attempt": 1, "worker": uuid.uuid4(), "worker_pid": 1}
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(ready_at=None, queued_at=now, start_time=now, **started)


def end(job: Job) -> None:
    """Its attempt ends well."""
    start(job)
    assert store.succeed(job.pk, 1, {}, None)


class TestAnnouncements:
    def test_the_end_of_a_job_that_was_submitted_after_the_endpoint_was_added(self, report, endpoint):
        job = submit(report)
        assert told() == []
        end(job)
        assert told() == [(job.pk, "success")]

    def test_a_job_that_was_cancelled_before_it_started_is_announced(self, report, endpoint):
        job = submit(report)
        cancel(job.pk, tenant_id=job.tenant_id)
        assert told() == [(job.pk, "cancelled")]

    def test_nothing_of_a_settling_that_was_rolled_back(self, report, endpoint):
        job = submit(report)
        with pytest.raises(ConnectionError), transaction.atomic():
            end(job)
            raise ConnectionError
        assert told() == []

    def test_nothing_without_an_endpoint_nor_to_one_that_is_off(self, report, endpoint):
        job = submit(report)
        WebhookEndpoint.objects.update(off_at=timezone.now())
        later = submit(report)
        assert (job.announced, later.announced) == (True, False)
        end(job)
        assert told() == []

    def test_each_of_several_endpoints_with_one_number_but_none_of_jobs_submitted_before_it_was_added(
        self, report, endpoint, tenant
    ):
        early = submit(report)
        second, _ = endpoints.add(tenant, URL)
        late = submit(report)
        for job in (early, late):
            cancel(job.pk, tenant_id=tenant.pk)
        assert told(endpoint) == [(early.pk, "cancelled"), (late.pk, "cancelled")]
        assert told(second) == [(late.pk, "cancelled")]
        assert WebhookMessage.objects.filter(data__id=late.pk).values("event").distinct().count() == 1

    def test_only_the_types_that_it_asks_for(self, report, tenant):
        endpoints.add(tenant, URL, ["reports.datareport.other"])
        end(submit(report))
        assert told() == []
        endpoints.add(tenant, URL, ["reports.datareport.execute"])
        end(submit(report))
        assert len(told()) == 1

    def test_only_the_batches_that_it_asks_for(self, report, tenant):
        endpoints.add(tenant, URL, batches=["nightly"])
        call = report.async_(dedup=False).execute.request()
        made = {}
        for name in ("daily", "nightly"):
            with batch(name) as new:
                (member,) = new.add([call])
            made[name] = new.id, member
        for job in (submit(report).pk, *(member for _, member in made.values())):
            cancel(job, tenant_id=tenant.pk)
        (message,) = webhook_messages(tenant)
        number, member = made["nightly"]
        assert (message["data"]["id"], message["data"]["batch"]) == (member, {"id": number, "name": "nightly"})

    def test_a_job_revived_from_the_history_is_announced_again_unless_the_endpoint_is_off(self, report, endpoint):
        now = timezone.now()
        job = submit(report)
        cancel(job.pk, tenant_id=job.tenant_id)

        def announced() -> bool:
            day = timedelta(days=1)
            call_at(now + day, store.archive, 0, now - day, now + day)
            assert store.restore(job.pk, tenant_id=job.tenant_id)
            cancel(job.pk, tenant_id=job.tenant_id)
            return Job.objects.get(pk=job.pk).announced

        assert announced()
        first, second = WebhookMessage.objects.order_by("event")
        assert (first.data["id"], first.event < second.event) == (second.data["id"], True)
        WebhookEndpoint.objects.update(off_at=now)
        assert not announced()

    def test_without_arguments_results_and_the_texts_of_errors(self, report, endpoint, tenant):
        job = submit(report)
        start(job)
        store.fail(job.pk, 1, store.Failure("ValueError", "hunter2 at /etc/secret"))
        (message,) = webhook_messages(tenant)
        assert message["data"] == {
            **{"id": job.pk, "status": "error", "attempt": 1, "source_type": "reports.datareport"},
            **{"source_id": str(report.pk), "source_method": "execute", "user": "", "batch": None},
            "error": "ValueError",
        }
        assert (message["type"], message["timestamp"][10]) == ("job.error", "T")
        assert "hunter2" not in json.dumps(message)

    def test_a_stranger_is_told_nothing(self, report, foreign_report, endpoint):
        foreign, _ = endpoints.add(foreign_report.tenant, "https://stranger.example/")
        end(submit(report))
        assert (len(told(endpoint)), told(foreign)) == (1, [])
        assert (len(webhook_messages(report.tenant)), webhook_messages(foreign_report.tenant)) == (1, [])

    def test_at_the_cost_of_no_job_no_slot_and_no_place_in_the_backlog(self, report, endpoint, tenant):
        tenant.jobs_queue.max_waiting = 2
        tenant.jobs_queue.save()
        ended = [submit(report) for _ in range(2)]
        for job in ended:
            cancel(job.pk, tenant_id=tenant.pk)
        assert len(told()) == 2
        more = [submit(report) for _ in range(2)]
        assert set(Job.objects.values_list("pk", flat=True)) == {job.pk for job in (*ended, *more)}

    def test_a_user_that_is_erased_is_not_told_nor_are_messages_kept_without_an_endpoint(
        self, report, tenant, endpoint
    ):
        job = report.async_(dedup=False, user="ines").execute()
        cancel(job, tenant_id=tenant.pk)
        other, _ = endpoints.add(TenantFactory(), URL)
        WebhookMessage.objects.create(
            endpoint_id=other.pk, event=1, ended_at=timezone.now(), user_key="leo", data={"status": "dead"}
        )
        assert webhook_messages(tenant)[0]["data"]["user"] == "ines"
        erase(tenant.pk)
        assert sorted(WebhookMessage.objects.values_list("user_key", flat=True)) == ["", "leo"]
        WebhookHour.objects.create(endpoint_id=other.pk, hour=timezone.now() - timedelta(days=2, seconds=1))
        endpoint.delete()
        prune()
        assert list(WebhookMessage.objects.values_list("endpoint_id", flat=True)) == [other.pk]
        assert not WebhookHour.objects.exists()

    def test_a_message_that_an_earlier_version_stored_as_a_job_goes_into_the_outbox_once(
        self, tenant, endpoint, register
    ):
        data = {"id": 42, "status": "dead", "attempt": 3, "user": "ines", "batch": None}
        old = {"id": 7, "type": "job.dead", "timestamp": "2030-01-31T09:00:00.123456+00:00", "data": data}
        gone = endpoint.pk + 1000
        for to in (endpoint.pk, endpoint.pk, gone):
            jobs_of_old(tenant, to, old)
        jobs_of_old(TenantFactory(), endpoint.pk, {**old, "id": 8})  # a stranger's
        Job.objects.update(announced=False)  # as that version stored them
        drain()
        (message,) = WebhookMessage.objects.all()
        assert OutboxMessage(message.event, message.ended_at, message.user_key, message.data).body() == old
        assert set(Job.objects.values_list("status", flat=True)) == {"success"}


def jobs_of_old(tenant, endpoint: int, message: dict) -> None:
    async_(deliver.deliver, tenant=tenant, dedup=False)(endpoint=endpoint, message=message)


class TestKept:
    """For three days, and not more than the bound; the tenant reads what was dropped."""

    @pytest.fixture
    def few(self, monkeypatch) -> None:
        monkeypatch.setattr(outbox, "MOST_KEPT", 3)
        monkeypatch.setattr(outbox, "BATCH", 1)

    @pytest.mark.usefixtures("few")
    def test_the_oldest_that_are_too_many_or_too_old_are_dropped(self, owner, report, endpoint, caplog):
        jobs = [submit(report).pk for _ in range(5)]
        for job in jobs:
            cancel(job, tenant_id=report.tenant_id)
        outbox.drop()
        assert [job for job, _ in told()] == jobs[2:]
        WebhookMessage.objects.filter(data__id=jobs[2]).update(ended_at=timezone.now() - timedelta(days=3, seconds=1))
        outbox.drop()
        assert [job for job, _ in told()] == jobs[3:]
        assert f"webhook messages dropped endpoint={endpoint.pk} messages=2" in caplog.text
        (mine,) = owner.get("/api/v1/webhooks").json()["webhooks"]
        assert (mine["waiting"], mine["dropped"], mine["delivered"], mine["failed"]) == (2, 3, 0, 0)
        assert mine["oldest_waiting_at"] == WebhookMessage.objects.earliest("event").ended_at.isoformat()[:-9] + "Z"


def test_health_knows_what_works_fails_and_waits(report, tenant):
    now = timezone.now()
    assert call_at(now, look_webhooks) == WebhooksLook(0, 0, 0, 0, 0, 0.0)
    _on, fails, fails_long, off = (endpoints.add(tenant, URL)[0] for _ in range(4))
    cancel(report.async_(dedup=False).execute(), tenant_id=tenant.pk)
    WebhookMessage.objects.update(ended_at=now - timedelta(seconds=9))
    for one, since in ((fails, 59), (fails_long, 61), (off, 99)):
        WebhookEndpoint.objects.filter(pk=one.pk).update(failing_since=now - timedelta(minutes=since))
    WebhookEndpoint.objects.filter(pk=off.pk).update(off_at=now)
    assert call_at(now, look_webhooks) == WebhooksLook(1, 2, 1, 1, 3, 9.0)


class TestOverHTTP:
    def add(self, caller, url=URL, **more):
        return caller.post("/api/v1/webhooks", {"url": url, **more}, content_type="application/json")

    def test_a_tenant_adds_lists_and_removes_its_own(self, owner, tenant):
        made = self.add(owner, types=["reports.datareport.execute"], batches=["nightly"])
        assert (made.status_code, made.json()["batches"]) == (201, ["nightly"])
        for wrong in ([""], ["x" * 201], ["x"] * 101):
            assert "batches" in str(self.add(owner, batches=wrong).json()["errors"])
        endpoint = WebhookEndpoint.objects.get(tenant=tenant)
        assert made.json()["secret"] == signing.secret_of(endpoint.salt)
        listed = owner.get("/api/v1/webhooks")
        assert [one["url"] for one in listed.json()["webhooks"]] == [URL]
        assert "secret" not in listed.content.decode()
        assert endpoint.salt not in listed.content.decode()
        assert owner.delete(f"/api/v1/webhooks/{endpoint.pk}").status_code == 204
        assert not WebhookEndpoint.objects.exists()

    def test_a_stranger_sees_and_changes_none(self, stranger, endpoint):
        assert stranger.get("/api/v1/webhooks").json() == {"webhooks": []}
        for pk in (endpoint.pk, 10**12):
            assert stranger.delete(f"/api/v1/webhooks/{pk}").status_code == 404
            assert stranger.post(f"/api/v1/webhooks/{pk}/switch-on").status_code == 404
        assert WebhookEndpoint.objects.exists()

    def test_an_endpoint_that_was_switched_off_is_switched_on(self, owner, endpoint):
        WebhookEndpoint.objects.update(off_at=timezone.now(), failing_since=timezone.now(), last_error="no")
        answer = owner.post(f"/api/v1/webhooks/{endpoint.pk}/switch-on").json()
        assert (answer["off_at"], answer["failing_since"], answer["last_error"]) == (None, None, "")

    @pytest.mark.parametrize(
        "url", ["http://example.com/", "https://127.0.0.1/", "https://169.254.169.254/", "https://localhost/"]
    )
    def test_an_address_of_ours_is_refused_at_once(self, owner, url):
        answer = self.add(owner, url)
        assert (answer.status_code, WebhookEndpoint.objects.count()) == (422, 0)
        assert "url" in str(answer.json()["errors"])

    def test_there_are_ten_at_most(self, owner):
        answers = [self.add(owner).status_code for _ in range(11)]
        assert answers == [201] * 10 + [422]

    def test_an_endpoint_is_switched_off_tried_and_gets_a_new_secret_by_its_owner_alone(
        self, owner, stranger, endpoint
    ):
        later = timezone.now() + timedelta(hours=1)
        WebhookEndpoint.objects.update(next_at=later)
        for action in ("try-now", "switch-off", "replace-secret"):
            assert stranger.post(f"/api/v1/webhooks/{endpoint.pk}/{action}").status_code == 404
        assert WebhookEndpoint.objects.get().next_at == later
        assert owner.post(f"/api/v1/webhooks/{endpoint.pk}/try-now").json()["next_try_at"] is None
        secret = owner.post(f"/api/v1/webhooks/{endpoint.pk}/replace-secret").json()["secret"]
        now = WebhookEndpoint.objects.get()
        assert (secret, now.former_salt) == (signing.secret_of(now.salt), endpoint.salt)
        assert owner.post(f"/api/v1/webhooks/{endpoint.pk}/switch-off").json()["off_at"]

    def test_a_tenant_calls_the_job_itself_not_at_all(self, owner, endpoint):
        call = {"source_type": "jobs.engine.webhooks.deliver", "source_method": "deliver"}
        call["args"] = {"endpoint": endpoint.pk, "message": {}}
        assert owner.post("/api/v1/jobs", call, content_type="application/json").status_code == 422


class TestTheCommand:
    def test_adds_lists_switches_on_and_removes(self, tenant, capsys):
        call_command("webhooks", "add", tenant.slug, URL, "--batch", "nightly")
        endpoint = WebhookEndpoint.objects.get()
        assert endpoint.batches == ["nightly"]
        assert signing.secret_of(endpoint.salt) in capsys.readouterr().out
        call_command("webhooks", "list", "--json")
        out = capsys.readouterr().out
        assert json.loads(out)["webhooks"][0]["url"] == URL
        assert "whsec_" not in out
        for change in ("try-now", "switch-off", "switch-on", "replace-secret"):
            call_command("webhooks", change, str(endpoint.pk))
        endpoint.refresh_from_db()
        assert signing.secret_of(endpoint.salt) in capsys.readouterr().out
        call_command("webhooks", "remove", str(endpoint.pk))
        assert not WebhookEndpoint.objects.exists()
        with pytest.raises(CommandError, match="no webhook"):
            call_command("webhooks", "remove", str(endpoint.pk))


def test_an_operators_page_tells_the_secret_once_and_a_reload_adds_nothing(admin_client, tenant):
    form = {"tenant": tenant.slug, "url": URL, "next": "/ops/webhooks/"}
    page = admin_client.post("/ops/webhooks/add", form, follow=True)
    secret = signing.secret_of(WebhookEndpoint.objects.get().salt)
    assert (secret in page.content.decode(), "no-store" in page["Cache-Control"]) == (True, True)
    assert page.redirect_chain == [("/ops/webhooks/", 303)]
    assert secret not in admin_client.get("/ops/webhooks/").content.decode()


def test_no_log_and_no_audit_entry_has_a_secret(owner, caplog):
    secret = owner.post("/api/v1/webhooks", {"url": URL}, content_type="application/json").json()["secret"]
    salt = WebhookEndpoint.objects.get().salt
    for text in (caplog.text, json.dumps(list(Change.objects.values("values", "subject")))):
        assert secret not in text
        assert salt not in text


@pytest.mark.django_db(transaction=True)
def test_a_tenant_has_ten_at_most_also_if_two_come_at_once_and_a_stranger_its_own(tenant, elsewhere, blocked):
    for _ in range(endpoints.MOST - 1):
        endpoints.add(tenant, URL)
    with transaction.atomic():
        endpoints.add(tenant, URL)
        another = elsewhere(endpoints.add, tenant, URL)
        while not blocked():
            assert not another.done()
        endpoints.add(TenantFactory(), URL)
    with pytest.raises(InvalidRequest, match="there are 10 endpoints already"):
        another.result()
    assert WebhookEndpoint.objects.filter(tenant=tenant).count() == endpoints.MOST
