"""The lists of the pages: groups of dead letters, the order of tenants, the last runs of schedules."""

import json
import re
from datetime import timedelta
from urllib.parse import unquote

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console.ops.schedules.view import last_runs
from jobs.console.ops.shared.dead_groups import counted
from jobs.console.ops.shared.dead_letters import matching
from jobs.lifecycle import Status
from jobs.models import FullHour, Job, Schedule, ScheduleRun, WebhookEndpoint, WebhookHour, WebhookMessage
from jobs.sql import statement
from plumbing.error_shapes import key_of, shape
from tests.factories import QueueFactory, TenantFactory, copies, make_job
from tests.integration.dashboard.reading import text
from tests.plans import nodes
from tests.sql import sql

pytestmark = pytest.mark.django_db


def drawn(svg):
    """What a drawing is called; "" if there is none."""
    return svg.partition('aria-label="')[2].partition('"')[0]


def test_dead_letters_are_grouped_by_error_and_type(client):
    now = timezone.now()
    for number in range(3):
        died_at = now - timedelta(hours=number, minutes=1)
        make_job(
            TenantFactory(), Status.DEAD, last_error=f"ValueError: no row '{number}' in {number} s", died_at=died_at
        )
    make_job(TenantFactory(), Status.DEAD, last_error="ValueError: x", died_at=now - timedelta(hours=30))
    make_job(TenantFactory(), Status.DEAD, last_error="ValueError: x", source_method="other")
    make_job(TenantFactory(), Status.DEAD, last_error="TypeError: y")
    lost = "AttributeError: 'Invoice' object has no attribute '{}'"
    for name, names in (("net", True), ("gross", True), ("old", False)):
        error = lost.format(name)
        make_job(TenantFactory(), Status.DEAD, last_error=error, error_key=key_of(shape(error, names=names)))
    response = client.get("/ops/dead/")
    found = {
        (group.like, group.job_type.rpartition(".")[2]): (group.count, group.tenants, drawn(group.hours))
        for group in response.context["groups"]
    }
    assert found == {
        ("ValueError: no row '…' in # s", "execute"): (3, 3, "3 in the last 24 hours"),
        ("ValueError: x", "execute"): (1, 1, ""),
        ("ValueError: x", "other"): (1, 1, "1 in the last 24 hours"),
        ("TypeError: y", "execute"): (1, 1, "1 in the last 24 hours"),
        (lost.format("net"), "execute"): (1, 1, "1 in the last 24 hours"),
        (lost.format("gross"), "execute"): (1, 1, "1 in the last 24 hours"),
        ("AttributeError: '…' object has no attribute '…'", "execute"): (1, 1, "1 in the last 24 hours"),
    }
    assert '<small class="latest">ValueError: no row &#x27;0&#x27; in 0 s</small>' in text(response)
    assert "3 in the last 24 hours" in text(response)
    like = client.get("/ops/dead/", {"like": "ValueError: no row '…' in # s"})
    assert len(like.context["letters"]) == 3
    only = client.get("/ops/dead/", {"error": "TypeError", "type": "reports.datareport.execute"})
    assert [letter.last_error for letter in only.context["letters"]] == ["TypeError: y"]


def test_a_wave_of_deaths_hides_no_other_error(client, monkeypatch):
    now, tenant, other = timezone.now(), TenantFactory(slug="mine"), TenantFactory()
    rare = make_job(other, Status.DEAD, last_error="KeyError: x", died_at=now - timedelta(hours=5))
    for number in range(60):  # more than are listed one by one
        make_job(tenant, Status.DEAD, last_error=f"ValueError: {number}")
    response = client.get("/ops/dead/")
    assert [(group.like, group.count) for group in response.context["groups"]] == [
        ("ValueError: #", 60),
        ("KeyError: x", 1),
    ]
    assert rare.pk not in [letter.pk for letter in response.context["letters"]]
    assert "largest" not in text(response)
    for narrow in ({"tenant": "mine"}, {"since": "1h"}, {"like": "ValueError: #"}):
        assert [group.count for group in client.get("/ops/dead/", narrow).context["groups"]] == [60]
    monkeypatch.setattr("jobs.console.ops.shared.dead_groups.MAX_GROUPS", 1)
    response = client.get("/ops/dead/")
    assert [group.like for group in response.context["groups"]] == ["ValueError: #"]
    assert "the 1 largest groups" in text(response)


def test_dead_letters_of_a_time_are_found_and_a_wrong_time_is_refused(client):
    at = timezone.now().replace(second=30, microsecond=0) - timedelta(hours=9)
    jobs = [make_job(TenantFactory(), Status.DEAD, died_at=at + timedelta(minutes=after)) for after in (0, 60, 120)]
    begin, end = (f"{at + timedelta(minutes=after):%Y-%m-%dT%H:%M}" for after in (50, 70))
    found = client.get("/ops/dead/", {"since": begin, "until": end})
    assert [letter.pk for letter in found.context["letters"]] == [jobs[1].pk]
    assert sum(group.count for group in found.context["groups"]) == 1
    assert "must be like 30m" in client.get("/ops/dead/", {"until": "odd"}).context["wrong"]


def test_dead_letters_of_an_older_release_are_a_group_of_their_own(client):
    kept = make_job(TenantFactory(), Status.DEAD, last_error="ValueError: no")
    old = make_job(TenantFactory(), Status.DEAD, last_error="ValueError: no", error_key=None)
    groups = client.get("/ops/dead/").context["groups"]
    assert {group.like: group.count for group in groups} == {"ValueError: no": 1, "not grouped": 1}
    assert all("1 in the last 24 hours" in group.hours for group in groups)
    for like, job in (("ValueError: no", kept), ("not grouped", old)):
        assert [letter.pk for letter in client.get("/ops/dead/", {"like": like}).context["letters"]] == [job.pk]


def test_dead_letters_are_grouped_from_an_index_alone():
    now = timezone.now()
    copies(make_job(TenantFactory(), Status.DEAD), 2_000)
    Job.objects.update(error_key=F("pk") % 7)
    sql("ANALYZE jobs")
    sql("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
    [plan] = json.loads(counted(matching({"since": "7d"}, now)).explain(format="json"))
    scans = [node for node in nodes(plan["Plan"]) if "Relation Name" in node]
    assert [(node["Node Type"], node["Index Name"]) for node in scans] == [("Index Only Scan", "jobs_dead_groups")]


def test_tenants_are_sorted_by_how_long_they_had_no_free_slot(client):
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    often, never, seldom = (TenantFactory(name=name) for name in ("often", "never", "seldom"))
    for tenant in (often, never, seldom):
        make_job(tenant)
    for tenant, ago, minutes in ((often, 0, 50), (often, 23, 40), (often, 24, 60), (seldom, 1, 5)):
        FullHour.objects.create(tenant_id=tenant.pk, hour=hour - ago * timedelta(hours=1), minutes=minutes)
    page = client.get("/ops/tenants/", {"sort": "full, last 24 h"})
    shown = [(one.tenant.name, more.full if more else None) for one, more in page.context["tenants"]]
    assert shown == [("often", 5400), ("seldom", 300), ("never", None)]
    assert 'data-label="Full, of 24 h" class="number wide">1.5 h</td>' in page.content.decode()


def test_a_field_of_a_dead_letter_adds_a_filter_and_a_chip_removes_it(client):
    acme, queue = TenantFactory(slug="acme"), QueueFactory(name="mail")
    mine = make_job(acme, Status.DEAD, last_error="ValueError: no", queue=queue, source_id="7")
    make_job(TenantFactory(slug="other"), Status.DEAD, last_error="ValueError: no", source_id="8")
    page = client.get("/ops/dead/", {"error": "ValueError"}).content.decode()
    for name, value in {"tenant": "acme", "queue": "mail", "source": "7"}.items():
        assert f'href="?error=ValueError&amp;{name}={value}"' in page
        assert [one.pk for one in client.get("/ops/dead/", {name: value}).context["letters"]] == [mine.pk]
    assert 'href="/ops/types/reports.datareport.execute/">reports.<wbr>datareport.<wbr>execute</a>' in page
    both = client.get("/ops/dead/", {"error": "ValueError", "source": "8"})
    assert both.context["chips"] == [("source:8", "?error=ValueError"), ("error:ValueError", "?source=8")]
    assert '<datalist id="types"><option value="reports.datareport.execute">' in page


def test_a_search_of_very_many_words_is_refused_shortly(client):
    """A link to the search without it for each word made a page of 80 MB."""
    page = client.get("/ops/jobs/", {"q": "user:x " * 3000}).content.decode()
    assert "at most 50 are allowed" in page
    assert len(page) < 2_000_000


def test_a_wrong_tenant_is_refused_among_the_dead_in_the_words_of_the_jobs(client):
    TenantFactory(slug="acme")
    of_jobs, of_dead = client.get("/ops/jobs/?q=tenant:acne"), client.get("/ops/dead/?tenant=acne")
    assert of_dead.context["wrong"] == of_jobs.context["wrong"] == "Tenant: 'acne' is unknown; known: acme."
    assert "matches." not in of_dead.content.decode()


def test_tenants_come_in_the_order_that_is_asked_for(client):
    now = timezone.now()
    many, held, old = (TenantFactory(name=name, slug=name) for name in ("many", "held", "old"))
    for tenant, number in ((many, 3), (held, 1), (old, 2)):
        for _ in range(number):
            make_job(tenant, ready_at=now - timedelta(hours=9 if tenant is old else 1))
    make_job(held, Status.RUNNING)

    def names(sort: str) -> list[str]:
        shown = client.get("/ops/tenants/", {"sort": sort})
        assert f'<option value="{sort}" selected>{sort}</option>' in text(shown) or sort == "odd"
        return [one.tenant.name for one, _ in shown.context["tenants"]]

    assert names("waiting") == ["many", "old", "held"]
    assert names("slots in use")[0] == "held"
    assert names("first in line")[0] == "old"
    assert names("name") == ["held", "many", "old"]
    assert sorted(names("odd")) == ["held", "many", "old"]


def test_a_character_that_postgresql_does_not_store_is_found_nowhere(client, settings, subtests):
    """Where no middleware refuses it: a project of somebody else."""
    settings.MIDDLEWARE = [one for one in settings.MIDDLEWARE if not one.endswith("readable")]
    for path in ("tenants/?q=a%00", "jobs/?q=user:%00", "jobs/?q=%00", "dead/?error=%00", "jobs/?before=%00"):
        with subtests.test(path=path):
            assert client.get(f"/ops/{path}").status_code == 200
    assert client.get("/ops/tenants/%00/").status_code == 404
    assert client.post("/ops/tenants/%00/change").status_code == 404


@pytest.mark.parametrize("path", ["/ops/jobs/", "/ops/dead/"])
def test_a_list_of_jobs_joins_nothing_before_it_has_its_page(client, path):
    """Where PostgreSQL knows that tenants are few, it would join every job to them, and sort them all."""
    make_job(TenantFactory(), Status.DEAD)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    pages = [one["sql"] for one in captured if re.search(r'FROM "(all_)?jobs" .*ORDER BY', one["sql"])]
    assert pages
    assert not [page for page in pages if "JOIN" in page]


def test_the_runs_of_schedules_are_read_by_their_index_and_only_the_last_ones():
    now = timezone.now()
    call = {"source_type": "a.b", "source_method": "c", "every": 60.0, "starts_at": now}
    mine, other = (Schedule.objects.create(tenant=TenantFactory(), name="nightly", **call) for _ in range(2))
    due = [now - timedelta(minutes=number) for number in range(2_000)]
    ScheduleRun.objects.bulk_create([ScheduleRun(schedule=one, due=at) for at in due for one in (mine, other)])
    assert [(run.schedule_id, run.due) for run in last_runs([mine.pk], most=3)] == [(mine.pk, at) for at in due[:3]]
    sql("ANALYZE schedule_runs")
    explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement('look_runs')}"
    [(plan,)] = sql(explained, {"ids": [mine.pk, other.pk], "most": 3})
    [whole] = json.loads(plan) if isinstance(plan, str) else plan
    assert max(node["Actual Rows"] * node["Actual Loops"] for node in nodes(whole["Plan"])) <= 6


def test_schedules_are_sorted_and_those_of_a_name_share_a_line(client):
    now = timezone.now()
    call = {"source_type": "a.b", "source_method": "c", "starts_at": now}
    first, second = TenantFactory(name="Zulu", slug="zulu"), TenantFactory(name="Acme", slug="acme")
    rows = [
        (first, "nightly", {"every": 60.0, "next_at": now + timedelta(hours=1)}),
        (second, "nightly", {"every": 60.0, "next_at": now - timedelta(hours=1)}),
        (second, "a weekly one", {"cron": "0 7 * * 1", "paused": True}),
        (first, "yearly", {"cron": "0 7 1 1 *", "next_at": now}),
        (second, "yearly", {"cron": "0 8 1 1 *", "next_at": now}),
    ]
    for tenant, name, rule in rows:
        Schedule.objects.create(tenant=tenant, name=name, next_due=rule.get("next_at"), **call, **rule)

    def listed(query: str) -> list[tuple[str, ...]]:
        page = client.get(f"/ops/schedules/{query}").content.decode()
        found = (re.sub(r"<[^>]*>", " ", row) for row in re.findall(r"<tr\b.*?</tr>", page, re.DOTALL)[1:])
        return [" ".join(text.split()) for text in found]

    names = [(row.split()[0], "Acme" in row) for row in listed("")]
    assert names == [("nightly", True), ("yearly", False), ("yearly", True), ("nightly", False), ("a", True)]
    assert [row.split()[0] for row in listed("?sort=tenant")] == ["a", "nightly", "yearly", "nightly", "yearly"]
    lines = listed("?sort=name, all tenants in one line")
    assert [line.split(" ")[:3] for line in lines] == [
        ["a", "weekly", "one"],
        ["nightly", "2", "0"],
        ["yearly", "2", "0"],
    ]
    assert "Every minute" in lines[1]
    assert "2 rules" in lines[2]
    assert listed("?sort=name, all tenants in one line&page=1") == []
    lines = listed("?sort=rule, all schedules in one line")
    assert lines[0].startswith("Every minute 2 2 0 nightly ")
    assert [line.partition(" (UTC) ")[2].split()[:3] for line in lines[1:]] == [["1", "1", "1"]] + [["1", "1", "0"]] * 2
    page = client.get("/ops/schedules/?sort=rule, all schedules in one line").content.decode()
    rules = [unquote(rule) for rule in re.findall(r'\?rule=([^"]+)"', page)]
    assert rules == ["60", "0 7 * * 1 UTC", "0 7 1 1 * UTC", "0 8 1 1 * UTC"]
    assert [row.split()[0] for row in listed("?rule=60")] == ["nightly", "nightly"]
    assert [row.split()[0] for row in listed("?rule=0 7 1 1 * UTC")] == ["yearly"]
    assert "No schedule matches." in client.get("/ops/schedules/?rule=61").content.decode()


def test_the_page_of_webhooks_shows_what_fails_first_and_counts_it_in_the_menu(client, operator):
    now = timezone.now()
    acme, other = TenantFactory(slug="acme"), TenantFactory(slug="other")
    usual = {"salt": "s", "next_at": now}
    WebhookEndpoint.objects.create(tenant=other, url="https://works.example/", **usual)
    fails = WebhookEndpoint.objects.create(tenant=acme, url="https://fails.example/", failing_since=now, **usual)
    for event in range(3):
        WebhookMessage.objects.create(endpoint_id=fails.pk, event=event, ended_at=now, data={})
    hour = now.replace(minute=0, second=0, microsecond=0)
    WebhookHour.objects.create(endpoint_id=fails.pk, hour=hour, delivered=4, failed=2)
    page = text(client.get("/ops/webhooks/"))
    assert page.index("fails.example") < page.index("works.example")
    assert re.search(r'<a href="/ops/webhooks/"[^>]*>\s*Webhooks <span class="count">1</span>', page)
    assert "3&nbsp;messages" in page
    assert "next try" in page
    assert "4&nbsp;delivered" in page
    assert "2&nbsp;failed" in page
    assert page.count('<svg class="hours"') == 1
    assert "works.example" not in text(client.get("/ops/webhooks/", {"tenant": "acme"}))
    assert 'href="/ops/webhooks/"' not in text(operator("view_job").get("/ops/"))
