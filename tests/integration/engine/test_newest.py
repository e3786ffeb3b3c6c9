"""The newest of identical calls wins: what waits makes way, what runs ends first, and all of it without a race."""

import threading
from datetime import timedelta

import pytest
from django.db import transaction

from jobs import InvalidRequest, job, store, submit_many
from jobs.authoring import current
from jobs.authoring.current import CurrentJob
from jobs.contrib.testing import freeze_time
from jobs.engine.door.promote import promote
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.models import Job
from jobs.reading.explain.explanation import explain
from jobs.store import Holder
from tenants import audit
from tenants.models import Change
from tests.attempts import WORKER, run
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 10


@pytest.fixture
def thing(register, settings) -> Thing:
    """Of a tenant with one slot; there is a worker."""
    settings.JOBS_BEAT_INTERVAL = 3600.0
    register()
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def busy(thing, sent) -> int:
    """A job of another call that has the tenant's slot."""
    return thing.async_.echo("busy")


def told(job_id: int) -> tuple[str, str | None]:
    return Job.objects.values_list("status", "reason").get(pk=job_id)


def begin(job_id: int, attempt: int = 1) -> Holder:
    started = store.start(job_id, attempt, store.Seat.here(WORKER))
    assert started
    return started.holder


class TestReplace:
    def test_the_one_that_waits_is_cancelled_across_priorities_queues_and_delays(self, thing, busy):
        QueueFactory(name="other")
        first = thing.async_(priority=9).echo(1)
        second = thing.async_(identical="replace", priority=0, queue="other").echo(1)
        third = thing.async_(identical="replace", delay=60).echo(1)
        fourth = thing.async_(identical="replace").echo(1)
        assert told(first) == ("cancelled", f"replaced by {second}")
        assert told(second) == ("cancelled", f"replaced by {third}")
        assert told(third) == ("cancelled", f"replaced by {fourth}")
        assert told(fourth) == ("created", None)

    def test_another_call_and_that_of_a_stranger_are_left_alone(self, thing, busy):
        strangers = ThingFactory(pk=None)
        others = [thing.async_.echo(2), strangers.async_.echo(1)]
        thing.async_(identical="replace").echo(1)
        assert not Job.objects.filter(pk__in=others, status="cancelled").exists()

    def test_a_replaced_job_on_its_way_does_not_start_and_frees_its_slot(self, thing, sent):
        old = thing.async_.echo(1)
        new = thing.async_(identical="replace").echo(1)
        assert [message.id for message in sent] == [old, new]
        assert store.start(old, 1, store.Seat.here(WORKER)) is None
        assert begin(new)

    def test_a_running_job_ends_before_the_new_one_starts(self, thing, sent):
        thing.tenant.jobs_queue.num_slots = 5
        thing.tenant.jobs_queue.save()
        with freeze_time() as time:
            old = thing.async_.echo(1)
            holder = begin(old)
            new = thing.async_(identical="replace").echo(1)
            newer = thing.async_(identical="replace").echo(1)
            assert told(new) == ("cancelled", f"replaced by {newer}")
            assert (
                explain(newer, tenant_id=thing.tenant_id).sentence
                == f"Waits for the end of job {old}, which it replaces."
            )
            time.move(1)
            assert promote() == 0
            assert not Job.objects.get(pk=old).cancel_requested_at
            assert store.succeed(old, 1, {}, None, by=holder)
            time.move(1)
            assert promote() == 1
            assert run(sent, newer).status == "success"
        assert told(old) == ("success", None)

    def test_a_replaced_job_that_fails_is_not_tried_again(self, thing, sent):
        old = thing.async_.echo(1)
        begin(old)
        new = thing.async_(identical="replace").echo(1)
        failure = store.Failure("ValueError", "no")
        assert not store.retry(old, 1, failure, delay=1)
        assert not store.snooze(old, 1, {}, delay=1)
        assert store.stop(old, 1, {}, failure)
        assert told(old) == ("cancelled", f"replaced by {new}")

    def test_a_replaced_job_whose_process_dies_is_not_tried_again(self, thing, sent):
        old = thing.async_.echo(1)
        begin(old)
        new = thing.async_(identical="replace").echo(1)
        assert store.take_back(old, 1, store.Failure("ProcessDied", "gone"), max_crashes=3) == "cancelled"
        assert told(old) == ("cancelled", f"replaced by {new}")

    def test_a_job_that_submits_its_own_call_is_not_replaced_by_it(self, thing, sent):
        old = thing.async_.echo(1)
        begin(old)
        token = current.enter(CurrentJob(id=old))
        try:
            new = thing.async_(identical="replace").echo(1)
        finally:
            token.var.reset(token)
        assert new != old
        assert store.retry(old, 1, store.Failure("ValueError", "no"), delay=1)

    def test_while_its_type_is_paused_and_resumed_it_waits_all_the_same(self, thing, sent):
        with freeze_time() as time:
            old = thing.async_.echo(1)
            begin(old)
            pause_job_type("sample.thing", "echo")
            new = thing.async_(identical="replace").echo(1)
            resume_job_type("sample.thing", "echo")
            time.move(1)
            assert promote() == 0
            assert told(new) == ("scheduled", None)

    def test_the_last_call_of_a_batch_counts(self, thing, busy):
        call = thing.async_(identical="replace").echo
        old = call(1)
        ids = submit_many(call.request(value) for value in (1, 2, 1))
        assert ids[0] == ids[2]
        assert told(old) == ("cancelled", f"replaced by {ids[0]}")
        assert Job.objects.filter(end_time=None).count() == 3


class TestSupersede:
    def test_a_job_that_has_ended_is_not_asked_to_stop(self, thing, sent):
        old = thing.async_.echo(1)
        assert store.succeed(old, 1, {}, None, by=begin(old))
        assert store.outdate({old: old + 1}, [old]) == []
        assert Job.objects.get(pk=old).cancel_requested_at is None

    def test_a_running_job_is_asked_to_stop_even_if_another_waits_for_it(self, thing, sent):
        old = thing.async_.echo(1)
        begin(old)
        waiting = thing.async_(identical="replace").echo(1)
        new = thing.async_(identical="supersede").echo(1)
        assert Job.objects.get(pk=old).cancel_requested_at
        assert told(waiting) == ("cancelled", f"replaced by {new}")
        assert store.stop(old, 1)
        assert told(old) == ("cancelled", f"replaced by {new}")


class TestDebounce:
    def test_the_calls_are_one_job_that_is_due_so_long_after_the_last_with_its_arguments(
        self, thing, sent, monkeypatch
    ):
        monkeypatch.setattr(Thing, "echo", job(dedup_key=lambda value: 1)(lambda self, value: value))
        call = thing.async_(identical="debounce", delay=10)
        with freeze_time() as time:
            first = call.echo(1)
            time.move(9)
            assert call.echo(2) == first
            time.move(9)
            assert promote() == 0
            assert Job.objects.get(pk=first).args == {"value": 2}
            time.move(1)
            assert promote() == 1
        assert Job.objects.count() == 1

    def test_a_stream_of_calls_puts_it_off_for_ten_delays_at_most(self, thing, sent):
        call = thing.async_(identical="debounce", delay=10)
        with freeze_time() as time:
            first, begun = call.echo(1), time()
            for _ in range(11):
                time.move(9)
                assert call.echo(1) == first
            assert Job.objects.get(pk=first).due_at == begun + timedelta(seconds=100)
            time.move(1)
            assert promote() == 1

    def test_a_waiting_job_makes_way_and_a_running_one_ends_first(self, thing, sent):
        call = thing.async_(identical="debounce", delay=10)
        with freeze_time() as time:
            running = call.echo(1)
            time.move(10)
            promote()
            begin(running)
            second = call.echo(1)
            time.move(10)
            assert promote() == 0
            assert store.succeed(running, 1, {}, None)
            time.move(1)
            thing.async_.echo("busy")
            assert promote() == 1
            third = call.echo(1)
            assert told(second) == ("cancelled", f"replaced by {third}")
            assert told(third) == ("scheduled", None)

    def test_a_job_that_was_tried_makes_way(self, thing, sent):
        with freeze_time() as time:
            call = thing.async_(identical="debounce", delay=10)
            old = call.echo(1)
            time.move(10)
            promote()
            begin(old)
            assert store.retry(old, 1, store.Failure("ValueError", "no"), delay=60)
            new = call.echo(1)
            assert told(old) == ("cancelled", f"replaced by {new}")

    def test_a_debounce_needs_a_delay(self, thing):
        with pytest.raises(InvalidRequest, match="delay: debounce needs one"):
            thing.async_(identical="debounce").echo(1)


class TestRaces:
    @pytest.mark.parametrize("identical", ["replace", "supersede", "debounce"])
    def test_many_calls_at_once_leave_one_job(self, identical, thing, busy, elsewhere):
        barrier = threading.Barrier(CALLERS)
        options = {"identical": identical, "delay": 60} if identical == "debounce" else {"identical": identical}

        def call(n: int) -> int:
            barrier.wait(30)
            return thing.async_(priority=n, **options).echo(1)

        ids = {one.result(60) for one in [elsewhere(call, n) for n in range(CALLERS)]}
        (left,) = Job.objects.filter(end_time=None).exclude(pk=busy).values_list("pk", flat=True)
        assert left in ids
        assert len(ids) == (1 if identical == "debounce" else CALLERS)
        assert Job.objects.filter(status="cancelled").count() == len(ids) - 1

    def test_a_start_that_commits_first_ends_first_and_one_that_rolls_back_is_replaced(self, thing, race, sent):
        old = thing.async_.echo(1)
        race.begin(
            "UPDATE jobs SET status = 'running', worker = %s, worker_pid = 1, start_time = now() WHERE id = %s",
            WORKER,
            old,
        )
        new = race.run(thing.async_(identical="replace").echo, 1).result(30)
        assert told(old) == (("running", None) if race.lost else ("cancelled", f"replaced by {new}"))
        assert told(new)[0] == ("scheduled" if race.lost else "queued")

    def test_a_start_waits_for_the_call_and_finds_the_job_cancelled_or_as_it_was(self, thing, elsewhere, blocked, sent):
        old = thing.async_.echo(1)
        with transaction.atomic():
            thing.async_(identical="replace").echo(1)
            starting = elsewhere(store.start, old, 1, store.Seat.here(WORKER))
            transaction.set_rollback(True)
        assert starting.result(30)

    def test_an_end_that_commits_first_leaves_nothing_to_wait_for(self, thing, race, sent):
        old = thing.async_.echo(1)
        begin(old)
        race.begin("UPDATE jobs SET status = 'success', slot = NULL, end_time = now() WHERE id = %s", old)
        new = race.run(thing.async_(identical="replace").echo, 1).result(30)
        assert (Job.objects.get(pk=new).behind is None) == race.lost

    def test_a_promotion_that_commits_first_is_replaced_and_otherwise_the_debounced_goes_on(self, thing, busy, race):
        call = thing.async_(identical="debounce", delay=60)
        old = call.echo(1)
        race.begin("UPDATE jobs SET status = 'created', ready_at = due_at, due_at = NULL WHERE id = %s", old)
        new = race.run(call.echo, 1).result(30)
        assert (new == old) == (not race.lost)
        assert Job.objects.filter(end_time=None).exclude(pk=busy).get().pk == new


class TestMessages:
    def test_operators_see_who_replaced_what(self, thing, busy):
        old = thing.async_.echo(1)
        with audit.acting("ines"):
            thing.async_(identical="replace").echo(1)
        (entry,) = Change.objects.filter(subject_id=str(old))
        assert (entry.verb, entry.tenant_id) == ("replaced", thing.tenant_id)

    def test_the_log_names_both(self, thing, busy, caplog):
        caplog.set_level("INFO", "jobs")
        old = thing.async_.echo(1)
        new = thing.async_(identical="replace").echo(1)
        assert f"replace job={old} attempt=0 tenant={thing.tenant_id} by={new}" in caplog.messages

    def test_an_unknown_way_is_refused(self, thing):
        with pytest.raises(
            InvalidRequest, match="identical: must be one of join, replace, supersede, debounce, gather, not 'x'"
        ):
            thing.async_(identical="x").echo(1)
        with pytest.raises(InvalidRequest, match="identical: nothing is identical to a job without dedup"):
            thing.async_(identical="replace", dedup=False).echo(1)
        with pytest.raises(InvalidRequest, match="after: give either after, or identical, not both"):
            thing.async_(identical="replace", after=[1]).echo(1)
        with pytest.raises(TypeError, match="all but join need dedup"):
            job(identical="replace", dedup=False)


def test_the_option_of_the_method_holds_for_each_call_and_a_call_may_join(thing, busy, monkeypatch):
    monkeypatch.setattr(Thing, "echo", job(identical="replace")(lambda self, value: value))
    old, new = thing.async_.echo(1), thing.async_.echo(1)
    assert told(old) == ("cancelled", f"replaced by {new}")
    assert thing.async_(identical="join").echo(1) == new
    assert thing.async_(dedup=False).echo(1) != new
    assert told(new) == ("created", None)
