"""What the pages show of the past: of the right tenants, queues and pools, from what the recorder wrote."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape
from importlib import import_module
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test.utils import override_script_prefix
from django.utils.html import strip_tags

from jobs.console.ops.overview import reads as overview
from jobs.console.ops.shared import history, live, present_queries
from jobs.console.ops.tenant import reads as tenant_reads
from jobs.console.ops.tenants import reads as tenants_reads
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, JobMinute, PausedJobType, Queue, Sample, SlotHour, TenantHour, Worker
from jobs.reading.health import RULES, Fault, conditions
from jobs.reading.statistics import BUCKETS
from tenants.models import Change, TenantQueue
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db
CALL = {"source_type": "shop.order", "source_method": "pay"}


@pytest.fixture(autouse=True)
def within_a_minute(monkeypatch) -> None:
    """No other one begins between what a test writes and its look."""
    now = history.minute()
    monkeypatch.setattr(history, "minute", lambda: now)


def minute(back: int) -> datetime:
    return history.minute() - timedelta(minutes=back)


def tally(outcome: str, attempts: int) -> dict:
    buckets = [0] * BUCKETS
    buckets[10] = attempts
    both = {"run_buckets": buckets, "wait_buckets": buckets, "run_seconds": 1.0, "wait_seconds": 1.0}
    return {**CALL, **both, "queue_id": QueueFactory().pk, "outcome": outcome, "attempts": attempts}


def sample(back: int, **of) -> None:
    Sample.objects.create(at=minute(back), **{"tenants": {}, "queues": {}, "pools": {}} | of)


def test_strips_show_the_use_of_the_last_hour_and_no_other_tenants():
    owner, stranger, queue = TenantFactory(), TenantFactory(), QueueFactory()
    make_job(owner)
    both = {owner.pk: {"in_use": 2, "slots": 2, "waiting": 1}, stranger.pk: {"in_use": 1, "slots": 2, "waiting": 0}}
    sample(
        10, tenants=both, queues={queue.pk: {"in_use": 3, "waiting": 8}}, pools={"heavy": {"in_use": 1, "processes": 4}}
    )
    sample(70, tenants=both)
    seen = history.use_of_last_hour()
    assert set(seen.tenants) == {owner.pk}
    assert "Full for 1 of 1 samples" in seen.tenants[owner.pk]
    assert "Full for 0 of 1 samples" in seen.pools["heavy"]
    assert '<path class="some" d="M49 0h1v1h-1z"/>' in seen.pools["heavy"]
    assert "V0h1" in seen.queues[queue.pk]


def test_the_day_of_the_slots_is_that_of_the_tenant_and_short_attempts_count():
    owner, stranger = TenantFactory(), TenantFactory()
    hour = minute(0).replace(minute=0)
    for tenant, back, seconds, most in (
        (owner, 0, 360, 1),
        (owner, 23, 7200, 4),
        (owner, 24, 9, 9),
        (stranger, 5, 9, 2),
    ):
        SlotHour.objects.create(tenant_id=tenant.pk, hour=hour - timedelta(hours=back), seconds=seconds, most=most)
    drawn = tenant_reads.use_of_day(owner.pk, 2)
    assert re.findall(r"<title>\d\d:\d\d: (.*?)</title>", drawn.bars) == [
        "4 at most, 2.0 on average",
        "1 at most, 0.1 on average",
    ]
    assert (drawn.top, drawn.limit, drawn.most) == (4, 25.0, 4)
    assert tenant_reads.use_of_day(TenantFactory().pk, 2) is None
    sample(3, tenants={owner.pk: {"in_use": 0, "slots": 4, "waiting": 0, "seconds": 120.0}})
    [seen] = [one for one in history.samples(minute(59), {owner.pk}) if one]
    assert seen.use_of_tenant(owner.pk) == 0.5


def test_the_day_of_each_tenant_is_its_own():
    owner, stranger, idle = TenantFactory(), TenantFactory(), TenantFactory()
    hour = minute(0).replace(minute=0)
    TenantHour.objects.create(tenant_id=owner.pk, hour=hour, **tally("success", 90))
    TenantHour.objects.create(tenant_id=owner.pk, hour=hour - timedelta(hours=2), **tally("retry", 10))
    TenantHour.objects.create(tenant_id=owner.pk, hour=hour - timedelta(hours=30), **tally("dead", 99))
    TenantHour.objects.create(tenant_id=stranger.pk, hour=hour, **tally("success", 7))
    found = tenants_reads.days_of(frozenset({owner.pk, stranger.pk, idle.pk}))
    assert {pk: (one.attempts, one.failed, one.many_failed) for pk, one in found.items()} == {
        owner.pk: (100, 10, True),
        stranger.pk: (7, 0, False),
    }
    assert found[owner.pk].wait.p50 == pytest.approx(0.24, rel=0.3)


def too_many(*_, **__):
    raise OperationalError("canceling statement due to statement timeout")


def test_charts_reach_back_as_far_as_is_asked_and_say_if_that_takes_too_long(client, monkeypatch):
    for back in (5, 120, 900, 1440 + 5, 1440 + 120):
        JobMinute.objects.create(minute=minute(back), **tally("success", 10))
    shown = {
        length: client.get("/ops/", {"range": length}).context["past"].chart.total for length in ("1h", "6h", "24h")
    }
    assert shown == {"1h": 10, "6h": 20, "24h": 30}
    ghosts = [client.get("/ops/", {"range": length}).context["past"].chart.ghost for length in ("1h", "6h", "24h")]
    assert [ghost and ghost.attempts for ghost in ghosts] == [10, 20, 20]
    assert overview.ended_before("3d", minute(4320)) == ()
    assert client.get("/ops/", {"range": "9y"}).context["past"].chart.total == 10
    monkeypatch.setattr(present_queries, "look", too_many)
    monkeypatch.setattr(present_queries, "look_objects", too_many)
    page = client.get("/ops/", {"range": "3d"}).content.decode()
    assert "The ended attempts could not be read" in page
    assert "The failures could not be read" in page
    assert "Nothing ended" not in page


def test_charts_and_failures_end_when_is_asked_and_lead_on(client):
    for back, outcome in ((5, "success"), (95, "error"), (100, "success")):
        JobMinute.objects.create(minute=minute(back), **tally(outcome, 10))
    until = minute(90)
    since, earlier, later = (until + timedelta(minutes=more) for more in (-60, -30, 30))
    shown = client.get("/ops/", {"until": f"{until:%Y-%m-%dT%H:%M}"})
    assert shown.context["past"].chart.counts == {"good": 10, "bad": 10}
    assert shown.context["past"].failing == [("shop.order.pay", 10, 20)]
    page = shown.content.decode()
    assert f"ended_since%3A{since:%Y-%m-%dT%H%%3A%M}%20ended_until%3A{until:%Y-%m-%dT%H%%3A%M}" in page
    for name, moment in (("earlier", earlier), ("later", later)):
        assert getattr(shown.context["past"].period, name) == f"{moment:%Y-%m-%dT%H:%M}"
    for odd in ("x", "0001-01-01", "9999-12-31T23:59", f"{minute(-5):%Y-%m-%dT%H:%M}"):
        past = client.get("/ops/", {"until": odd}).context["past"]
        assert (past.period.until, past.period.later, past.chart.total) == (None, None, 10)


def test_a_tenant_is_shown_for_a_day_a_week_or_a_month(client):
    owner, stranger = TenantFactory(slug="owner"), TenantFactory()
    hour = minute(0).replace(minute=0)
    for days in (0, 1, 3, 9, 20):
        TenantHour.objects.create(tenant_id=owner.pk, hour=hour - timedelta(days=days), **tally("success", 10))
        TenantHour.objects.create(tenant_id=stranger.pk, hour=hour - timedelta(days=days), **tally("success", 7))
    for length, attempts, before in (("24h", 10, 10), ("7d", 30, 10), ("30d", 50, None)):
        page = client.get("/ops/tenants/owner/", {"range": length})
        assert page.context["past"].chart.total == attempts
        ghost = page.context["past"].chart.ghost
        assert (ghost and ghost.attempts) == before
        assert [summary.outcomes["success"] for _, summary in page.context["past"].types] == [attempts]
        assert "?q=tenant:owner+ended_since:" in page.content.decode()


def test_job_types_that_fail_are_listed_with_a_way_to_their_errors(client, monkeypatch):
    JobMinute.objects.create(minute=minute(5), **tally("success", 90))
    JobMinute.objects.create(minute=minute(5), **tally("error", 10))
    page = client.get("/ops/").content.decode()
    assert "10 % of 100" in page
    assert "?q=status%3Aerror%20type%3Ashop.order.pay%20ended_since%3A" in page
    overview.ended_chart.forget()
    monkeypatch.setattr(overview.ended_chart, "seconds", 60.0)
    for prefix in ("/de/", "/"):  # of a language, or a mount
        with override_script_prefix(prefix):
            assert f'"{prefix}ops/jobs/?q=ended' in client.get("/ops/").content.decode()


def test_the_waits_of_each_hour_are_those_of_the_queue_and_the_tenant_and_lead_to_their_jobs(client, operator):
    owner, stranger = TenantFactory(slug="owner"), TenantFactory(slug="stranger")
    make_job(owner), make_job(stranger)
    hour = minute(0).replace(minute=0)
    short, long = tally("success", 10), tally("success", 90)
    short["wait_buckets"], long["wait_buckets"] = ([0] * at + [9] + [0] * (BUCKETS - at - 1) for at in (10, 24))
    for back, counted in ((2, short), (23, long), (24, long)):
        JobMinute.objects.create(minute=hour - timedelta(hours=back), **counted)
    TenantHour.objects.create(tenant_id=owner.pk, hour=hour - timedelta(hours=2), **long)
    TenantHour.objects.create(tenant_id=stranger.pk, hour=hour, **short)
    cells = re.compile(r'<td class="(shade-\d)"><a href="/ops/jobs/\?q=(\S+?)\+ended_since:(\S+?)\+ended_until')
    begins = {back: f"{hour - timedelta(hours=back):%Y-%m-%dT%H:%M}" for back in (0, 2, 23)}
    queues = client.get("/ops/queues/").content.decode()
    assert cells.findall(queues) == [
        ("shade-3", "queue:default", begins[23]),
        ("shade-0", "queue:default", begins[2]),
    ]
    assert ': 90 attempts">1.4m</a>' in queues
    assert cells.findall(client.get("/ops/tenants/").content.decode()) == [
        ("shade-3", "tenant:owner", begins[2]),
        ("shade-0", "tenant:stranger", begins[0]),
    ]
    looker = operator("view_queue").get("/ops/queues/").content.decode()
    assert 'class="heat"' in looker and not cells.search(looker)


def test_charts_mark_what_happened_to_those_who_may_see_it_and_to_a_tenant_no_strangers(client, operator):
    owner, stranger = TenantFactory(name="Owner", slug="owner"), TenantFactory(name="Stranger", slug="stranger")
    ids = {"tenants.tenantqueue": owner.pk, "jobs.job": owner.pk}
    hour = minute(0).replace(minute=0)
    for tenant in (owner, stranger):
        TenantHour.objects.create(tenant_id=tenant.pk, hour=hour, **tally("success", 9))
    JobMinute.objects.create(minute=minute(5), **tally("success", 9))
    bulk = uuid4()
    for kind, verb, subject, values in (
        ("tenants.change", "marked", "release <4.2>", {}),
        ("jobs.queue", "changed", "mail", {"paused": [False, True]}),
        ("jobs.pausedjobtype", "deleted", "shop.order.pay", {}),
        ("tenants.tenantqueue", "changed", str(TenantQueue.of(owner)), {"num_slots": [2, 0]}),
        ("tenants.tenantqueue", "changed", "Owner: 2 slots", {"weight": [1, 2]}),
        ("jobs.job", "revived", "300 jobs", {"number": 300}),
        ("jobs.job", "cancelled", "job 7", {}),
        ("jobs.queue", "added", "other", {"weight": [None, 1]}),
    ):
        entry = {"kind": kind, "verb": verb, "subject": subject, "values": values, "tenant_id": ids.get(kind)}
        entry |= {"at": minute(5), "who": "ines", "subject_id": "", "bulk": bulk if "number" in values else None}
        Change.objects.create(**entry)
    lost = {"lost": True, "gone_at": minute(5), "concurrency": 2}
    for number in range(3):
        Worker.objects.create(pk=uuid4(), name=f"w{number}", pid=1, pool="a", started_at=minute(3), **lost)
    page = client.get("/ops/").content.decode()
    shown = " ".join(unescape(strip_tags(page)).split())
    of_all = ["release <4.2> by ines", "queue mail paused by ines", "shop.order.pay resumed by ines"]
    of_owner = ["Owner: slots 2 → 0 by ines", "Owner: weight 1 → 2 by ines", "300 jobs revived by ines"]
    of_fleet = ["worker w0 lost, worker w1 lost and 1 more", "worker w0 started, worker w1 started and 1 more"]
    assert [words for words in of_all + of_owner + of_fleet if words not in shown] == []
    assert "job 7" not in shown and "other" not in shown
    assert f"/ops/runs/{bulk}/" in page
    assert page.count('<path class="flags" d="M') == 2, "a line through both charts"
    mine, other = (
        " ".join(unescape(strip_tags(client.get(f"/ops/tenants/{slug}/").content.decode())).split())
        for slug in ("owner", "stranger")
    )
    assert [words for words in of_all + of_owner + of_fleet if words not in mine] == []
    assert [words for words in of_all + of_owner + of_fleet if words in other] == of_all + of_fleet
    looker = operator("view_job").get("/ops/").content.decode()
    assert 'svg class="marks"' in page and 'svg class="marks"' not in looker


def test_paused_types_say_how_many_jobs_they_hold(client):
    tenant = TenantFactory()
    for _ in range(2):
        make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL, **CALL)
    make_job(tenant, Status.SCHEDULED, **CALL)
    PausedJobType.objects.create(**CALL)
    assert ", 2 held" in client.get("/ops/queues/").content.decode()


def test_every_page_shows_the_worst_condition_to_those_who_may_see_workers(client, operator):
    make_job(TenantFactory(), Status.DEAD)
    page = client.get("/ops/jobs/").content.decode()
    assert "<strong>Critical:</strong> No clock leads" in page
    assert '<span class="count">1</span>' in page
    assert "No clock leads" not in operator("view_job").get("/ops/jobs/").content.decode()
    assert conditions(live.facts())[0].code == "no_clock"


def test_a_condition_that_harms_no_job_is_shown_on_health_alone(client, monkeypatch):
    rule = next(rule for rule in RULES if rule.severity == "info")
    holds = replace(rule, faults=lambda facts: [Fault("Only so that you know.")])
    monkeypatch.setattr(import_module("jobs.reading.health.conditions"), "RULES", (holds,))
    page = client.get("/ops/health/").content.decode()
    assert "Only so that you know." in page
    assert '<span class="count">' not in page
    assert "Only so that you know." not in client.get("/ops/jobs/").content.decode()


def test_the_share_in_time_of_a_queue_with_a_target_is_on_its_pages_and_of_a_tenant_its_own(client):
    owner = TenantFactory(slug="acme")
    TenantFactory(slug="umbrella"), QueueFactory(name="plain")
    of_queue = tally("success", 3)
    assert "In time" not in client.get("/ops/queues/").content.decode()
    Queue.objects.filter(pk=of_queue["queue_id"]).update(name="mails", wait_target=1.5)
    JobMinute.objects.create(minute=minute(2), **of_queue, targeted=3, in_time=2)
    hour = minute(0).replace(minute=0)
    TenantHour.objects.create(tenant_id=owner.pk, hour=hour, **of_queue, targeted=3, in_time=2)
    queues = " ".join(strip_tags(client.get("/ops/queues/").content.decode()).split())
    assert "66.6 % / 66.6 % within 1.5 s" in queues
    health = " ".join(strip_tags(client.get("/ops/health/").content.decode()).split())
    assert (
        "Queue mails: 66.6 % of 3 attempts of the last day, and 66.6 % of 3 of 30 days, got a process within 1.5 s."
        in health
    )
    mine, other = (client.get(f"/ops/tenants/{slug}/").content.decode() for slug in ("acme", "umbrella"))
    assert "Wait targets, last 24h" in mine and "66.6 %" in mine
    assert "Wait targets" not in other
