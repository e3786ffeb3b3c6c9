"""`raise RetryLater(60, hold="tenant")`: who may say so, for how long, and who learns of it."""

import json
import logging
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from jobs import Retry, RetryLater
from jobs.allocation.gates import Gate
from jobs.authoring.exceptions import later_of
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import promote
from jobs.engine.verbs.open_line import open_line
from jobs.models import Hold, Job, Queue
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from tenants.models import Change
from tests.attempts import run, run_when_due
from tests.callers import browser_of, program_of, staff, superuser
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory
from tests.integration.cli.running import run as command
from tests.integration.dashboard.reading import said

pytestmark = pytest.mark.django_db(transaction=True)


def asks(*errors, **options):
    """A body that raises these, one after the other."""
    left = list(errors)

    def body(self):
        if left:
            raise left.pop(0)

    return body


@pytest.fixture(autouse=True)
def live_for_long(settings):
    """The worker of `thing` is live a minute later, too."""
    settings.JOBS_BEAT_INTERVAL = 3600.0


@pytest.fixture
def stranger():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def held(thing, body, sent):
    """Three jobs of a thing, the first of which holds this: its id, and the others'."""

    def held(what: str, why: str = "429 from partner", **options):
        body(asks(RetryLater(60, hold=what, why=why)), may_hold="queue", dedup=False, **options)
        first, *others = (thing.async_.echo() for _ in range(3))
        run(sent, first)
        dispatch()
        return first, others

    return held


class TestBodies:
    def test_a_hold_uses_no_retry_and_the_job_comes_first_then(self, held, sent, thing):
        first, others = held("tenant", retry=Retry.every(1, max_retries=0))
        job = Job.objects.get(pk=first)
        assert (job.status, job.retries, job.last_error) == ("scheduled", 0, "")
        assert Hold.objects.get().until == job.due_at
        assert not Job.objects.filter(pk__in=others).exclude(status="created").exists()
        call_at(job.due_at, lambda: run_when_due(sent, first))
        assert Job.objects.get(pk=first).status == "success"

    @pytest.mark.parametrize("retry", [None, Retry.every(9, max_retries=1)])
    def test_only_a_type_that_says_so_holds_its_queue(self, thing, body, sent, retry):
        body(asks(RetryLater(60, hold="queue")), retry=retry)
        job = run(sent, thing.async_.echo())
        assert job.status == ("error" if retry is None else "scheduled")
        assert 'mark sample.thing.echo with @job(may_hold="queue"), or say hold="tenant"' in job.last_error
        assert not Hold.objects.exists()

    def test_a_longer_hold_is_cut_and_the_log_says_so(self, thing, body, sent, settings, caplog):
        settings.JOBS_LONGEST_HOLD = 90.0
        body(asks(RetryLater(600)), dedup=False)
        waiting = run(sent, thing.async_.echo())
        assert (waiting.due_at - waiting.start_time).total_seconds() >= 600, "it holds nobody"
        body(asks(RetryLater(600, hold="tenant", why="x" * 999 + "\x00")), dedup=False)
        with caplog.at_level(logging.WARNING, "jobs"):
            job = run(sent, thing.async_.echo())
        hold = Hold.objects.get()
        assert (hold.until - hold.held_at).total_seconds() == 90
        assert (hold.until, len(hold.why)) == (job.due_at, 200)
        assert "hold cut" in caplog.text

    @pytest.mark.parametrize("given", [{"hold": "lane"}, {"hold": True}, {"hold": ["tenant"]}, {"why": 7}])
    def test_anything_else_is_an_error_of_its_author(self, given):
        with pytest.raises(ValueError, match="RetryLater takes"):
            RetryLater(60, **given)

    def test_the_longest_time_and_the_widest_hold_of_a_group_count(self):
        errors = [RetryLater(9), RetryLater(5, hold="queue", why="down"), RetryLater(7, hold="tenant")]
        later = later_of(ExceptionGroup("g", errors))
        assert (later.seconds, later.hold, later.why) == (9, "queue", "down")

    def test_a_stopped_job_holds_nobody(self, thing, body, sent):
        def stopped(self):
            Job.objects.update(cancel_requested_at=timezone.now())
            raise RetryLater(60, hold="tenant")

        body(stopped)
        assert run(sent, thing.async_.echo()).status == "cancelled"
        assert not Hold.objects.exists()


class TestReasons:
    def test_its_tenant_reads_which_job_holds_its_lane_and_why(self, held, thing, stranger):
        first, (second, _) = held("tenant")
        until = Hold.objects.get().until
        why = explain(second, tenant_id=thing.tenant.pk)
        assert (why.gate, why.opens_at, why.place) == (Gate.LANE_HELD, until, 1)
        assert why.sentence == f"Held until {until:%Y-%m-%d %H:%M:%S} UTC by job {first}: 429 from partner."
        assert explain(stranger.async_.echo(), tenant_id=stranger.tenant.pk).gate != Gate.LANE_HELD

    def test_a_stranger_in_a_held_queue_learns_of_no_job_of_another_tenant(self, held, thing, stranger):
        first, (second, _) = held("queue")
        of_stranger = stranger.async_.echo()
        until = f"{Hold.objects.get().until:%Y-%m-%d %H:%M:%S} UTC"
        told = explain(of_stranger, tenant_id=stranger.tenant.pk)
        assert (told.gate, told.sentence) == (Gate.QUEUE_HELD, f"Its queue is held until {until} by another job in it.")
        whole = f"Its queue is held until {until} by job {first}: 429 from partner."
        assert explain(second, tenant_id=thing.tenant.pk).sentence == whole
        assert explain(of_stranger, tenant_id=EVERY_TENANT).sentence == whole


class TestOpening:
    def test_a_line_waits_only_briefly_for_its_job_if_a_transaction_has_that(self, held, stranger, onlooker, sent):
        first, _ = held("queue")
        other = stranger.async_.echo()
        until = Hold.objects.get().until
        onlooker.execute("BEGIN")
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first])
        call_at(until + timedelta(seconds=2), promote)
        assert Hold.objects.exists(), "for a moment: this job is to be the first"
        call_at(until + timedelta(seconds=6), promote)
        call_at(until + timedelta(seconds=6), dispatch)
        onlooker.execute("ROLLBACK")
        assert other in [message.id for message in sent]

    def test_an_opened_line_is_audited_and_one_that_is_open_is_refused(self, held, thing):
        first, _ = held("tenant")
        queue = Queue.objects.get(name="default")
        with pytest.raises(InvalidRequest, match="no job holds queue default"):
            open_line(queue)
        assert command("queues", "open", "default", "--tenant", thing.tenant.slug).startswith("Queue default is open")
        change = Change.objects.get(verb="opened")
        assert (change.kind, change.subject, change.tenant_id) == ("jobs.queue", "default", thing.tenant.pk)
        assert Job.objects.get(pk=first).due_at <= timezone.now()
        with pytest.raises(CommandError, match="no job holds queue default for tenant"):
            command("queues", "open", "default", "--tenant", thing.tenant.slug)

    def test_an_operator_reads_and_opens_it_over_http(self, held, thing, stranger):
        first, _ = held("queue", why="down\x1b[2J")
        operator = program_of(superuser())
        (told,) = operator.get("/api/v1/operator/queues/default/holds").json()
        assert (told["tenant"], told["job_id"], told["why"]) == (None, first, "down\\x1b[2J")
        wrong = {"tenant": stranger.tenant.slug}
        opened = [
            operator.post("/api/v1/operator/queues/default/open", json.dumps(body), "application/json").status_code
            for body in (wrong, {"tenant": "nobody"}, {}, {})
        ]
        assert opened == [422, 404, 204, 422]

    def test_the_pages_show_it_with_a_button(self, held, thing):
        first, (second, _) = held("tenant", why="<b>429</b>")
        admin = browser_of(staff("view_queue", "change_queue", "view_job", "change_job"))
        shown = admin.get("/ops/queues/").content.decode()
        assert f"job {first}" in shown
        assert "&lt;b&gt;429" in shown
        assert "Open it now" in admin.get(f"/ops/jobs/{second}/").content.decode()
        answer = admin.post("/ops/queues/default/open", {"tenant": thing.tenant.slug})
        assert f"Opened queue default for tenant {thing.tenant.slug}." in said(answer)
        assert browser_of(staff("view_queue")).post("/ops/queues/default/open", {"tenant": ""}).status_code == 403


def test_a_drain_waits_for_a_held_line_without_waiting(body):
    thing = ThingFactory()
    body(asks(RetryLater(60, hold="tenant"), RetryLater(60, hold="tenant")), dedup=False)
    ids = [thing.async_.echo() for _ in range(3)]
    begun = timezone.now()
    assert [attempt.job_id for attempt in drain()] == ids[:1]
    assert [attempt.job_id for attempt in drain(later=True)] == [ids[0], *ids]
    assert timezone.now() - begun < timedelta(seconds=60)
