"""A time slice: the process that ended a job well goes on with the next one of its lane, in the same slot."""

import time
import uuid
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from jobs import current_job, job, store
from jobs.engine.attempt import execute as engine
from jobs.engine.attempt import slices
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.repairs import recount_waiting
from jobs.engine.process import patience, runtime
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.engine.process.runtime import Runtime
from jobs.engine.verbs import pause
from jobs.models import FreedSlot, Job, Lane, PausedJobType, Queue, TenantBook, Worker
from jobs.store import Holder
from jobs.worker import message
from tenants.models import TenantQueue
from tests.attempts import changed
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, ThingFactory, fold, make_job, statuses
from tests.sample.models import Thing
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

NOW = timezone.now()


@pytest.fixture
def host(register) -> AttemptHost:
    return AttemptHost(ProcessHost(register(concurrency=1), pool="default"))


@pytest.fixture
def thing() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def running(host, thing, sent) -> store.Started:
    """The first of three jobs; the other two wait behind it."""
    for n in range(3):
        thing.async_.echo(n)
    (message,) = sent
    return call_at(NOW, store.start, message.id, 1, host.seat)


def end(job: store.Started, seconds: float = 0.0, by: Holder | None = None) -> store.Started | None:
    """It ends well, so long after NOW; the job that follows."""
    now = NOW + timedelta(seconds=seconds)
    return call_at(now, store.succeed_and_follow, job.id, job.attempt, {}, None, by=by or job.holder)[1]


class TestTheFollower:
    def test_the_next_of_the_lane_in_the_slot_and_process_of_the_one_that_ended(self, running):
        before = Job.objects.get(pk=running.id)
        following = end(running)
        after = Job.objects.get(pk=following.id)
        assert statuses() == ["success", "running", "created"]
        assert (after.slot, after.ticket, after.attempt) == (before.slot, before.ticket, 1)
        assert (after.worker, after.worker_pid) == (before.worker, before.worker_pid)
        assert following.args == {"value": 1}

    def test_by_priority_then_by_submission(self, running, thing):
        urgent = thing.async_(priority=0).echo("urgent")
        dispatch()  # which tells the lane that somebody stands in front of its head
        assert end(running).id == urgent

    def test_no_job_of_another_lane_follows(self, running, thing):
        Job.objects.exclude(pk=running.id).delete()
        make_job(thing.tenant, queue=QueueFactory(name="other"))
        make_job(TenantFactory())
        assert end(running) is None

    def test_a_locked_job_is_passed_over(self, running, elsewhere):
        first, second = Job.objects.filter(status="created").order_by("id")
        sql("BEGIN")
        sql("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first.pk])
        assert elsewhere(end, running).result(timeout=10).id == second.pk
        sql("ROLLBACK")

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda: Queue.objects.update(paused=True), id="paused-queue"),
            pytest.param(lambda: Queue.objects.update(concurrency=9), id="queue-with-a-limit"),
            pytest.param(lambda: Queue.objects.update(rate_limit=9, rate_window=1), id="queue-with-a-rate"),
            pytest.param(lambda: Queue.objects.update(pool="other"), id="queue-of-another-pool-now"),
            pytest.param(lambda: TenantQueue.objects.update(paused=True), id="paused-tenant"),
            pytest.param(lambda: TenantQueue.objects.update(num_slots=0), id="lowered-slots"),
            pytest.param(lambda: TenantQueue.objects.update(user_slots=9), id="tenant-that-limits-its-users"),
            pytest.param(lambda: TenantQueue.objects.update(rate_limit=9, rate_window=1), id="tenant-with-a-rate"),
            pytest.param(lambda: TenantQueue.objects.all().delete(), id="tenant-without-slots"),
            pytest.param(lambda: Worker.objects.update(gone_at=NOW), id="worker-declared-gone"),
            pytest.param(lambda: Worker.objects.update(concurrency=0), id="draining-worker"),
            pytest.param(lambda: pause.pause_job_type("sample.thing", "echo"), id="paused-type-held"),
            pytest.param(lambda: store.hold("sample.thing", "echo"), id="held"),
        ],
    )
    def test_no_job_follows_where_something_else_decides(self, change, running):
        change()
        before = statuses()
        assert end(running) is None
        assert statuses() == ["success", *before[1:]]

    @pytest.mark.parametrize(("slots", "of_tenant"), [(1, {}), (None, {"default": 1}), (2, {}), (1, {"default": 2})])
    def test_a_job_follows_unless_the_lane_holds_more_slots_than_it_may(self, running, thing, slots, of_tenant):
        Worker.objects.update(concurrency=2)
        TenantQueue.objects.update(num_slots=2)
        assert dispatch() == 1
        Queue.objects.update(tenant_slots=slots)
        TenantQueue.objects.update(queue_slots=of_tenant)
        assert (end(running) is not None) == (of_tenant.get("default", slots) == 2)

    def test_no_job_of_a_type_paused_during_its_submit_follows(self, running):
        PausedJobType.objects.create(source_type="sample.thing", source_method="echo")
        assert end(running) is None

    def test_no_job_follows_if_none_is_wanted(self, running):
        assert store.succeed(running.id, 1, {}, None, by=running.holder)
        assert statuses() == ["success", "created", "created"]


class TestTheFence:
    def test_a_holder_in_another_process_neither_settles_nor_goes_on(self, running):
        stranger = Holder(running.holder.worker, running.holder.pid + 1)
        assert end(running, by=stranger) is None
        assert statuses() == ["running", "created", "created"]

    @pytest.mark.parametrize(
        "settle",
        [
            lambda job, by: store.succeed(job.id, 1, {}, None, by=by),
            lambda job, by: store.fail(job.id, 1, store.Failure("E", "e"), by=by),
            lambda job, by: store.fail(job.id, 1, store.Failure("E", "e"), dead=True, by=by),
            lambda job, by: store.retry(job.id, 1, store.Failure("E", "e"), delay=1, by=by),
            lambda job, by: store.snooze(job.id, 1, {}, delay=1, by=by),
            lambda job, by: Job.objects.update(cancel_requested_at=NOW) and store.stop(job.id, 1, by=by),
        ],
        ids=["succeed", "fail", "bury", "retry", "snooze", "stop"],
    )
    def test_every_settling_is_fenced_by_the_process(self, settle, running):
        assert not settle(running, Holder(running.holder.worker, running.holder.pid + 1))
        assert Job.objects.get(pk=running.id).status == "running"
        assert settle(running, running.holder)

    def test_a_process_that_lost_the_answer_finds_the_job_it_was_given(self, running, monkeypatch, host):
        """The answer is lost with the connection: the job has ended, and the next one runs in this process."""
        settled = store.succeed_and_follow

        def lose_the_answer(*args, **kwargs):
            monkeypatch.setattr(store, "succeed_and_follow", settled)
            settled(*args, **kwargs)
            raise OperationalError("the connection is lost")

        monkeypatch.setattr(store, "succeed_and_follow", lose_the_answer)
        store.take_back(running.id, 1, store.Failure("Crashed", ""), 3)
        Job.objects.filter(pk=running.id).delete()
        dispatch()
        queued = Job.objects.get(status="queued")
        execute(queued.pk, queued.attempt, host)
        assert statuses() == ["success", "success"]

    def test_a_process_holds_only_the_job_that_runs_in_it(self, running):
        ours, before = running.holder, running.start_time - timedelta(microseconds=1)
        for worker, pid in ((ours.worker, ours.pid + 1), (uuid.uuid4(), ours.pid)):
            assert store.running_in(Holder(worker, pid), before) is None
        assert store.running_in(ours, before).id == running.id

    def test_an_attempt_whose_end_postgresql_has_lost_is_not_run_again(self, running):
        """A failover or a restore: by its row, an attempt runs here that this process had ended before."""
        assert store.running_in(running.holder, running.start_time) is None

    def test_a_job_whose_start_was_not_confirmed_runs_its_body(self, thing, host, sent, monkeypatch):
        job_id = thing.async_.echo()
        started = store.start

        def lose_the_answer(*args, **kwargs):
            monkeypatch.setattr(store, "start", started)
            started(*args, **kwargs)
            raise OperationalError("the connection is lost")

        monkeypatch.setattr(store, "start", lose_the_answer)
        execute(job_id, 1, host)
        assert statuses() == ["success"]

    def test_a_job_whose_start_is_on_its_way_waits_for_it(self, thing, host, sent, monkeypatch):
        """The connection is cut; the server carries the start out while it is asked again."""
        job_id = thing.async_.echo()
        started = store.start

        def cut(*args, **kwargs):
            def arrives_late(*again, **more):
                monkeypatch.setattr(store, "start", started)
                started(*args, **kwargs)
                return started(*again, **more)

            monkeypatch.setattr(store, "start", arrives_late)
            raise OperationalError("the connection is lost")

        monkeypatch.setattr(store, "start", cut)
        execute(job_id, 1, host)
        assert statuses() == ["success"]

    def test_a_process_that_cannot_tell_an_outcome_ends(self, thing, host, sent, monkeypatch):
        def away(*args, **kwargs):
            raise OperationalError("away")

        job_id = thing.async_.echo()
        monkeypatch.setattr(patience, "DATABASE_PATIENCE", 0.0)
        monkeypatch.setattr(store, "succeed_and_follow", away)
        monkeypatch.setattr(runtime, "_runtime", Runtime(host=host))
        with pytest.raises(SystemExit):
            message.run_attempt(job_id, 1)


class TestTheDoor:
    def test_no_slot_is_free_while_one_follows_the_other(self, running, host):
        """I1: the door may have seen the slot's ticket long before the job that holds it now was given it."""
        make_job(Job.objects.get(pk=running.id).tenant, queue=QueueFactory(name="other"))
        assert dispatch() == 0
        following = end(running)
        assert dispatch() == 0
        assert dispatch() == 0
        assert store.succeed(following.id, 1, {}, None, by=following.holder)
        assert dispatch() == 1

    def test_the_slice_is_charged_as_a_whole_when_it_ends(self, running):
        second = end(running, seconds=1)
        assert not FreedSlot.objects.exists()
        third = end(second, seconds=3)
        assert call_at(NOW + timedelta(seconds=7), store.succeed, third.id, 1, {}, None, by=third.holder)
        freed = FreedSlot.objects.get()
        assert (freed.seconds, freed.followed) == (pytest.approx(7), 2)

    @pytest.mark.parametrize(
        "settle",
        [
            lambda job, **how: store.fail(job.id, 1, store.Failure("E", "e"), **how),
            lambda job, **how: store.retry(job.id, 1, store.Failure("E", "e"), delay=1, **how),
            lambda job, **how: store.snooze(job.id, 1, {}, delay=1, **how),
            lambda job, **how: (
                Job.objects.filter(pk=job.id).update(cancel_requested_at=NOW) and store.stop(job.id, 1, **how)
            ),
        ],
        ids=["fail", "retry", "snooze", "stop"],
    )
    def test_however_its_last_job_ends(self, settle, running):
        last = end(running, seconds=1)
        assert call_at(NOW + timedelta(seconds=3), settle, last, by=last.holder)
        freed = FreedSlot.objects.get()
        assert (freed.seconds, freed.followed) == (pytest.approx(3), 1)

    def test_a_follower_is_counted_even_if_its_process_dies(self, running):
        last = end(end(running))
        assert store.take_back(last.id, 1, store.Failure("ProcessDied", "killed"), max_crashes=3) == "scheduled"
        assert FreedSlot.objects.get().followed == 2

    def test_the_followers_so_far_are_not_counted_as_wrong(self, running):
        dispatch()
        last = end(running)
        assert recount_waiting(all_tenants=True) == 0
        store.succeed(last.id, 1, {}, None, by=last.holder)
        assert recount_waiting(all_tenants=True) == 0
        dispatch()
        assert recount_waiting(all_tenants=True) == 0

    def test_the_next_claim_counts_anew(self, running):
        last = end(running)
        assert store.retry(last.id, 1, store.Failure("E", "e"), delay=0.001, by=last.holder)
        call_at(NOW + timedelta(hours=1), store.promote)
        dispatch()
        assert Job.objects.get(pk=last.id).followed == 0

    def test_a_follower_waits_no_more(self, running, thing):
        dispatch()
        assert Lane.objects.get(tenant_id=thing.tenant.pk).waiting == 2
        second = end(running)
        store.succeed(second.id, 1, {}, None, by=second.holder)
        dispatch()
        assert Lane.objects.get(tenant_id=thing.tenant.pk).waiting == 0


class TestAMessage:
    def test_leads_to_all_that_wait_in_its_lane(self, host, thing, sent):
        for n in range(5):
            thing.async_.echo(n)
        execute(sent[0].id, 1, host)
        assert statuses() == ["success"] * 5
        assert len(sent) == 1

    def test_after_a_quantum_it_is_whose_turn_it_is(self, host, thing, sent, monkeypatch):
        monkeypatch.setattr(slices, "SLICE", 0.0)
        begun = [thing.async_.echo(0), ThingFactory().async_.echo(1), thing.async_.echo(2)]
        execute(begun[0], 1, host)
        assert list(Job.objects.order_by("start_time").values_list("id", flat=True)) == begun
        assert len(sent) == 1, "what it claims for its own pool it runs itself"

    def test_while_it_only_waited_for_a_core_it_goes_on_with_the_lane(self, host, thing, monkeypatch):
        monkeypatch.setattr(slices, "SLICE", 0.0)
        first, other, second = thing.async_.echo(0), ThingFactory().async_.echo(1), thing.async_.echo(2)
        execute(first, 1, changed(host, waited_for_core=lambda: 2 * time.monotonic()))
        assert list(Job.objects.order_by("start_time").values_list("id", flat=True)) == [first, second, other]

    def test_after_its_slack_the_next_one_is_handed_over(self, host, thing, sent, monkeypatch):
        monkeypatch.setattr(slices, "SLICE", 0.0)
        monkeypatch.setattr(engine, "SLACK", 0.0)
        first, second = thing.async_.echo(0), thing.async_.echo(1)
        execute(first, 1, host)
        assert [message.id for message in sent] == [first, second]
        assert statuses() == ["success", "queued"]

    def test_a_claim_for_another_pool_is_handed_over(self, host, thing, sent, register, monkeypatch):
        monkeypatch.setattr(slices, "SLICE", 0.0)
        QueueFactory(name="heavy", pool="heavy")
        first = thing.async_.echo(0)
        heavy = thing.async_(queue="heavy").echo(1)
        register(concurrency=1, pool="heavy")
        execute(first, 1, host)
        assert [message.id for message in sent] == [first, heavy]
        assert statuses() == ["success", "queued"]

    def test_a_process_fills_one_of_several_places_and_hands_over_the_others(self, host, sent, register, monkeypatch):
        monkeypatch.setattr(slices, "SLICE", 0.0)
        first = ThingFactory().async_.echo(0)
        Worker.objects.update(concurrency=0)
        for n in range(3):
            ThingFactory().async_.echo(n)
        Worker.objects.update(concurrency=2)
        execute(first, 1, host)
        assert statuses().count("success") == 3
        assert [message.id for message in sent[1:]] == list(
            Job.objects.filter(status="queued").values_list("id", flat=True)
        )

    def test_a_worker_that_drains_goes_on_with_nothing(self, host, thing, sent):
        first, second = thing.async_.echo(0), thing.async_.echo(1)
        execute(first, 1, changed(host, is_draining=lambda: True))
        assert [message.id for message in sent] == [first, second]
        assert statuses() == ["success", "queued"]

    def test_after_a_failure_it_is_whose_turn_it_is(self, host, thing, sent):
        begun = [thing.async_.refuse("no"), ThingFactory().async_.echo(1), thing.async_.echo(2)]
        execute(begun[0], 1, host)
        assert statuses() == ["error", "success", "success"]
        assert list(Job.objects.order_by("start_time").values_list("id", flat=True)) == begun

    def test_a_job_to_be_cancelled_in_the_middle_of_a_slice_is_cancelled(self, host, thing, sent, monkeypatch):
        """Its process learns it from the row, whichever message brought it there."""

        def stop_the_second(self, n: int) -> None:
            if n == 1:
                store.request_cancel([current_job().id], tenant_id=store.EVERY_TENANT)
            current_job().check_cancelled()

        monkeypatch.setattr(Thing, "echo", job(stop_the_second))
        for n in range(3):
            thing.async_.echo(n)
        execute(sent[0].id, 1, host)
        assert statuses() == ["success", "cancelled", "success"]

    def test_a_job_that_only_followed_has_no_message(self, host, thing, sent):
        for n in range(3):
            thing.async_.echo(n)
        execute(sent[0].id, 1, host)
        assert Job.objects.filter(handed_at=None).count() == 2
        assert call_at(timezone.now() + timedelta(hours=1), store.hand_over_again, 0) == []


class TestUsers:
    """While a tenant does not limit its users, a slot of one goes to a job of another, and no book knows."""

    @pytest.fixture
    def thing(self) -> Thing:
        return ThingFactory(tenant=TenantFactory(queue__num_slots=2, queue__user_slots=1))

    @pytest.fixture
    def running(self, host, thing, sent) -> store.Started:
        """A job of ann; the limit of users is gone, and behind it waits a job of bob."""
        thing.async_(user="ann").echo(1)
        thing.async_(user="bob").echo(2)
        TenantQueue.objects.update(user_slots=None)
        (message,) = sent
        return call_at(NOW, store.start, message.id, 1, host.seat)

    @pytest.mark.parametrize("folded", [True, False])
    def test_the_limit_comes_back_while_the_other_runs(self, running, thing, folded):
        assert TenantBook.objects.get().users == {"ann": 1}
        if folded:
            fold()
        assert end(running) is not None
        TenantQueue.objects.update(user_slots=1)
        assert store.wrong_books() == []
        thing.async_(user="bob").echo(3), thing.async_(user="ann").echo(4)
        Worker.objects.update(concurrency=9)
        dispatch()
        held = Job.objects.filter(slot__isnull=False)
        assert sorted(held.values_list("user_key", flat=True)) == ["ann", "bob"]
        assert TenantBook.objects.get().users == {"ann": 1, "bob": 1}

    def test_the_limit_came_back_while_the_slot_was_given_on(self, running, thing):
        """The fold was before the process committed."""
        assert (follower := end(running)) is not None
        TenantQueue.objects.update(user_slots=1)
        fold()
        TenantBook.objects.update(users={"ann": 1})
        assert store.succeed(follower.id, follower.attempt, {}, None)
        thing.async_(user="ann").echo(3)
        assert Job.objects.get(slot__isnull=False).user_key == "ann"
        assert TenantBook.objects.get().users == {"ann": 1}


def test_a_limit_below_what_is_in_use_lets_nobody_follow(register, thing, sent):
    """Slots 1 and 2 are in use when the tenant is left with one: the job in slot 2 is the last there."""
    worker = register(concurrency=2)
    TenantQueue.objects.update(num_slots=2)
    store.insert([request_for(thing.tenant, n) for n in range(6)])
    dispatch()
    started = {Job.objects.get(pk=one.id).slot: store.start(one.id, 1, store.Seat.here(worker)) for one in sent}
    TenantQueue.objects.update(num_slots=max(started) - 1)
    assert end(started[max(started)]) is None
    assert end(started[min(started)]) is not None
