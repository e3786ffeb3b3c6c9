"""Each end of a job is told once to the endpoints of its tenant, whatever dies; and nothing to strangers."""

import json
import uuid
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from jobs import batch, store
from jobs.calls.refusals import InvalidRequest
from jobs.engine.cancel import cancel
from jobs.engine.webhooks import deliver as delivering
from jobs.engine.webhooks import endpoints, posting, signing
from jobs.engine.webhooks.announce import announce
from jobs.engine.webhooks.posting import NotDelivered
from jobs.models import Job, WebhookEndpoint, WebhookEvent
from tenants.models import Change
from tests.clock import call_at
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db

URL = "https://hooks.customer.example/jobs"
DELIVER = "deliver"


@pytest.fixture
def endpoint(tenant) -> WebhookEndpoint:
    return endpoints.add(tenant, URL)[0]


def submit(report) -> Job:
    return Job.objects.get(pk=report.async_(dedup=False).execute())


def told() -> list[tuple[int, str]]:
    """The messages that wait to be delivered: job and status."""
    found = Job.objects.filter(source_method=DELIVER).order_by("pk")
    return [(job.args["message"]["data"]["id"], job.args["message"]["data"]["status"]) for job in found]


def start(job: Job) -> None:
    started = {"status": "running", "slot": 1, "ticket": 0, "attempt": 1, "worker": uuid.uuid4(), "worker_pid": 1}
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(ready_at=None, queued_at=now, start_time=now, **started)


def end(job: Job) -> None:
    """Its attempt ends well."""
    start(job)
    assert store.succeed(job.pk, 1, {}, None)


class TestTold:
    def test_the_end_of_a_job_that_was_submitted_after_the_endpoint_was_added(self, report, endpoint):
        job = submit(report)
        announce()
        assert told() == []
        end(job)
        announce()
        assert told() == [(job.pk, "success")]

    def test_also_that_it_was_cancelled_before_it_started(self, report, endpoint):
        job = submit(report)
        cancel(job.pk, tenant_id=job.tenant_id)
        announce()
        assert told() == [(job.pk, "cancelled")]

    def test_once_however_often_the_clock_looks(self, report, endpoint):
        end(submit(report))
        for _ in range(3):
            announce()
        assert len(told()) == 1
        assert not WebhookEvent.objects.exists()

    def test_once_though_the_clock_dies_before_its_commit(self, report, endpoint):
        end(submit(report))
        with pytest.raises(ConnectionError), transaction.atomic():
            announce()
            raise ConnectionError
        assert told() == []
        announce()
        assert len(told()) == 1

    def test_nothing_of_a_settling_that_was_rolled_back(self, report, endpoint):
        job = submit(report)
        with pytest.raises(ConnectionError), transaction.atomic():
            end(job)
            raise ConnectionError
        announce()
        assert told() == []

    def test_nothing_without_an_endpoint(self, report):
        end(submit(report))
        assert not WebhookEvent.objects.exists()

    def test_only_the_types_that_it_asks_for(self, report, tenant):
        endpoints.add(tenant, URL, ["reports.datareport.other"])
        end(submit(report))
        announce()
        assert told() == []
        endpoints.add(tenant, URL, ["reports.datareport.execute"])
        end(submit(report))
        announce()
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
        announce()
        (message,) = Job.objects.filter(source_method=DELIVER)
        number, member = made["nightly"]
        data = message.args["message"]["data"]
        assert (data["id"], data["batch"]) == (member, {"id": number, "name": "nightly"})

    def test_no_message_is_told_of(self, report, endpoint):
        end(submit(report))
        announce()
        message = Job.objects.get(source_method=DELIVER)
        assert not message.announced
        cancel(message.pk, tenant_id=message.tenant_id)
        announce()
        assert not WebhookEvent.objects.exists()

    def test_one_that_is_revived_from_the_history_is_told_again_unless_the_endpoint_is_off_or_it_is_a_message(
        self, report, endpoint
    ):
        now = timezone.now()
        job = submit(report)
        cancel(job.pk, tenant_id=job.tenant_id)
        announce()
        message = Job.objects.get(source_method=DELIVER)
        cancel(message.pk, tenant_id=message.tenant_id)

        def announced(job_id) -> bool:
            day = timedelta(days=1)
            call_at(now + day, store.archive, "cancelled", 0, now - day, now + day)
            assert store.restore(job_id, tenant_id=job.tenant_id)
            cancel(job_id, tenant_id=job.tenant_id)
            return Job.objects.get(pk=job_id).announced

        assert announced(job.pk)
        assert not announced(message.pk)
        WebhookEndpoint.objects.update(off_at=now)
        assert not announced(job.pk)

    def test_without_arguments_results_and_the_texts_of_errors(self, report, endpoint):
        job = submit(report)
        start(job)
        store.fail(job.pk, 1, store.Failure("ValueError", "hunter2 at /etc/secret"))
        announce()
        message = Job.objects.get(source_method=DELIVER).args["message"]
        assert message["data"]["error"] == "ValueError"
        assert "hunter2" not in json.dumps(message)

    def test_a_full_backlog_holds_up_nobody_else_loses_nothing_and_takes_what_fits(
        self, report, foreign_report, tenant, endpoint
    ):
        endpoints.add(tenant, URL), endpoints.add(foreign_report.tenant, URL)
        mine = [submit(report).pk for _ in range(3)]
        for job_id in mine:
            cancel(job_id, tenant_id=tenant.pk)
        end(submit(foreign_report))
        tenant.jobs_queue.max_waiting = 0
        tenant.jobs_queue.save()
        announce()
        assert (len(told()), WebhookEvent.objects.count()) == (1, 3)
        tenant.jobs_queue.max_waiting = 5
        tenant.jobs_queue.save()
        announce()
        assert [job_id for job_id, _ in told()[1:]] == [mine[0], mine[0], mine[1], mine[1]]
        for message in Job.objects.filter(source_method=DELIVER, tenant=tenant):
            cancel(message.pk, tenant_id=tenant.pk)
        announce()
        assert told()[-1] == (mine[2], "cancelled")

    def test_a_stranger_is_told_nothing(self, report, foreign_report, endpoint):
        endpoints.add(foreign_report.tenant, "https://stranger.example/")
        end(submit(report))
        announce()
        (message,) = Job.objects.filter(source_method=DELIVER)
        assert (message.tenant_id, message.args["endpoint"]) == (report.tenant_id, endpoint.pk)


class TestDelivering:
    @pytest.fixture(autouse=True)
    def _posts(self, monkeypatch, tenant):
        self.posts, self.fails = [], False

        def post(url, body, headers, allowed):
            if self.fails:
                raise NotDelivered("the answer was 500")
            self.posts.append((url, body, headers))

        monkeypatch.setattr(posting, "post", post)
        self.tenant = tenant

    def deliver(self, monkeypatch, endpoint, tenant=None) -> str:
        monkeypatch.setattr(delivering, "current_job", lambda: type("Present", (), {"tenant": tenant or self.tenant}))
        return delivering.deliver(endpoint=endpoint.pk, message={"id": 7, "type": "job.success"})

    def test_is_signed_with_the_secret_that_was_shown(self, monkeypatch, endpoint):
        assert self.deliver(monkeypatch, endpoint) == "delivered"
        (url, body, headers) = self.posts[0]
        assert (url, json.loads(body)["type"]) == (URL, "job.success")
        again = signing.headers(headers["webhook-id"], timezone.now(), body, endpoint.salt)
        assert again.keys() == headers.keys()

    def test_a_stranger_has_no_such_endpoint(self, monkeypatch, endpoint):
        assert "gone" in self.deliver(monkeypatch, endpoint, TenantFactory())
        assert self.posts == []

    def test_a_failure_is_noted_and_a_success_ends_it(self, monkeypatch, endpoint):
        self.fails = True
        with pytest.raises(NotDelivered):
            self.deliver(monkeypatch, endpoint)
        endpoint.refresh_from_db()
        assert (endpoint.last_error, endpoint.off_at) == ("the answer was 500", None)
        assert endpoint.failing_since
        self.fails = False
        self.deliver(monkeypatch, endpoint)
        endpoint.refresh_from_db()
        assert (endpoint.failing_since, endpoint.last_error) == (None, "")

    def test_after_three_days_of_failures_it_is_off_and_its_tenant_is_told(self, monkeypatch, report, endpoint):
        delays = [delivering.RETRY.delay(NotDelivered(), n) for n in range(delivering.RETRY.max_retries)]
        assert delivering.PATIENCE < timedelta(seconds=sum(delays)) < timedelta(days=4), "by the tries of one message"
        self.fails = True
        WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=2.9))
        with pytest.raises(NotDelivered):
            self.deliver(monkeypatch, endpoint)
        assert WebhookEndpoint.objects.get().off_at is None
        WebhookEndpoint.objects.update(failing_since=timezone.now() - timedelta(days=3.1))
        with pytest.raises(NotDelivered):
            self.deliver(monkeypatch, endpoint)
        assert WebhookEndpoint.objects.get().off_at
        assert Change.objects.filter(tenant_id=endpoint.tenant_id, verb="switched off").exists()
        assert "off" in self.deliver(monkeypatch, endpoint)
        assert not submit(report).announced
        endpoints.switch_on(endpoint)
        assert submit(report).announced


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

    def test_one_that_was_switched_off_is_switched_on(self, owner, endpoint):
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
        call_command("webhooks", "switch-on", str(endpoint.pk))
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
