"""The page of a job type: of that type alone; and its pause, wherever one sees the type fail."""

import re
from datetime import datetime, timedelta
from html import unescape

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from jobs.console.ops.job_type import reads
from jobs.console.ops.shared import history, present_queries
from jobs.console.ops.shared.history import AskedPeriod
from jobs.lifecycle import Status
from jobs.models import Attempt, FailedAttempt, Job, JobMinute, PausedJobType, Schedule, Total
from jobs.reading.statistics import BUCKETS
from tenants.models import Change, Tenant
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import said, status, text
from tests.integration.dashboard.test_past import too_many

pytestmark = pytest.mark.django_db
CALL, OTHER = ({"source_type": "reports.datareport", "source_method": name} for name in ("execute", "refresh_all"))
PAGE = "/ops/types/reports.datareport.execute/"
LOST = "'Invoice' object has no attribute 'net_total'"


def minute(outcome: str, attempts: int, *, back: int, bucket: int = 10, **call) -> None:
    buckets = [0] * BUCKETS
    buckets[bucket] = attempts
    both = {"run_buckets": buckets, "wait_buckets": buckets, "run_seconds": 2.0 * attempts, "wait_seconds": 1.0}
    tally = {**(call or CALL), **both, "queue_id": QueueFactory().pk, "outcome": outcome, "attempts": attempts}
    JobMinute.objects.create(minute=history.minute() - timedelta(minutes=back), **tally)


def attempt(tenant: Tenant, ended_at: datetime, error: str = "", status: Status = Status.SUCCESS, **call) -> None:
    last_error = f"AttributeError: {error}" if status == Status.DEAD else ""
    job = make_job(tenant, status, last_error=last_error, **(call or CALL))
    times = {"start_time": ended_at - timedelta(seconds=3), "waited_since": ended_at - timedelta(seconds=63)}
    facts = {"tenant_id": tenant.pk, "queue_id": job.queue_id, "attempt": 1, "priority": 5, "user_key": ""}
    outcome = "success" if status == Status.SUCCESS else status if status == Status.DEAD else "retry"
    Attempt.objects.create(job_id=job.pk, ended_at=ended_at, outcome=outcome, **times, **facts, **(call or CALL))
    if error:
        failed = {"error_class": "AttributeError", "error": error, "end_time": ended_at}
        FailedAttempt.objects.create(job=job, attempt=1, **failed)


@pytest.fixture
def past(monkeypatch) -> Tenant:
    """The owner has 3 attempts, of which two failed; the stranger one of another type."""
    now = history.minute()
    monkeypatch.setattr(history, "minute", lambda: now)
    owner, stranger = TenantFactory(name="Owner & Co.", slug="owner"), TenantFactory(name="Stranger")
    minute("success", 1, back=5, bucket=20)
    minute("retry", 1, back=5, bucket=10)
    minute("dead", 1, back=5, bucket=10)
    minute("success", 8, back=24 * 60 + 5)
    minute("success", 70, back=5, **OTHER)
    ended_at = now - timedelta(minutes=4, seconds=30)
    attempt(owner, ended_at)
    attempt(owner, ended_at, LOST, Status.SCHEDULED)
    attempt(owner, ended_at + timedelta(seconds=1), LOST, Status.DEAD)
    attempt(stranger, ended_at, "no such thing", Status.SCHEDULED, **OTHER)
    rule = {"every": 60, "next_due": timezone.now(), "next_at": timezone.now()}
    Schedule.objects.create(tenant=owner, name="each minute", **rule, **CALL)
    Schedule.objects.create(tenant=stranger, name="of another", **rule, **OTHER)
    return owner


def test_the_page_of_a_type_has_its_numbers_errors_tenants_and_schedules_and_no_others(past, client, monkeypatch):
    mark = {"who": "ines", "verb": "marked", "kind": "tenants.change", "subject_id": "", "subject": "release 4.2"}
    Change.objects.create(at=timezone.now() - timedelta(hours=1), **mark)
    answer = client.get(PAGE)
    page, shown = text(answer), answer.context["past"].ended
    assert (shown.chart.ghost.attempts, page.count(" release 4.2 by ines</title>")) == (8, 2)
    assert (shown.now.attempts, shown.now.failed, shown.before.attempts, shown.chart.total) == (3, 2, 8, 3)
    assert shown.now.run.p50 == pytest.approx(0.24, rel=0.3)
    assert [entry.label for entry in answer.context["menu"] if entry.here] == ["Jobs"]
    assert "67 %" in page and "a day ago 0 %" in page and shown.runs.bars.count("<title>") == 2
    [row] = answer.context["errors"]
    assert (row.failed, row.dead, row.error) == (2, 1, f"AttributeError: {LOST}")
    [(tenant, of_tenant)] = answer.context["lately"].tenants
    assert (tenant.slug, of_tenant.attempts, of_tenant.failed) == ("owner", 3, 2)
    assert (of_tenant.ran, of_tenant.waited, of_tenant.run_seconds) == (3.0, 60.0, 9.0)
    assert "each minute" in page and "of another" not in page and "Stranger" not in page
    assert "ended_since:" in page and "?q=type:reports.datareport.execute+ended_since:" in page
    assert (client.get(PAGE, {"range": "3d"}).context["past"].ended.before, "a day ago" in page) == (None, True)
    assert text(client.get("/ops/jobs/new/", {"call": "a.b"})).count('value="a.b"') == 1
    monkeypatch.setattr(present_queries, "look", too_many)
    monkeypatch.setattr(present_queries, "look_objects", too_many)
    slow = text(client.get(PAGE, {"range": "1h"}))
    assert "The ended attempts could not be read" in slow and "The tenants could not be read" in slow


def test_a_type_opens_without_its_code_and_a_name_that_is_no_type_is_not_found(client):
    gone = {"source_type": "shop.order", "source_method": "pay"}
    assert client.get("/ops/types/shop.order.pay/").status_code == 404
    job = make_job(TenantFactory(), **gone)
    assert "does not know its code" in text(client.get("/ops/types/shop.order.pay/"))
    job.delete()
    buckets = [0] * BUCKETS
    counted = {"attempts": 1, "run_seconds": 1, "wait_seconds": 1, "run_buckets": buckets, "wait_buckets": buckets}
    Total.objects.create(queue_id=1, outcome="success", **gone, **counted)
    assert "Nothing ended" in text(client.get("/ops/types/shop.order.pay/"))
    for odd in ("x", "a b.<i>", "%00.%1b", "9" * 400):
        assert client.get(f"/ops/types/{odd}/").status_code == 404


def test_the_failed_jobs_of_a_type_without_retries_are_revived_from_its_page(past, client, operator):
    minute("error", 2, back=5)
    at, of_all = history.minute() - timedelta(minutes=4), {"tenant": past, "status": Status.ERROR}
    failed = [make_job(**of_all, **CALL, end_time=at) for _ in range(2)]
    others = [make_job(**of_all, **CALL, end_time=at - timedelta(days=2)), make_job(**of_all, **OTHER, end_time=at)]
    button = "Revive its failed jobs of these 24h"
    for who, where in ((client, "/ops/types/reports.datareport.refresh_all/"), (operator("view_job"), PAGE)):
        assert button not in text(who.get(where))
    [form] = re.findall(r'action="/ops/jobs/revive".*?</form>', text(client.get(PAGE)), re.DOTALL)
    assert button in form
    sent = dict(re.findall(r'name="(\w+)" value="([^"]*)"', unescape(form)))
    later = make_job(**of_all, **CALL, end_time=at)
    assert said(client.post("/ops/jobs/revive", sent)) == "Revived 2 jobs."
    assert [status(job) for job in failed] == [Status.CREATED] * 2
    assert {status(job) for job in (*others, later)} == {Status.ERROR}


def test_a_type_that_fails_is_paused_and_resumed_where_it_is_seen_to_fail(past, client, operator):
    where = ["/ops/", "/ops/dead/", PAGE, f"/ops/jobs/{Job.objects.get(tenant=past, status=Status.DEAD).pk}/"]
    pause, resume = (f'action="/ops/types/{verb}"' for verb in ("pause", "resume"))
    for path in where:
        page = text(client.get(path))
        assert pause in page and resume not in page, path
        assert pause not in text(operator("view_job", "view_deadletter").get(path))
    answer = client.post("/ops/types/pause", {"type": "reports.datareport.execute", "next": "/ops/dead/"})
    assert (answer["Location"], said(answer)) == (
        "/ops/dead/",
        "Paused reports.datareport.execute: 0 waiting jobs are held.",
    )
    for path in where:
        page = text(client.get(path))
        assert resume in page and ">paused<" in page, path
    assert "added paused job type reports.datareport.execute" in " ".join(strip_tags(text(client.get(PAGE))).split())
    client.post("/ops/types/resume", {"type": "reports.datareport.execute"})
    assert not PausedJobType.objects.exists()


def test_few_attempts_of_all_types_are_read_for_one(past, monkeypatch):
    now = history.minute()
    minutes = [(now - timedelta(minutes=back), 40) for back in (1, 2, 4, 6)]
    pieces = [(now - timedelta(minutes=back), now - timedelta(minutes=until)) for back, until in ((2, 0), (4, 3))]
    monkeypatch.setattr(reads, "MAX_READ", 120)
    assert reads.times_to_read(minutes) == pieces
    monkeypatch.setattr(reads, "MAX_READ", 10)
    assert reads.times_to_read(minutes) == [(now - timedelta(minutes=1), now)]
    assert reads.times_to_read([]) == []
    minute("success", 9, back=7)
    lately = reads.lately.read(reads.TypeName(*CALL.values()), AskedPeriod("1h"))
    assert (lately.since, lately.attempts) == (now - timedelta(minutes=5), 3)
