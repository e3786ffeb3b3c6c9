"""Which bodies block event loops: what health, the pages and the metrics read of it."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import BlockedLoop, Job, Worker
from jobs.reading import blocks
from jobs.reading.health import look
from tests.clock import call_at
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)
PLACE = "/srv/app/mail.py:31 send"
NOW = timezone.now()


@pytest.fixture
def light(register):
    return register(concurrency=50, pool="mail", kind="light", seats=50)


@pytest.fixture
def running(light) -> Job:
    return make_job(TenantFactory(), Status.RUNNING, worker=light)


def block(worker: uuid.UUID, job: Job | None = None, **fields) -> BlockedLoop:
    """One that goes on, and began three seconds ago."""
    whose = {"job_id": job.pk, "attempt": job.attempt, "place": PLACE} if job else {}
    values = {"worker": worker, "pid": 1, "pool": "mail", "seats": 43, "began_at": NOW - timedelta(seconds=3)}
    return BlockedLoop.objects.create(**values | whose | fields)


def blocked() -> list[blocks.BlockNow]:
    Worker.objects.filter(beat_at__gt=NOW - timedelta(hours=1)).update(beat_at=NOW)
    return call_at(NOW, blocks.now)


class TestNow:
    def test_a_blocked_loop_is_found_with_the_job_and_the_seats_that_wait(self, light, running):
        block(light, running)
        assert blocked() == [blocks.BlockNow(light, "mail", "reports.datareport.execute", running.pk, PLACE, 42, 3.0)]

    def test_one_that_nobody_could_name_is_found_too(self, light):
        block(light)
        assert blocked() == [blocks.BlockNow(light, "mail", "", None, "", 42, 3.0)]

    def test_the_longest_blocked_comes_first(self, light):
        for seconds in (1, 9):
            block(light, began_at=NOW - timedelta(seconds=seconds))
        assert [one.seconds for one in blocked()] == [9.0, 1.0]

    def test_it_goes_round_again(self, light, running):
        block(light, running, seconds=0.4)
        assert blocked() == []

    def test_what_began_more_than_an_hour_ago_counts_no_more(self, light):
        block(light, began_at=NOW - timedelta(minutes=61))
        assert blocked() == []

    def test_of_a_worker_that_is_gone_nothing_is_blocked(self, light, running):
        block(light, running)
        store.leave(light)
        assert blocked() == []

    def test_of_a_worker_that_is_silent_nothing_is_known(self, light, running):
        block(light, running)
        Worker.objects.update(beat_at=NOW - timedelta(hours=2))
        assert blocked() == []

    def test_an_attempt_that_has_ended_blocks_nothing_though_its_row_stayed_open(self, light, running):
        block(light, running)
        ended = make_job(TenantFactory(), Status.SUCCESS, worker=light)
        block(light, ended)
        block(light, running, attempt=running.attempt - 1)
        assert [one.job_id for one in blocked()] == [running.pk]


class TestLately:
    def test_they_are_counted_by_pool_and_type_with_the_last_job(self, light, running):
        other = make_job(TenantFactory(), Status.SUCCESS, source_method="send")
        for seconds, job, ago in ((1.0, running, 60), (0.5, running, 9), (4.0, other, 5)):
            block(light, job, seconds=seconds, began_at=NOW - timedelta(seconds=ago))
        block(light, pool="bulk", seconds=2.0)
        assert call_at(NOW, blocks.lately, 600.0) == [
            blocks.BlocksOfType("bulk", "", 1, 2.0, None, ""),
            blocks.BlocksOfType("mail", "reports.datareport.execute", 2, 1.5, running.pk, PLACE),
            blocks.BlocksOfType("mail", "reports.datareport.send", 1, 4.0, other.pk, PLACE),
        ]

    def test_old_ones_and_those_that_go_on_do_not_count(self, light, running):
        block(light, running)
        block(light, running, seconds=1.0, began_at=NOW - timedelta(seconds=601))
        assert call_at(NOW, blocks.lately, 600.0) == []


class TestOfJob:
    def test_each_place_in_each_attempt_is_told_of_this_job_alone(self, light, running):
        stranger = make_job(TenantFactory(), Status.RUNNING, worker=light)
        block(light, stranger, seconds=9.0)
        block(light, running, seconds=5.0)
        for seconds in (1.0, None, 0.5):
            block(light, running, attempt=2, seats=3, seconds=seconds)
        assert [(one.sentence, one.place) for one in blocks.of_job(running.pk)] == [
            ("Attempt 2: its body blocked the other 2 seats of its process 3 times for 1.5 s in all", PLACE),
            ("Attempt 1: its body blocked the other 42 seats of its process for 5.0 s", PLACE),
        ]

    def test_how_long_the_present_one_takes_is_not_known_yet(self, light, running):
        block(light, running, seats=2)
        [one] = blocks.of_job(running.pk)
        assert one.sentence == "Attempt 1: its body blocks the other seat of its process"
        block(light, running, seats=9, seconds=1.0)
        [one] = blocks.of_job(running.pk)
        told = "its body blocked the other 8 seats of its process 2 times for 1.0 s in all, and blocks them now"
        assert one.sentence == f"Attempt 1: {told}"

    def test_after_its_attempt_has_ended_it_is_over_though_its_row_stayed_open(self, light):
        ended = make_job(TenantFactory(), Status.SUCCESS, worker=light)
        block(light, ended, seats=2)
        [one] = blocks.of_job(ended.pk)
        assert one.sentence == "Attempt 1: its body blocked the other seat of its process"


def test_health_finds_them_and_the_waits_for_database_threads(light, running):
    facts = {"name": "w", "pid": 1, "pool": "mail", "capacity": 50, "seats": 50, "kind": "light"}
    store.beat(light, **facts, database_wait=1.5)
    block(light, running)
    block(light, running, seconds=2.0)
    found = call_at(NOW, look)
    assert [one.job_id for one in found.blocked] == [running.pk]
    assert [one.times for one in found.blocks] == [1]
    assert found.database_waits == {"mail": 1.5}
