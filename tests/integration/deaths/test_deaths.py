"""A job dies: the signal says so once, and people are told of many deaths in one message."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core import mail
from django.utils import timezone

from jobs import signals
from jobs.engine.deaths import channels
from jobs.engine.deaths.notify import SETTLED, Deaths, notify
from jobs.engine.upkeep import recover
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import DeathNotice, FailedAttempt, Job
from jobs.store import EVERY_TENANT, Failure
from jobs.worker.clock import duties
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SOON = timedelta(seconds=SETTLED)


@pytest.fixture(autouse=True)
def admins(settings) -> None:
    settings.ADMINS = [("", "ops@example.com"), ("", "oncall@example.com")]


@pytest.fixture
def tenant():
    return TenantFactory(slug="acme")


@pytest.fixture
def told(settings, monkeypatch) -> list[list[Deaths]]:
    """What the only notifier was given, time after time."""
    told: list[list[Deaths]] = []
    monkeypatch.setattr(channels, "remember", told.append, raising=False)
    settings.JOBS_DEATH_NOTIFIERS = ["jobs.engine.deaths.channels.remember"]
    return told


def die(tenant, number: int = 1, error: str = "ValueError: no", at: datetime | None = None, **fields) -> list[Job]:
    """So many jobs that are dead, long enough to be announced."""
    at = at or timezone.now() - SOON
    queue = make_job(tenant, Status.CANCELLED).queue
    said = {"tenant": tenant, "queue": queue, "status": "dead", "end_time": at, "died_at": at, "attempt": 3}
    said |= {"source_type": "reports.datareport", "source_method": "execute", "args": {"password": "hunter2"}}
    dead = Job.objects.bulk_create([Job(**said | {"last_error": error} | fields) for _ in range(number)])
    FailedAttempt.objects.bulk_create(
        FailedAttempt(job=job, attempt=attempt, error_class=error_class, error="no", end_time=at)
        for job in dead
        for attempt, error_class in ((2, "EarlierError"), (3, error.partition(":")[0]))
    )
    return dead


class TestTheSignal:
    @pytest.fixture
    def heard(self) -> Iterator[list[tuple[int, int]]]:
        heard = []

        def hear(sender: object, job_id: int, attempt: int, **_: object) -> None:
            heard.append((job_id, attempt))

        signals.job_died.connect(hear)
        yield heard
        signals.job_died.disconnect(hear)

    def test_a_job_that_crashed_too_often_is_said_to_be_dead_once(self, heard, tenant, settings):
        settings.JOBS_MAX_CRASHES = 1
        job = make_job(tenant, Status.RUNNING, attempt=4)
        recover.take_back(job.pk, 4, Failure("ProcessDied", "killed"))
        recover.take_back(job.pk, 4, Failure("ProcessDied", "killed"))
        assert heard == [(job.pk, 4)]

    def test_a_job_that_will_be_tried_again_has_not_died(self, heard, tenant):
        job = make_job(tenant, Status.RUNNING)
        recover.take_back(job.pk, 1, Failure("ProcessDied", "killed"))
        assert heard == []

    def test_a_receiver_that_raises_keeps_the_others_from_nothing(self, heard, tenant, settings):
        def refuse(**_: object) -> None:
            raise RuntimeError("no")

        settings.JOBS_MAX_CRASHES = 1
        signals.job_died.connect(refuse)
        try:
            job = make_job(tenant, Status.RUNNING)
            recover.take_back(job.pk, 1, Failure("ProcessDied", "killed"))
        finally:
            signals.job_died.disconnect(refuse)
        assert Job.objects.get(pk=job.pk).status == "dead"
        assert heard == [(job.pk, 1)]


class TestOneMessage:
    def test_a_thousand_deaths_are_one_message_with_counts(self, tenant):
        last = die(tenant, 1000, "OperationalError: connection refused")[-1]
        die(tenant, 2)
        (other,) = die(TenantFactory(slug="beta"), source_method="refresh")
        notify()
        (message,) = mail.outbox
        assert message.subject.endswith("1,003 jobs died")
        assert message.to == ["ops@example.com", "oncall@example.com"]
        lines = message.body.splitlines()
        assert lines[2:4] == [
            "1,000 x reports.datareport.execute of acme: OperationalError",
            f"    for example job {last.pk}: OperationalError: connection refused",
        ]
        assert lines[4] == "2 x reports.datareport.execute of acme: ValueError"
        assert lines[6:8] == [
            "1 x reports.datareport.refresh of beta: ValueError",
            f"    for example job {other.pk}: ValueError: no",
        ]

    def test_arguments_are_in_no_message(self, tenant):
        die(tenant)
        notify()
        assert "hunter2" not in mail.outbox[0].body

    def test_the_line_breaks_of_an_error_make_no_line_of_another_tenant(self, tenant):
        die(tenant, 1, "ValueError: no\n9 x reports.datareport.execute of beta: Forged\x1b[2J")
        notify()
        (line,) = [line for line in mail.outbox[0].body.splitlines() if "beta" in line]
        assert line.endswith(r"ValueError: no\n9 x reports.datareport.execute of beta: Forged\x1b[2J")

    def test_many_kinds_of_death_are_cut_to_the_most_frequent(self, tenant):
        for n in range(channels.GROUPS_SHOWN + 2):
            die(tenant, 2 if n == 7 else 1, f"Error{n}: no")
        notify()
        body = mail.outbox[0].body
        assert body.splitlines()[2].endswith("Error7")
        assert body.count("for example") == channels.GROUPS_SHOWN
        assert "and 2 in 2 more groups" in body

    def test_when_nothing_died_nothing_is_sent(self, tenant):
        make_job(tenant, Status.ERROR)
        make_job(tenant, Status.CANCELLED)
        notify()
        assert mail.outbox == []

    def test_without_admins_nothing_is_sent(self, tenant, settings):
        settings.ADMINS = []
        die(tenant)
        notify()
        assert mail.outbox == []

    def test_the_clock_sees_to_it_at_the_interval(self, settings):
        settings.JOBS_DEATH_NOTICE_INTERVAL = 17.0
        (duty,) = [duty for duty in duties.duties() if duty.every == 17.0]
        told = threading.Event()
        settings.JOBS_DEATH_NOTIFIERS = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("jobs.engine.deaths.notify.notify", told.set)
            duty.run_if_due()
            assert told.wait(30)


class TestEachDeathOnce:
    def test_the_next_message_tells_only_what_died_since(self, tenant, told):
        now = timezone.now()
        die(tenant, 3, at=now)
        call_at(now + SOON, notify)
        call_at(now + SOON, notify)
        die(tenant, 2, at=now + timedelta(microseconds=1))
        call_at(now + 2 * SOON, notify)
        assert [[group.count for group in groups] for groups in told] == [[3], [2]]
        set_back = now - timedelta(minutes=1)
        die(tenant, at=set_back)
        call_at(set_back + SOON, notify)
        assert [group.count for group in told.pop()] == [1], "PostgreSQL's clock was set back"

    def test_the_last_seconds_wait_so_that_no_late_commit_is_missed(self, tenant, told):
        now = timezone.now()
        die(tenant, at=now)
        call_at(now + SOON - timedelta(microseconds=1), notify)
        assert told == []
        # Its moment is earlier than the one that is there already, its commit is later.
        die(tenant, at=now - timedelta(seconds=1))
        call_at(now + SOON, notify)
        assert [groups[0].count for groups in told] == [2]

    def test_each_notifier_has_a_row_under_its_own_name(self, tenant, settings, monkeypatch):
        told = []
        for name in ("plumless", "buckeroo"):  # alike to a checksum: their CRC-32 is the same
            monkeypatch.setattr(channels, name, lambda deaths, name=name: told.append(name), raising=False)
        settings.JOBS_DEATH_NOTIFIERS = ["jobs.engine.deaths.channels.plumless", "jobs.engine.deaths.channels.buckeroo"]
        died_at = die(tenant)[0].died_at
        notify()
        notify()
        assert told == ["plumless", "buckeroo"]
        assert dict(DeathNotice.objects.values_list("notifier", "upto")) == dict.fromkeys(
            settings.JOBS_DEATH_NOTIFIERS, died_at
        )

    def test_a_dead_job_that_was_revived_is_not_announced(self, tenant, told):
        (job,) = die(tenant)
        revive(job.pk, tenant_id=EVERY_TENANT)
        notify()
        assert told == []

    def test_while_one_clock_announces_another_does_not(self, tenant, told, elsewhere, monkeypatch):
        die(tenant)
        inside, leave = threading.Event(), threading.Event()

        def slowly(deaths: list[Deaths]) -> None:
            told.append(deaths)
            inside.set()
            assert leave.wait(30)

        monkeypatch.setattr(channels, "remember", slowly)
        first = elsewhere(notify)
        assert inside.wait(30)
        elsewhere(notify).result(30)  # it does not wait for the first, either
        leave.set()
        first.result(30)
        notify()
        assert len(told) == 1

    def test_two_clocks_that_begin_at_once_send_one(self, tenant, told, elsewhere):
        die(tenant)
        barrier = threading.Barrier(2)

        def together() -> None:
            barrier.wait(30)
            notify()

        for announcing in [elsewhere(together), elsewhere(together)]:
            announcing.result(30)
        assert len(told) == 1


class Receiver(HTTPServer):
    """A webhook's other end: it answers with `status`, and keeps what it was sent."""

    def __init__(self) -> None:
        self.status = 204
        self.got: list[dict] = []
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hooks/secret-token"


class Answer(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append({"type": self.headers["Content-Type"], "path": self.path, **body})
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Not on stderr."""


class TestTheWebhook:
    @pytest.fixture
    def receiver(self, settings) -> Iterator[Receiver]:
        with Receiver() as receiver:
            settings.JOBS_DEATH_WEBHOOK = receiver.url
            thread = threading.Thread(target=receiver.serve_forever)
            thread.start()
            yield receiver
            receiver.shutdown()
            thread.join()

    def test_the_webhook_gets_json_for_people_and_for_programs(self, tenant, receiver):
        jobs = die(tenant, 2, "ValueError: " + "x" * 1000)
        notify()
        (got,) = receiver.got
        assert (got["type"], got["path"], got["count"]) == ("application/json", "/hooks/secret-token", 2)
        assert got["text"] == mail.outbox[0].body
        (group,) = got["deaths"]
        assert got["runbook"] == "docs/runbooks/deaths.md"
        assert group["last_error"] == ("ValueError: " + "x" * 1000)[: channels.ERROR_SHOWN]
        assert datetime.fromisoformat(group["last_at"]) == jobs[1].died_at
        assert group | {"last_error": "", "last_at": ""} == {
            "tenant": "acme",
            "job_type": "reports.datareport.execute",
            "error_class": "ValueError",
            "count": 2,
            "sample_job": jobs[1].pk,
            "last_error": "",
            "last_at": "",
        }

    @pytest.mark.parametrize("status", [500, 404, 302])
    def test_a_webhook_that_refuses_is_tried_again_and_the_mail_is_not_repeated(self, status, tenant, receiver, caplog):
        receiver.status = status
        die(tenant)
        notify()
        die(tenant)
        notify()
        receiver.status = 200
        notify()
        notify()
        assert [got["count"] for got in receiver.got] == [1, 2, 2]
        assert [message.subject.rpartition("] ")[2] for message in mail.outbox] == ["1 job died", "1 job died"]
        assert (
            caplog.messages.count("deaths not announced notifier=jobs.engine.deaths.channels.webhook error=HTTPError")
            == 2
        )
        assert "secret-token" not in caplog.text

    def test_an_unreachable_webhook_harms_no_mail(self, tenant, settings, caplog):
        with Receiver() as closed:
            settings.JOBS_DEATH_WEBHOOK = closed.url
        die(tenant)
        notify()
        assert len(mail.outbox) == 1
        assert "error=URLError" in caplog.text

    def test_a_mail_server_that_fails_keeps_the_webhook_from_nothing(
        self, tenant, receiver, settings, caplog, monkeypatch
    ):
        die(tenant)
        settings.EMAIL_BACKEND = "no.such.Backend"
        notify()
        monkeypatch.setattr(channels, "mail_admins", lambda *_: sys.exit(1))
        notify()
        assert len(receiver.got) == 1
        asked, answers = [], threading.Event()
        monkeypatch.setattr(channels, "mail_admins", lambda *_: asked.append(answers.wait(30)))
        monkeypatch.setattr("jobs.engine.deaths.notify.NOTIFIER_SECONDS", 0.1)
        for _ in range(2):  # at the second time it still hangs
            notify()
        assert len(receiver.got) == 1
        failed = "notifier=jobs.engine.deaths.channels.mail error="
        errors = ["ModuleNotFoundError", "SystemExit", "TimeoutError", "TimeoutError"]
        assert re.findall(rf"{failed}(\w+)", caplog.text) == errors
        answers.set()
        wait_until(lambda: "notifier" not in str(threading.enumerate()), "it has ended")
        monkeypatch.setattr("jobs.engine.deaths.notify.NOTIFIER_SECONDS", 30)
        notify()
        assert len(asked) == 2
