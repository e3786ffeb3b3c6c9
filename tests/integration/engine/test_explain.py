"""Explain: each gate, made real through the engine; and what it says is what the next dispatch then does."""

import os
from datetime import timedelta

import pytest

from jobs import store
from jobs.console.ops.job import view as job_view
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.engine.upkeep import recover
from jobs.engine.verbs import cancel, limits, pause
from jobs.lifecycle import HandBack
from jobs.models import HELD_UNTIL, Job, Pool, Worker
from jobs.reading.explain.explanation import Explanation, Gate, explain
from jobs.reading.explain.reads import places
from jobs.store import EVERY_TENANT, Failure, Seat
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def tenant():
    return TenantFactory(name="Acme", queue__num_slots=2)


def submit(tenant, count: int = 1, **options) -> list[int]:
    return [s.id for s in submit_all([request_for(tenant, n, **options) for n in range(count)])]


def start(job_id: int, worker) -> int:
    """Take it up; the attempt."""
    attempt = Job.objects.get(pk=job_id).attempt
    assert store.start(job_id, attempt, store.Seat.here(worker))
    return attempt


def finish(job_id: int, worker) -> None:
    assert store.succeed(job_id, start(job_id, worker), {}, None)


def explained(job_id: int) -> Explanation:
    found = explain(job_id, tenant_id=EVERY_TENANT)
    assert found is not None
    return found


def change(row, **fields) -> None:
    """As an operator does it, by saving: the dispatch follows by itself."""
    limits.change(row, fields)


def assert_claimed(job_id: int) -> None:
    assert explained(job_id).gate == Gate.QUEUED


class TestTheTenant:
    def test_paused(self, tenant, register):
        register()
        change(tenant.jobs_queue, paused=True)
        (job,) = submit(tenant)
        found = explained(job)
        assert (found.gate, found.sentence, found.also) == (Gate.TENANT_PAUSED, "Tenant Acme is paused.", ())
        assert found.since == Job.objects.get(pk=job).ready_at
        change(tenant.jobs_queue, paused=False)
        assert_claimed(job)

    def test_without_a_row_of_slots(self, register):
        register()
        (job,) = submit(TenantFactory(name="New", queue=None))
        found = explained(job)
        assert (found.gate, found.used, found.limit) == (Gate.NO_SLOTS, 0, 0)
        assert found.sentence == "Tenant New has no slots: they were never set."

    def test_zero_slots(self, tenant, register):
        register()
        change(tenant.jobs_queue, num_slots=0)
        (job,) = submit(tenant)
        assert (explained(job).gate, explained(job).sentence) == (Gate.NO_SLOTS, "Tenant Acme has 0 slots.")
        change(tenant.jobs_queue, num_slots=1)
        assert_claimed(job)

    def test_slots_full(self, tenant, register):
        worker = register()
        first, _, third, fourth = submit(tenant, 4)
        found = explained(third)
        assert (found.gate, found.used, found.limit, found.place) == (Gate.SLOTS_FULL, 2, 2, 1)
        assert found.sentence == "All slots of tenant Acme are in use: 2 of 2."
        assert explained(fourth).place == 2
        finish(first, worker)
        dispatch()
        assert_claimed(third)
        assert (explained(fourth).gate, explained(fourth).place) == (Gate.SLOTS_FULL, 1)

    def test_all_its_slots_in_this_queue(self, tenant, register):
        worker = register()
        exports, stranger = QueueFactory(name="exports", tenant_slots=1), TenantFactory(queue__num_slots=2)
        first, second, third = submit(tenant, 3, queue="exports")
        submit(stranger, 1, queue="exports")
        found = explained(second)
        assert (found.gate, found.used, found.limit, found.place) == (Gate.LANE_FULL, 1, 1, 1)
        assert found.sentence == "Tenant Acme holds all slots that it may have in queue exports: 1 of 1."
        finish(first, worker)
        assert explained(second).gate == Gate.NEXT, "its slot was given back, and no dispatch has taken it off yet"
        dispatch()
        assert_claimed(second)
        change(tenant.jobs_queue, queue_slots={"exports": 2})
        assert_claimed(third)
        change(exports, tenant_slots=None)
        (fourth,) = submit(tenant, 1, queue="exports")
        assert explained(fourth).gate == Gate.SLOTS_FULL

    def test_a_lowered_number_of_slots_shows_what_still_drains(self, tenant, register):
        register()
        job = submit(tenant, 3)[-1]
        change(tenant.jobs_queue, num_slots=1)
        assert (explained(job).gate, explained(job).used, explained(job).limit) == (Gate.SLOTS_FULL, 2, 1)

    def test_rate_limited(self, tenant, register):
        register()
        change(tenant.jobs_queue, rate_limit=1, rate_window=3600)
        first, second = submit(tenant, 2)
        found = explained(second)
        assert (found.gate, found.used, found.limit) == (Gate.TENANT_RATE, 1, 1)
        assert (found.opens_at - Job.objects.get(pk=first).queued_at).total_seconds() == pytest.approx(3600)
        Worker.objects.update(beat_at=found.opens_at)
        assert call_at(found.opens_at - timedelta(seconds=1), store.claim) == []
        assert call_at(found.opens_at, store.claim)[0].id == second


class TestTheUser:
    def test_slots_full(self, tenant, register):
        worker = register()
        change(tenant.jobs_queue, num_slots=5, user_slots=1)
        first, second = submit(tenant, 2, user_key="ada")
        found = explained(second)
        assert (found.gate, found.used, found.limit) == (Gate.USER_FULL, 1, 1)
        assert found.sentence == "User ada has reached the slot limit of tenant Acme per user: 1 of 1."
        finish(first, worker)
        dispatch()
        assert_claimed(second)

    def test_jobs_of_nobody_in_particular_are_held_by_no_such_limit(self, tenant, register):
        register(concurrency=1)
        change(tenant.jobs_queue, num_slots=5, user_slots=1)
        _, second = submit(tenant, 2)
        assert explained(second).gate == Gate.POOL_FULL


class TestTheQueue:
    def test_paused(self, tenant, register):
        register()
        queue = QueueFactory(name="emails", paused=True)
        (job,) = submit(tenant, queue="emails")
        assert (explained(job).gate, explained(job).sentence) == (Gate.QUEUE_PAUSED, "Queue emails is paused.")
        change(queue, paused=False)
        assert_claimed(job)

    def test_concurrency_full(self, tenant, register):
        register()
        queue = QueueFactory(name="emails", concurrency=1)
        _, second = submit(tenant, 2, queue="emails")
        found = explained(second)
        assert (found.gate, found.used, found.limit) == (Gate.QUEUE_FULL, 1, 1)
        change(queue, concurrency=2)
        assert_claimed(second)

    def test_rate_limited(self, tenant, register):
        register()
        queue = QueueFactory(name="emails", rate_limit=2, rate_window=3600)
        change(tenant.jobs_queue, num_slots=9)
        third = submit(tenant, 3, queue="emails")[-1]
        found = explained(third)
        assert (found.gate, found.used, found.limit) == (Gate.QUEUE_RATE, 2, 2)
        assert (
            1799 < (found.opens_at - found.now).total_seconds() <= 1800
        )  # half of the bucket refills in half the window
        assert f"{found.opens_at:%H:%M:%S}" in found.sentence
        change(queue, rate_limit=None, rate_window=None)
        assert_claimed(third)


class TestThePool:
    def test_no_live_worker(self, tenant, register):
        (job,) = submit(tenant)
        assert explained(job).gate == Gate.NO_WORKER
        worker = register()
        dispatch()
        assert_claimed(job)
        Worker.objects.filter(pk=worker).update(beat_at="2020-01-01T00:00Z")
        (late,) = submit(tenant, priority=6)
        assert explained(late).gate == Gate.NO_WORKER

    def test_a_draining_worker_has_no_place(self, tenant, register):
        register(concurrency=0)
        (job,) = submit(tenant)
        assert explained(job).gate == Gate.NO_WORKER

    def test_full(self, tenant, register):
        register(concurrency=2)
        change(tenant.jobs_queue, num_slots=9)
        third = submit(tenant, 3)[-1]
        found = explained(third)
        assert (found.gate, found.used, found.limit) == (Gate.POOL_FULL, 2, 2)
        register(concurrency=1)
        dispatch()
        assert_claimed(third)

    def test_a_light_pool_is_full_when_its_seats_are(self, tenant, register):
        Pool.objects.create(name="default", kind="light", seats=2)
        register(concurrency=1)
        change(tenant.jobs_queue, num_slots=9)
        submit(tenant, is_async=True)
        (job,) = submit(tenant, priority=6, is_async=True)
        assert explained(job).sentence == "All seats of pool default are in use: 1 of 1."
        Pool.objects.update(kind="ordinary", seats=1)
        assert explained(job).sentence == "All processes of pool default are in use: 1 of 1."


class TestSeveral:
    def test_the_first_is_told_and_the_others_are_named(self, tenant, register):
        queue = QueueFactory(name="emails", paused=True)
        change(tenant.jobs_queue, paused=True)
        (job,) = submit(tenant, queue="emails")
        found = explained(job)
        assert (found.gate, found.also) == (Gate.TENANT_PAUSED, (Gate.QUEUE_PAUSED, Gate.NO_WORKER))
        change(tenant.jobs_queue, paused=False)
        assert explained(job).gate == Gate.QUEUE_PAUSED
        change(queue, paused=False)
        assert explained(job).gate == Gate.NO_WORKER
        register()
        dispatch()
        assert_claimed(job)


class TestNext:
    def test_nothing_holds_it_until_somebody_dispatches(self, tenant, register):
        first, second = submit(tenant, 2)
        register()  # and no dispatch yet
        assert (explained(first).gate, explained(first).place) == (Gate.NEXT, 1)
        assert explained(second).sentence.startswith("Nothing blocks this job: it is number 2 in its lane")
        dispatch()
        assert_claimed(first)
        assert_claimed(second)

    def test_the_places_are_the_order_of_the_claims(self, tenant, register, sent):
        worker = register(concurrency=1)
        change(tenant.jobs_queue, num_slots=1, paused=True)
        jobs = [submit(tenant, priority=p, user_key=u)[0] for p, u in [(5, "a"), (0, "b"), (5, ""), (0, "a"), (9, "c")]]
        places = {job: explained(job).place for job in jobs}
        change(tenant.jobs_queue, paused=False)
        for n in range(len(jobs)):
            finish(sent[n].id, worker)
            dispatch()
        assert [claimed.id for claimed in sent] == sorted(jobs, key=places.__getitem__)

    def test_jobs_of_a_user_who_may_start_no_more_are_passed_over(self, tenant, register):
        register()
        change(tenant.jobs_queue, num_slots=2, user_slots=1)
        submit(tenant, 3, user_key="ada")  # one runs
        submit(tenant, 1, user_key="bob")  # runs
        (job,) = submit(tenant)
        assert (explained(job).gate, explained(job).place) == (Gate.SLOTS_FULL, 1)

    def test_the_places_of_a_list_are_those_that_each_job_is_told_by_itself(self, tenant, register):
        QueueFactory(name="mail")
        register()
        change(tenant.jobs_queue, num_slots=2, user_slots=1)
        submit(tenant, 2)  # run
        urgent = submit(tenant, 2, user_key="ada", priority=1)
        jobs = [*submit(tenant, 3), *urgent, *submit(tenant, 1, queue="mail")]
        submit(TenantFactory(), 3, priority=0)
        found = places(jobs, tenant_id=tenant.pk)
        assert found == {job: explained(job).place for job in jobs}
        assert sorted(found.values()) == [1, 1, 2, 3, 4, 5]

    def test_a_strangers_job_and_one_that_does_not_wait_have_no_place(self, tenant, register):
        QueueFactory(name="mail", paused=True)
        (waiting,) = submit(tenant, queue="mail")
        register()
        (running,) = submit(tenant)
        assert places([waiting, running], tenant_id=tenant.pk) == {waiting: 1}
        assert places([waiting, running], tenant_id=TenantFactory().pk) == places([], tenant_id=tenant.pk) == {}

    def test_a_place_far_behind_is_counted_no_further_than_a_thousand(self, tenant, register):
        jobs = submit(tenant, 1_102)
        register()
        assert explained(jobs[999]).place == 1_000
        assert explained(jobs[-1]).place == 1_001
        assert "behind more than 1,000 others" in explained(jobs[-1]).sentence

    def test_the_explanation_names_the_competitors(self, tenant, register):
        """Those who could take the worker, and nobody who is paused, full, or in another pool."""
        QueueFactory(name="emails")
        QueueFactory(name="stopped", paused=True)
        QueueFactory(name="images", pool="gpu")
        submit(tenant)
        (job,) = submit(tenant, 1, priority=6)
        submit(TenantFactory(name="Globex"))
        submit(TenantFactory(name="Paused", queue__paused=True))
        for name in ("emails", "stopped", "images"):
            submit(TenantFactory(), queue=name)
        dispatch()  # takes note of who has come
        found = explained(job)
        assert (found.tenants, found.queues) == (("Globex",), ("emails",))


class TestNotInLine:
    def test_scheduled(self, tenant, register):
        register()
        (job,) = submit(tenant, delay=3600)
        found = explained(job)
        due = Job.objects.get(pk=job).due_at
        assert (found.gate, found.opens_at, found.place, found.since) == (Gate.SCHEDULED, due, None, None)
        assert found.sentence == f"Scheduled: due at {due:%Y-%m-%d %H:%M:%S} UTC."
        assert call_at(due, store.promote)
        dispatch()
        assert_claimed(job)

    def test_due_but_not_yet_promoted(self, tenant):
        (job,) = submit(tenant, delay=3600)
        Job.objects.filter(pk=job).update(due_at="2020-01-01T00:00Z")
        assert explained(job).sentence == "Scheduled: due since 2020-01-01 00:00:00 UTC, waiting for the clock."

    def test_a_retry_says_which_of_how_many_and_why(self, tenant, register):
        worker = register()
        (job,) = submit(tenant, max_retries=5)
        assert store.retry(job, start(job, worker), Failure("ValueError", "no"), delay=60)
        found = explained(job)
        assert (found.gate, found.used, found.limit) == (Gate.SCHEDULED, 1, 5)
        assert found.sentence.startswith("Failed and waits for retry 1 of 5: due at ")
        assert found.sentence.endswith("Last error: ValueError: no")

    def test_the_number_of_retries_is_that_of_the_queue_where_nobody_else_says(self, tenant, register):
        worker = register()
        QueueFactory(name="emails", default_max_retries=3)
        (job,) = submit(tenant, queue="emails")
        assert store.retry(job, start(job, worker), Failure("ValueError", "no"), delay=60)
        assert explained(job).limit == 3

    def test_a_job_that_asked_to_run_again_did_not_fail(self, tenant, register):
        worker = register()
        (job,) = submit(tenant)
        assert store.snooze(job, start(job, worker), {}, delay=60)
        assert (explained(job).used, explained(job).sentence[:20]) == (None, "Asked to run again: ")

    def test_a_job_that_gave_its_slot_back_says_why_and_how_often(self, tenant, register):
        worker = register()
        (job,) = submit(tenant)
        for nth, why in enumerate((HandBack.TURN, HandBack.DRAIN, HandBack.DRAIN), 1):
            assert "Handed back" not in explained(job).sentence or nth > 1
            assert store.hand_back(job, start(job, worker), why, {}, cursor='"secret"')
            dispatch()
        again = "Handed back: its worker stops (3rd time)."
        assert explained(job).sentence.endswith(f"to start it. {again}")
        start(job, worker)
        assert explained(job).sentence.endswith(again)
        assert "secret" not in explained(job).sentence
        facts = dict(job_view._facts(Job.objects.get(pk=job), {}))
        assert facts["Handed back"] == "its worker stops (3rd time)"
        assert facts["Checkpoint"] == "the next attempt goes on from there"
        assert store.succeed(job, 4, {}, None)
        assert "Handed back" not in explained(job).sentence

    def test_held_tells_no_date(self, tenant, register):
        register()
        pause.pause_job_type("sample.thing", "echo")
        (job,) = submit(tenant, source_type="sample.thing", source_method="echo")
        found = explained(job)
        assert (found.gate, found.sentence) == (Gate.HELD, "The job type sample.thing echo is paused.")
        assert found.opens_at is None
        assert str(HELD_UNTIL.year) not in repr(found)
        pause.resume_job_type("sample.thing", "echo")
        assert_claimed(job)

    def test_a_scheduled_job_of_a_paused_type_names_both(self, tenant):
        pause.pause_job_type("sample.thing", "echo")
        (job,) = submit(tenant, source_type="sample.thing", source_method="echo", delay=60)
        Job.objects.filter(pk=job).update(due_at="2120-01-01T00:00Z")
        assert (explained(job).gate, explained(job).also) == (Gate.SCHEDULED, (Gate.HELD,))

    def test_queued_and_sent_again(self, tenant, register, settings):
        register()
        (job,) = submit(tenant)
        queued = Job.objects.get(pk=job)
        found = explained(job)
        assert (found.gate, found.since) == (Gate.QUEUED, queued.queued_at)
        assert "waits for a worker of pool default to start it." in found.sentence
        settings.JOBS_HAND_OVER_TIMEOUT = 0
        recover.hand_over_again()
        assert "its message was sent again 0." in explained(job).sentence

    def test_running_and_asked_to_stop(self, tenant, register):
        worker = register()
        (job,) = submit(tenant)
        attempt = start(job, worker)
        store.progress(job, attempt, Seat(worker, os.getpid()), 0.5, "half")
        assert explained(job).gate == Gate.RUNNING
        assert f"on test@{worker}, attempt 1, 50 % done." in explained(job).sentence
        cancel.cancel(job, tenant_id=EVERY_TENANT)
        assert explained(job).sentence.endswith("It was asked to stop.")

    @pytest.mark.parametrize(
        ("dead", "status", "says"),
        [(True, "dead", "it can be revived or discarded"), (False, "error", "its type has no retries")],
    )
    def test_ended_badly(self, tenant, register, dead, status, says):
        worker = register()
        (job,) = submit(tenant)
        assert store.fail(job, start(job, worker), Failure("ValueError", "no"), dead=dead)
        found = explained(job)
        assert (found.gate, found.status) == (Gate.ENDED, status)
        assert says in found.sentence
        assert found.sentence.endswith("ValueError: no")

    def test_ended_well_and_cancelled(self, tenant, register):
        worker = register()
        well, stopped = submit(tenant, 2)
        finish(well, worker)
        cancel.cancel(stopped, tenant_id=EVERY_TENANT)
        assert explained(well).sentence.startswith("Succeeded at ")
        assert explained(stopped).sentence.startswith("Cancelled at ")
        assert explained(well).since == Job.objects.get(pk=well).end_time


def test_there_is_no_such_job_and_another_tenants_is_as_one(tenant):
    (job,) = submit(tenant)
    assert explain(job + 1, tenant_id=EVERY_TENANT) is None
    assert explain(2**63, tenant_id=EVERY_TENANT) is None
    assert explain(job, tenant_id=TenantFactory().pk) is None
    assert explain(job, tenant_id=tenant.pk) is not None
