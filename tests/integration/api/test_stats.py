"""GET /api/v1/stats: a tenant's counts by status, and its slots."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from psycopg.types.multirange import Multirange

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, TenantBook
from jobs.portal.api import stats
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, copies, make_job

pytestmark = pytest.mark.django_db


def read(caller):
    response = caller.get("/api/v1/stats")
    assert response.status_code == 200
    return response.json()


def test_every_status_is_counted_and_the_held_apart(owner, mate, tenant):
    TenantQueue.objects.filter(tenant=tenant).update(num_slots=7, user_slots=2, paused=True)
    for count, status in enumerate(Status, start=1):
        for _ in range(count):
            make_job(tenant, status)
    make_job(tenant, queue=QueueFactory(name="other"))
    for _ in range(2):
        make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL)
    total = sum(range(1, len(Status) + 1)) + 3
    expected = {
        "slots": {"in_use": 9, "limit": 7, "with_borrowed": None, "per_user": 2, "in_queues": [], "paused": True},
        "under_way": {"blocked": 1, "scheduled": 2, "held": 2, "created": 4, "queued": 4, "running": 5},
        "ended": {"among": total, "success": 6, "error": 7, "dead": 8, "cancelled": 9},
        "budgets": [],
    }
    for caller in (owner, mate):
        counts = read(caller)
        del counts["last_day"]
        assert counts == expected


def test_a_stranger_sees_nothing_of_it(stranger, tenant):
    for status in Status:
        make_job(tenant, status)
    counts = read(stranger)
    assert set(counts["under_way"].values()) == set(counts["ended"].values()) == {0}
    none = {"in_use": 0, "with_borrowed": None, "per_user": None, "in_queues": []}
    assert counts["slots"] == none | {"limit": 2, "paused": False}
    assert counts["last_day"]["queues"] == counts["last_day"]["types"] == []


def test_budgets_and_what_was_used_of_them_are_told_to_their_owner_alone(owner, mate, stranger, tenant):
    TenantQueue.objects.filter(tenant=tenant).update(budgets={"tokens": 10, "pages": 5})
    month = f"{timezone.now():%Y-%m}"
    TenantBook.objects.create(tenant_id=tenant.pk, version=1, in_use=0, slots=Multirange(), used={month: {"tokens": 8}})
    expected = [
        {"unit": "pages", "used": 0, "amount": 5, "state": "open"},
        {"unit": "tokens", "used": 8, "amount": 10, "state": "low"},
    ]
    assert read(owner)["budgets"] == read(mate)["budgets"] == expected
    assert read(stranger)["budgets"] == []


def test_slots_in_queues_where_it_may_not_hold_all_are_told_to_their_owner_alone(owner, stranger, tenant):
    mails = QueueFactory(name="mails", tenant_slots=1)
    for queue in (QueueFactory(name="exports", tenant_slots=3), QueueFactory(name="open"), mails):
        make_job(tenant, Status.RUNNING, queue=queue)
    TenantQueue.objects.filter(tenant=tenant).update(queue_slots={"exports": 2})
    for _ in range(2):
        make_job(TenantFactory(), Status.RUNNING, queue=mails)
    assert read(owner)["slots"]["in_queues"] == [
        {"queue": "exports", "in_use": 1, "limit": 2},
        {"queue": "mails", "in_use": 1, "limit": 1},
    ]
    assert read(stranger)["slots"]["in_queues"] == []


def test_a_tenant_without_slots_has_none(owner, tenant):
    TenantQueue.objects.filter(tenant=tenant).delete()
    assert read(owner)["slots"]["limit"] == 0


def test_only_the_latest_that_ended_are_looked_at(owner, tenant, monkeypatch):
    monkeypatch.setattr(stats, "MAX_COUNTED", 2)
    for status in (Status.ERROR, Status.SUCCESS, Status.SUCCESS):
        make_job(tenant, status)
    assert read(owner)["ended"] == {"among": 2, "success": 2, "error": 0, "dead": 0, "cancelled": 0}


def test_each_count_comes_from_an_index_of_what_it_counts(owner, tenant):
    for status in Status:
        make_job(tenant, status)
    copies(make_job(TenantFactory(), Status.SUCCESS), 5_000)
    read(owner)  # notes the key's last use
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs")
        with CaptureQueriesContext(connection) as queries:
            read(owner)
        plans = []
        for query in [q["sql"] for q in queries if re.search('FROM "(all_)?jobs"', q["sql"])]:
            cursor.execute(f"EXPLAIN {query}")
            plans.append("\n".join(line for (line,) in cursor.fetchall()))
    indexes = ["jobs_(due|scheduled_of_tenant)", "jobs_claim", "jobs_blocked_of_tenant", "jobs_one_job_per_slot"]
    indexes += ["jobs_one_job_per_slot", "jobs_of_tenant"]
    assert len(plans) == len(indexes)
    for index, plan in zip(indexes, plans, strict=True):
        assert re.search(index, plan), plan
        assert "Seq Scan on jobs" not in plan
