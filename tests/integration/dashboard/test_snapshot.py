"""One look for all viewers, taken when one asks; a look that fails leaves the rest standing."""

import gzip
import re
import time
import uuid
from collections import OrderedDict
from dataclasses import replace
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from jobs import store
from jobs.console.ops.shared import live, snapshot
from jobs.lifecycle import Status
from jobs.models import Recorded
from jobs.pages import regions
from jobs.reading import looking
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def looked(monkeypatch):
    """What was looked at; a snapshot stays fresh."""
    monkeypatch.setattr(snapshot.current, "seconds", 3600.0)
    looked = []
    for name, part in snapshot.PARTS.items():
        counted = lambda name=name, look=part.read: looked.append(name) or look()  # noqa: E731
        monkeypatch.setattr(part, "read", counted)
    return looked


def test_a_snapshot_knows_the_holders_the_waiting_and_their_places(register):
    tenant, queue = TenantFactory(), QueueFactory(name="default")
    worker = register(concurrency=3)
    make_job(tenant, Status.RUNNING, worker=worker)
    make_job(tenant, Status.QUEUED)
    first = make_job(tenant, priority=1)
    make_job(tenant)
    seen = snapshot.current()
    [lane] = seen.lanes
    assert seen.in_use_by_worker == {worker: 1, None: 1}
    assert (lane.tenant_id, lane.queue_id, lane.waiting, lane.about) == (tenant.pk, queue.pk, 2, False)
    assert (lane.first_since, lane.gate, lane.passing) == (first.ready_at, "slots_full", 0)
    assert (seen.tenants[tenant.pk].num_slots, seen.tenants[tenant.pk].in_use) == (2, 2)
    assert (seen.queues[queue.pk].in_use, seen.queues[queue.pk].pool_in_use) == (2, 2)
    assert seen.queues[queue.pk].pool_processes == 3
    assert [one.id for one in seen.workers] == [worker]


def test_a_snapshot_counts_jobs_that_are_in_no_line():
    tenant = TenantFactory()
    for status in (Status.SCHEDULED, Status.SUCCESS, Status.SUCCESS, Status.ERROR, Status.CANCELLED, Status.DEAD):
        make_job(tenant, status)
    counts = snapshot.current().counts
    assert (counts.scheduled, counts.held, counts.dead, counts.died_today) == (1, 0, 1, 1)
    assert (counts.succeeded_now, counts.failed_now, counts.cancelled_now, counts.died_now) == (2, 1, 1, 1)
    assert counts.ended_now == 5


def test_the_leader_is_told_by_its_session(onlooker):
    worker = uuid.uuid4()
    store.beat(worker, name="w", pid=1, pool="default", capacity=1)
    assert [one.leads for one in looking.look_workers()] == [False]
    onlooker.execute("SELECT set_config('application_name', %s, false)", [store.session_name(worker, "clock")])
    onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.clock'), 0)")
    assert [one.leads for one in looking.look_workers()] == [True]


def test_a_snapshot_is_shared_until_it_is_old_or_forgotten(looked):
    first = snapshot.current()
    assert snapshot.current() is first
    assert len(looked) == len(snapshot.PARTS)
    snapshot.forget()
    assert snapshot.current() is not first


@pytest.mark.django_db(transaction=True)
def test_while_one_looks_the_others_get_the_last_one(looked, elsewhere):
    last = snapshot.current()
    snapshot.forget()
    with snapshot.current.lock:  # somebody looks
        assert elsewhere(snapshot.current).result(timeout=10) is last
    assert elsewhere(snapshot.current).result(timeout=10) is not last


@pytest.mark.django_db(transaction=True)
def test_the_first_viewers_at_once_make_one_look(looked, elsewhere, monkeypatch):
    monkeypatch.setattr(snapshot.current, "_kept", OrderedDict())
    found = [viewer.result(timeout=30) for viewer in [elsewhere(snapshot.current) for _ in range(8)]]
    assert all(one is found[0] for one in found)
    assert len(looked) == len(snapshot.PARTS)


@pytest.mark.django_db(transaction=True)
def test_a_look_that_takes_too_long_leaves_its_part_as_it_was_and_the_page_standing(
    admin_client, onlooker, monkeypatch
):
    monkeypatch.setattr(looking, "STATEMENT_TIMEOUT", 0.2)
    tenant = TenantFactory(name="Owner & Co.")
    make_job(tenant)
    assert snapshot.current().workers == []
    assert admin_client.get("/ops/").status_code == 200
    store.beat(uuid.uuid4(), name="w", pid=1, pool="default", capacity=1)
    with onlooker.transaction():
        onlooker.execute("LOCK TABLE workers")  # the looks at workers and at queues wait for it
        snapshot.forget()
        started = time.monotonic()
        response = admin_client.get("/ops/")
        assert time.monotonic() - started < 10
    page = response.content.decode()
    assert response.status_code == 200
    assert "The look at work failed" in page
    assert "Owner &amp; Co." in page
    snapshot.forget()
    assert "The look at work failed" not in admin_client.get("/ops/").content.decode()


@pytest.mark.parametrize("path", ["/ops/", "/ops/tenants/", "/ops/queues/", "/ops/jobs/", "/ops/dead/"])
def test_a_full_page_is_light_and_a_heavy_one_refreshes_less_often(admin_client, path, monkeypatch):
    monkeypatch.setattr(regions, "HEAVY", 10_000)
    for number in range(60):
        tenant = TenantFactory(name=f"A customer with the number {number}")
        make_job(tenant)
        make_job(tenant, Status.DEAD, last_error="TimeoutError: timed out after 300 s")
        QueueFactory(name=f"queue-{number}")
    page = admin_client.get(path).content
    assert len(page) <= 70_000
    assert b'data-every="2"' not in page
    assert len(gzip.compress(page)) <= 12_000


PAGES = {  # with what is read once in half a minute for all viewers
    "/ops/": 16,
    "/ops/tenants/": 10,
    "/ops/tenants/acme/": 20,
    "/ops/queues/": 14,
    "/ops/jobs/": 14,
    "/ops/dead/": 8,
    "/ops/types/reports.datareport.execute/": 20,
    "/ops/workers/": 11,
    "/ops/schedules/": 8,
    "/ops/health/": 10,
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_takes_few_statements_however_many_rows_it_shows(admin_client, path, monkeypatch):
    tenant = TenantFactory(slug="acme")
    monkeypatch.setattr(snapshot.current, "seconds", 3600.0)
    monkeypatch.setattr(live, "facts", lambda: None)  # has a test of its own

    def statements() -> int:
        snapshot.forget()
        snapshot.current()
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(path).status_code == 200
        return len([query for query in queries if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "ROLLBACK"))])

    make_job(tenant), make_job(tenant, Status.DEAD)
    few = statements()
    for _ in range(5):
        other = TenantFactory()
        for status in Status:
            make_job(other, status, last_error="ValueError: no")
            make_job(tenant, status, last_error=f"Error{other.pk}: no")
    TenantQueue.objects.update(num_slots=10)
    assert statements() <= few + 1 <= PAGES[path] + 1


def told(client) -> dict[str, list[int]]:
    """The numbers of the Overview by where they stand: a tile, the pool's row, the row of a gate, a condition."""
    words = " ".join(unescape(strip_tags(text(client.get("/ops/")))).split())
    sought = {
        "tile": r"May run, no process\s*(\d+)",
        "under way": r"Under way\s*(\d+) of (\d+) processes",
        "pool": r"Last hour default (\d+)/(\d+) (\d+) \+(\d+)",
        "gate": r"a free process of the pool (\d+) could start now",
        "condition": r"lacks processes: (\d+) jobs could start now; (\d+) more",
    }
    found = {name: re.search(pattern, words) for name, pattern in sought.items()}
    assert None not in found.values(), words
    return {name: [int(number) for number in match.groups()] for name, match in found.items()}


def test_a_number_of_the_overview_is_the_same_wherever_it_stands(client, register, exact_capacity, monkeypatch):
    """Three of three processes are in use; 17 jobs wait for one, and the slots of their tenants let eight go."""
    worker = register(concurrency=3)
    busy, held = TenantFactory(), TenantFactory()
    TenantQueue.objects.filter(tenant=busy).update(num_slots=10)
    TenantQueue.objects.filter(tenant=held).update(num_slots=1)
    for _ in range(3):
        make_job(busy, Status.RUNNING, worker=worker)
    [make_job(busy) for _ in range(9)], [make_job(held) for _ in range(8)]
    now, late = timezone.now(), {"default": {"jobs": 8, "seconds": 90.0, "idle_looks": 0}}
    Recorded.objects.create(task="may run", upto=now, at=now, late=late)
    assert told(client) == {
        "tile": [8],
        "under way": [3, 3],
        "pool": [3, 3, 11, 8],
        "gate": [8],
        "condition": [8, 8],
    }
    monkeypatch.setattr(live.facts, "seconds", 3600.0)  # the other facts stay as they were read
    TenantQueue.objects.filter(tenant=busy).update(num_slots=8)
    after = told(client)
    assert after["tile"] == after["gate"] == after["condition"][:1] == after["pool"][3:] == [6]


def test_the_conditions_are_those_of_the_facts_if_the_look_at_the_work_failed():
    make_job(TenantFactory())
    failed = replace(snapshot.current(), lanes=[], old={"work": 9.0})
    assert live.known_now(failed).standings[0].waiting == 1
    assert live.known_now(replace(failed, old={})).standings[0].waiting == 0
