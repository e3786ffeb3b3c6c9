"""The recorder: while its clock leads it counts and keeps the partitions, and it survives whoever holds it up."""

import threading
import time

import pytest

from jobs import store
from jobs.lifecycle import Status
from jobs.models import Attempt, Recorded, TenantHour
from jobs.worker.clock import Clock, background, duties
from jobs.worker.clock.duties import Duty
from tests.factories import TenantFactory, make_job
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def start_clock(elsewhere, monkeypatch):
    """Start a clock with its recorder, each in a thread."""
    monkeypatch.setattr(duties.notify, "notify_in_background", lambda: None)
    stop, runs = threading.Event(), []

    def start_clock() -> None:
        clock = Clock(stop)
        runs.extend([elsewhere(clock.run), elsewhere(background.recorder(stop, clock).run)])

    yield start_clock
    stop.set()
    wait_until(lambda: store.wake_clock() or all(run.done() for run in runs), "every thread stops")
    for run in runs:
        run.result()


def end_an_attempt() -> int:
    job = make_job(TenantFactory(), Status.RUNNING)
    assert store.succeed(job.pk, 1, {}, None)
    return job.tenant_id


def counted(tenant_id: int) -> int:
    return sum(TenantHour.objects.filter(tenant_id=tenant_id).values_list("attempts", flat=True))


def partition_of_attempts() -> str:
    return value("SELECT tableoid::regclass::text FROM attempts")


def test_a_clock_that_leads_counts_what_has_ended_and_gives_it_a_partition(start_clock):
    tenant = end_an_attempt()
    start_clock()
    wait_until(lambda: counted(tenant) == 1, "the attempt is counted")
    assert partition_of_attempts() == f"attempts_{Attempt.objects.get().ended_at:%Y%m%d}"


def test_two_clocks_count_nothing_twice(start_clock):
    tenant = end_an_attempt()
    start_clock(), start_clock()
    wait_until(lambda: counted(tenant) >= 1, "the attempt is counted")
    assert counted(tenant) == 1


def test_a_clock_that_does_not_lead_counts_nothing(elsewhere):
    recorder = background.recorder(threading.Event(), Clock(threading.Event()))
    recorder._stop.wait = lambda pause: recorder._stop.is_set() or (pause and recorder._stop.set())
    end_an_attempt()
    elsewhere(recorder.run).result()  # it names the sessions of its thread
    assert not Recorded.objects.exists()


def test_a_task_that_somebody_has_locked_is_tried_again_and_the_others_go_on(onlooker, monkeypatch):
    tenant = end_an_attempt()
    recorder = background.recorder(threading.Event(), Clock(threading.Event()))
    recorder.turn()
    sql("SET lock_timeout = '100ms'")
    end_of_rest(recorder)
    with onlooker.transaction():
        onlooker.execute("SELECT FROM recorded WHERE task = 'minutes' FOR UPDATE")
        TenantHour.objects.all().delete()
        recorder.turn()
    assert counted(tenant) == 1
    sql("RESET lock_timeout")


def end_of_rest(recorder: background.Background) -> None:
    for duty in recorder._duties:
        duty.next_at = 0.0


def test_a_duty_that_took_long_rests_so_many_times_as_long(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    duty = Duty(60.0, lambda: now.__setitem__(0, now[0] + 4.0), rest=50.0)
    duty.run_if_due()
    assert duty.next_at == 1004.0 + 200.0
    quick = Duty(60.0, lambda: None, rest=50.0)
    quick.run_if_due()
    assert quick.next_at == 1004.0 + 60.0
