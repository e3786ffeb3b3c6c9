"""The recorder's forecast, from rows to rows."""

from datetime import timedelta
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks import fill
from jobs.insight.forecasts.duty import Forecasting
from jobs.insight.forecasts.statements import MARKS, READ_OF_A_LANE, look_ahead
from jobs.lifecycle import Status
from jobs.models import Attempt, Forecast, Prediction
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, fold, make_job

pytestmark = pytest.mark.django_db

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def history(tenant):
    """Forty attempts of ten seconds."""
    now = timezone.now()
    for n in range(40):
        ended = now - (n + 1) * MINUTE / 10
        Attempt.objects.create(
            **{"job_id": n, "tenant_id": tenant.pk, "queue_id": QueueFactory().pk, "attempt": 1, "priority": 5},
            **{"outcome": "success", "source_type": "reports.datareport", "source_method": "execute"},
            **{"ended_at": ended, "start_time": ended - MINUTE / 6, "waited_since": ended - MINUTE / 4},
        )


def forecast() -> Forecasting:
    recorder = Forecasting(Random(1), a_minute=60.0)
    recorder.run()
    return recorder


def seconds(job) -> float:
    places = {place: p50 for place, p50, *_ in Forecast.objects.get().places}
    return places[(job.priority << 58) + job.pk]


def test_the_forecast_of_each_place_is_stored(tenant, history, register):
    register(concurrency=4)
    make_job(tenant, Status.RUNNING)
    jobs = [make_job(tenant) for _ in range(3)]
    fold()
    forecast()
    (row,) = Forecast.objects.all()
    assert (row.tenant_id, row.queue_id, row.user_key, row.reason) == (tenant.pk, QueueFactory().pk, "", "")
    found = [seconds(job) for job in jobs]
    assert found == sorted(found)
    assert found[2] - found[1] == pytest.approx(10.0, abs=5.0)
    assert {place[4] for place in row.places} == {"learning"}


def test_the_pauses_of_a_process_are_those_of_the_log(tenant, history, register):
    """Each of its attempts ran for ten seconds, and was claimed four seconds after the end of the one before."""
    worker, now = register(concurrency=4), timezone.now()
    for n, one in enumerate(Attempt.objects.order_by("job_id")):
        begins = now - (n + 1) * 15 * SECOND
        claimed = {"worker": worker, "worker_pid": 7, "queued_at": begins - SECOND, "waited_since": begins - MINUTE}
        Attempt.objects.filter(job_id=one.job_id).update(start_time=begins, ended_at=begins + 10 * SECOND, **claimed)
    jobs = [make_job(tenant) for _ in range(2)]
    fold()
    forecast()
    assert seconds(jobs[1]) - seconds(jobs[0]) == pytest.approx(15.0, abs=2.0)


def test_statements_are_kept_to_learn_from(tenant, history, register):
    register(concurrency=4)
    jobs = {make_job(tenant).pk for _ in range(3)}
    forecast()
    assert set(Prediction.objects.values_list("job_id", flat=True)) == jobs
    one = Prediction.objects.first()
    assert one.said_90 >= one.said_50 >= one.raw_50
    assert one.ahead_50 is not None
    assert one.past_50 == pytest.approx(5.0)
    assert Prediction.objects.count() == 60  # of a minute: the first


def test_a_lane_that_is_shut_says_why_and_one_that_is_empty_is_forgotten(tenant, history, register):
    register(concurrency=4)
    job = make_job(tenant)
    recorder = forecast()
    assert Forecast.objects.get().reason == ""
    TenantQueue.objects.filter(tenant=tenant).update(paused=True)
    recorder.run()
    assert Forecast.objects.get().reason == "tenant_paused"
    assert Prediction.objects.filter(reason="tenant_paused").count() == 0
    job.delete()
    fold()
    connection.cursor().execute("DELETE FROM arrivals")
    connection.cursor().execute("UPDATE lanes SET waiting = 0, state = 'empty'")
    recorder.run()
    assert not Forecast.objects.exists()


def test_a_lane_that_empties_beside_anothers_is_forgotten_alone(tenant, history, register):
    register(concurrency=4)
    job, strangers = make_job(tenant), make_job(TenantFactory(queue__num_slots=1))
    recorder = forecast()
    assert Forecast.objects.count() == 2
    job.delete()
    fold()
    connection.cursor().execute("DELETE FROM arrivals WHERE tenant_id = %s", [tenant.pk])
    connection.cursor().execute("UPDATE lanes SET waiting = 0, state = 'empty' WHERE tenant_id = %s", [tenant.pk])
    recorder.run()
    assert Forecast.objects.get().tenant_id == strangers.tenant_id


def test_while_nobody_waits_a_look_is_one_statement(tenant, history):
    recorder = forecast()
    with CaptureQueriesContext(connection) as queries:
        recorder.run()
    assert len(queries) == 1


def test_only_attempts_that_have_ended_since_are_read_again(tenant, history, register):
    register(concurrency=4)
    make_job(tenant)
    recorder = forecast()
    with CaptureQueriesContext(connection) as queries:
        recorder.run()
    newest = Attempt.objects.order_by("-ended_at").first().ended_at
    (read,) = [query["sql"] for query in queries if "-- ended_since" in query["sql"]]
    assert newest.strftime("%H:%M:%S") in read


def test_the_forecast_reads_no_more_of_a_long_line(tenant, history, register, monkeypatch):
    """Of a line no more than its first jobs, and some marks behind them."""
    register(concurrency=4)
    monkeypatch.setattr(fill, "vacuum", lambda: None)
    fill.waiting([tenant], 1300)
    _, snapshot = look_ahead()
    assert len(snapshot.in_line) == READ_OF_A_LANE + len(MARKS)
    forecast()
    assert len(Forecast.objects.get().places) <= 24
