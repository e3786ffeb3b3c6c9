"""The statistics of the last 24 hours: of a tenant for itself and for operators, and of all queues for operators."""

import json
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.lifecycle import Status
from jobs.models import Attempt, Queue, TenantHour
from jobs.reading import last_day
from jobs.recording import record
from tests.callers import program_of, staff
from tests.clock import call_at
from tests.factories import QueueFactory, make_job

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def attempts(tenant, outcome="success", number=1, *, queue="default", method="execute", ago=0.0, ran=1.0, waited=2.0):
    ended_at = NOW - timedelta(minutes=7, hours=ago)
    started = ended_at - timedelta(seconds=ran)
    one = Attempt(
        ended_at=ended_at,
        start_time=started,
        waited_since=started - timedelta(seconds=waited),
        job_id=1,
        tenant_id=tenant.pk,
        queue_id=Queue.objects.get(name=queue).pk,
        attempt=1,
        priority=5,
        outcome=outcome,
        source_type="reports.datareport",
        source_method=method,
    )
    Attempt.objects.bulk_create([one] * number)


def recorded() -> None:
    call_at(NOW, record.record_minutes)
    call_at(NOW, record.record_hours)


def day(caller) -> dict:
    return caller.get("/api/v1/stats").json()["last_day"]


@pytest.fixture
def operator():
    return program_of(staff("view_job"))


def test_attempts_are_counted_by_queue_and_by_type_with_what_is_under_way_beside_them(owner, tenant):
    QueueFactory(name="mail")
    attempts(tenant, number=3)
    attempts(tenant, "retry", 2)
    attempts(tenant, "dead", queue="mail", method="send")
    make_job(tenant, Status.SCHEDULED)
    make_job(tenant)
    make_job(tenant, Status.QUEUED, queue=Queue.objects.get(name="mail"), source_method="send")
    make_job(tenant, Status.RUNNING, queue=Queue.objects.get(name="mail"), source_method="send")
    recorded()
    found = day(owner)
    queues = [(one["queue"], one["waiting"], one["running"]) for one in found["queues"]]
    assert queues == [("default", 2, 0), ("mail", 0, 2)]
    default, mail = (one["outcomes"] for one in found["queues"])
    nothing = dict.fromkeys(default, 0)
    assert default == nothing | {"success": 3, "retry": 2}
    assert mail == nothing | {"dead": 1}
    types = [(one["source_type"], one["source_method"], one["waiting"], one["running"]) for one in found["types"]]
    assert types == [("reports.datareport", "execute", 2, 0), ("reports.datareport", "send", 0, 2)]
    assert [one["outcomes"] for one in found["types"]] == [default, mail]


def test_times_are_percentiles_of_all_attempts_of_the_queue(owner, tenant):
    attempts(tenant, number=90, ran=1.0, waited=0.1)
    attempts(tenant, "error", number=10, ran=60.0, waited=100.0)
    recorded()
    (queue,) = day(owner)["queues"]
    assert queue["run"] == {"p50": pytest.approx(1.0, rel=0.5), "p95": pytest.approx(60.0, rel=0.5)}
    assert queue["wait"] == {"p50": pytest.approx(0.1, rel=0.5), "p95": pytest.approx(100.0, rel=0.5)}
    assert queue["run_seconds"] == pytest.approx(690.0)


def test_attempts_that_ended_more_than_a_day_ago_are_left_out(owner, tenant):
    attempts(tenant, "dead", ago=26)
    call_at(NOW - timedelta(hours=25), record.record_hours)
    attempts(tenant, ago=23)
    recorded()
    assert set(TenantHour.objects.values_list("outcome", flat=True)) == {"dead", "success"}
    (queue,) = day(owner)["queues"]
    assert (queue["outcomes"]["success"], queue["outcomes"]["dead"]) == (1, 0)


def test_waiting_jobs_are_counted_before_anything_has_ended(owner, tenant):
    make_job(tenant)
    found = day(owner)
    assert (found["counted_at"], found["queues"][0]["waiting"]) == (None, 1)
    assert found["queues"][0]["run"] == {"p50": None, "p95": None}


def test_the_answer_says_when_it_was_counted(owner):
    recorded()
    found = day(owner)
    assert found["counted_at"] == NOW.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert datetime.fromisoformat(found["since"]) <= timezone.now() - timedelta(hours=24)


def test_at_most_so_many_waiting_jobs_of_a_queue_are_counted(owner, tenant, monkeypatch):
    monkeypatch.setattr(last_day, "MAX_COUNTED", 2)
    for _ in range(3):
        make_job(tenant)
    assert day(owner)["queues"][0]["waiting"] == 2


def test_a_stranger_sees_nothing_of_it(owner, stranger, tenant):
    attempts(tenant, number=3)
    for status in (Status.SCHEDULED, Status.CREATED, Status.RUNNING):
        make_job(tenant, status)
    recorded()
    assert day(owner)["queues"] != []
    found = day(stranger)
    assert found["queues"] == found["types"] == []


class TestOperators:
    def test_operators_see_all_tenants_by_queue_and_type(self, operator, tenant, stranger):
        attempts(tenant, number=2)
        make_job(tenant)
        recorded()
        found = operator.get("/api/v1/operator/stats").json()
        (default,) = [one for one in found["queues"] if one["queue"] == "default"]
        assert (default["outcomes"]["success"], default["waiting"], default["running"]) == (2, 1, 0)
        assert [(one["source_method"], one["outcomes"]["success"]) for one in found["types"]] == [("execute", 2)]

    def test_operators_see_a_tenant_as_it_sees_itself(self, operator, owner, tenant):
        attempts(tenant, number=2)
        recorded()
        assert operator.get(f"/api/v1/operator/tenants/{tenant.slug}/stats").json() == day(owner)
        assert operator.get("/api/v1/operator/tenants/nobody/stats").status_code == 404

    def test_on_the_command_line(self, tenant):
        attempts(tenant, number=1200, ran=5.0)
        attempts(tenant, "retry", 3)
        recorded()

        def run(*words: str) -> str:
            out = StringIO()
            call_command("queues", "stats", *words, stdout=out)
            return out.getvalue()

        (default,) = [one for one in json.loads(run("--json"))["queues"] if one["queue"] == "default"]
        assert (default["outcomes"]["success"], default["run"]["p50"]) == (1200, pytest.approx(5.0, rel=0.5))
        assert "1,200" in run()
        assert "UTC, counted at" in run()
