"""Who gets the free slots: each limit, each order, and that no level blocks the line of another."""

import uuid
from collections import Counter
from datetime import timedelta

import psycopg
import pytest
from django.db import DataError, connection
from django.utils import timezone

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.engine.verbs import limits
from jobs.lifecycle import Status
from jobs.models import Job, Queue, Worker
from jobs.sql import statement
from jobs.store import Failure, claiming
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish, held, make_job
from tests.plans import Dispatcher, parameters
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


def submit(tenant, count: int = 1, **options) -> list[int]:
    return [s.id for s in submit_all([request_for(tenant, n, **options) for n in range(count)])]


def resume(*tenants) -> None:
    type(tenants[0].jobs_queue).objects.filter(tenant__in=tenants).update(paused=False)


@pytest.mark.parametrize("bound", [{"seconds": -1.0}, {"visits": 1}])
def test_a_pass_that_has_taken_long_leaves_the_rest_to_the_next(register, monkeypatch, sent, bound):
    """Whoever decides is inside the door, and all others wait for it."""
    tenants = [TenantFactory(queue__num_slots=1, queue__paused=True) for _ in range(3)]
    for tenant in tenants:
        submit(tenant)
    resume(*tenants)
    register()
    for name, value in bound.items():
        monkeypatch.setitem(claiming.RULES, name, value)
    first = store.claim()
    assert (len(first), first.more) == (1, True)
    assert dispatch() == 2


def test_a_pool_is_full_when_others_wait_for_its_processes(register):
    register(concurrency=2)
    one, other = TenantFactory(queue__num_slots=1), TenantFactory(queue__num_slots=2)
    store.insert([request_for(one, n) for n in range(2)])
    assert not store.claim().full, "a process is left, and those who wait have no slot"
    store.insert([request_for(other, 1)])
    assert not store.claim().full, "it took the last process, and nobody waits for one"
    store.insert([request_for(other, 2)])
    assert store.claim().full


class TestSlots:
    def test_a_tenant_gets_as_many_jobs_as_it_has_slots_and_each_its_own_number(self, register):
        register()
        tenant = TenantFactory(queue__num_slots=3)
        submit(tenant, 10)
        assert sorted(Job.objects.filter(slot__isnull=False).values_list("slot", flat=True)) == [1, 2, 3]

    def test_a_freed_slot_number_is_given_again(self, register, sent):
        worker = register()
        tenant = TenantFactory(queue__num_slots=3)
        submit(tenant, 10)
        second = Job.objects.get(slot=2)
        finish(store.Claimed(second.pk, second.attempt, "default"), worker)
        assert dispatch() == 1
        assert Job.objects.get(slot=2).pk != second.pk

    def test_a_tenant_with_no_slots_waits(self, register):
        register()
        submit(TenantFactory(queue__num_slots=0), 2)
        assert held() == 0

    def test_a_tenant_without_a_row_in_tenant_queues_waits(self, register):
        register()
        submit(TenantFactory(queue=None), 2)
        assert held() == 0

    def test_lowering_the_slots_drains_and_raising_dispatches_at_once(self, register, sent):
        worker = register()
        tenant = TenantFactory(queue__num_slots=3)
        submit(tenant, 10)
        limits.change(tenant.jobs_queue, {"num_slots": 1})
        for claimed in sent[:2]:
            finish(claimed, worker)
            assert dispatch() == 0
        finish(sent[2], worker)
        assert dispatch() == 1
        limits.change(tenant.jobs_queue, {"num_slots": 4})
        assert held() == 4

    def test_a_paused_tenant_waits_until_it_is_resumed(self, register):
        register()
        tenant = TenantFactory(queue__paused=True)
        submit(tenant, 3)
        assert held() == 0
        limits.change(tenant.jobs_queue, {"paused": False})
        assert held() == 2

    def test_a_full_tenant_does_not_hold_up_another(self, register):
        register()
        full, other = TenantFactory(queue__num_slots=1), TenantFactory(queue__num_slots=1)
        submit(full, 100)
        submit(other)
        assert held(tenant=other) == 1


class TestUsers:
    def test_a_user_gets_no_more_than_the_tenant_allows_a_user(self, register):
        register()
        tenant = TenantFactory(queue__num_slots=5, queue__user_slots=2)
        submit(tenant, 10, user_key="ada")
        assert held(user_key="ada") == 2

    def test_a_full_user_does_not_hold_up_a_colleague_behind_it_in_the_line(self, register):
        register()
        tenant = TenantFactory(queue__num_slots=5, queue__user_slots=2)
        submit(tenant, 50, user_key="ada")
        submit(tenant, 50, user_key="bob")
        submit(tenant, 50)
        assert (held(user_key="ada"), held(user_key="bob"), held(user_key="")) == (2, 2, 1)

    def test_a_users_limit_holds_across_queues(self, register):
        register()
        QueueFactory(name="emails")
        tenant = TenantFactory(queue__num_slots=9, queue__user_slots=2)
        submit_all(
            [request_for(tenant, n, user_key="ada", queue=queue) for n in range(5) for queue in ("default", "emails")]
        )
        assert held(user_key="ada") == 2

    def test_however_many_users_wait_one_dispatch_fills_every_slot(self, register):
        """More than one visit looks at."""
        register()
        tenant = TenantFactory(queue__num_slots=40, queue__user_slots=1)
        submit_all([request_for(tenant, n, user_key=f"user{n:02}") for n in range(60)])
        assert held() == 40

    def test_a_hundred_full_users_do_not_hide_the_one_who_may_go(self, register):
        register(concurrency=300)
        tenant = TenantFactory(queue__num_slots=200, queue__user_slots=1)
        submit_all([request_for(tenant, n, user_key=f"full{n % 100:03}") for n in range(300)])
        assert held() == 100
        submit(tenant, user_key="zoe")
        assert held(user_key="zoe") == 1

    def test_where_users_may_start_nothing_jobs_without_one_go(self, register):
        register()
        tenant = TenantFactory(queue__num_slots=4, queue__user_slots=0)
        submit_all([request_for(tenant, n, user_key=f"user{n}") for n in range(50)])
        submit(tenant, 2)
        assert (held(), held(user_key="")) == (2, 2)

    @pytest.mark.parametrize("users", [["ada"], ["ada", "bob"]], ids=len)
    @pytest.mark.parametrize("user_slots", [1, 2])
    def test_a_locked_job_does_not_hold_up_the_others_of_its_user(self, user_slots, users, register):
        register(concurrency=5)
        tenant = TenantFactory(queue__num_slots=5, queue__user_slots=user_slots, queue__paused=True)
        jobs = {user: submit(tenant, 6, user_key=user) for user in users}
        with psycopg.connect(**connection.get_connection_params()) as other:
            locked = [job for user in users for job in jobs[user][:user_slots]]
            other.execute("SELECT FROM jobs WHERE id = ANY(%s) FOR UPDATE", [locked])
            resume(tenant)
            assert dispatch() == user_slots * len(users)
            other.rollback()
        for user in users:
            assert held(user_key=user) == user_slots

    def test_a_users_further_jobs_take_no_room_from_another_lane(self, register):
        """What replaces its locked jobs counts for nothing in the order of turns: one pass fills all processes."""
        register(concurrency=4)
        by_user, other = TenantFactory(queue__num_slots=5, queue__user_slots=1), TenantFactory(queue__num_slots=5)
        for tenant in (by_user, other):
            limits.change(tenant.jobs_queue, {"paused": True})
            submit(tenant, 6, user_key="ada")
        resume(by_user, other)
        assert len(store.claim()) == 4

    def test_without_a_limit_per_user_the_line_is_one(self, register):
        register()
        tenant = TenantFactory(queue__num_slots=3)
        ids = [submit(tenant, user_key=user)[0] for user in ("zoe", "ada", "zoe", "bob")]
        assert list(Job.objects.filter(slot__isnull=False).order_by("id").values_list("id", flat=True)) == ids[:3]


class TestQueues:
    def test_a_queues_concurrency_holds_over_all_tenants(self, register):
        register()
        QueueFactory(name="emails", concurrency=3)
        for _ in range(4):
            submit(TenantFactory(), 5, queue="emails")
        assert held(queue__name="emails") == 3

    def test_a_queues_concurrency_holds_when_many_tenants_come_at_once(self, register):
        register()
        QueueFactory(name="emails", concurrency=3)
        tenants = [TenantFactory(queue__paused=True) for _ in range(4)]
        for tenant in tenants:
            submit(tenant, 5, queue="emails")
        resume(*tenants)
        assert dispatch() == 3

    def test_a_full_queue_does_not_hold_up_the_tenants_other_queues(self, register):
        register()
        QueueFactory(name="emails", concurrency=1)
        tenant = TenantFactory(queue__num_slots=4)
        submit(tenant, 10_000, queue="emails")
        submit(tenant, 10)
        assert held(queue__name="emails") == 1
        assert held(queue__name="default") == 3

    def test_one_pass_that_is_cut_by_a_queue_is_followed_by_one_that_fills_the_slot(self, register):
        """The tenant's slot goes to its line in the capped queue, which is full by then; the other line gets it."""
        register()
        QueueFactory(name="emails", concurrency=1, weight=100)
        early, late = TenantFactory(queue__num_slots=1), TenantFactory(queue__num_slots=1)
        submit_all(
            [
                request_for(early, queue="emails"),
                request_for(late, queue="emails"),
                request_for(late, 2, queue="default"),
            ]
        )
        assert held(tenant=early) == held(tenant=late) == 1

    def test_a_paused_queue_waits_until_it_is_resumed(self, register):
        register()
        queue = QueueFactory(name="emails", paused=True)
        submit(TenantFactory(), 1, queue="emails")
        assert held() == 0
        limits.change(queue, {"paused": False})
        assert held() == 1

    def test_weights_three_to_one_are_served_three_to_one(self, fleet):
        QueueFactory(name="a", weight=3)
        QueueFactory(name="b", weight=1)
        tenant = TenantFactory(queue__num_slots=1, queue__paused=True)
        submit_all([request_for(tenant, n, queue=queue) for n in range(400) for queue in ("a", "b")])
        resume(tenant)
        workers = fleet(1)
        workers.run(400)
        assert workers.queue_seconds["a"] == pytest.approx(300, abs=2)

    def test_a_queue_of_long_jobs_gets_no_more_worker_seconds_than_one_of_short_jobs(self, fleet):
        QueueFactory(name="long")
        long, short = (TenantFactory(queue__num_slots=1, queue__paused=True) for _ in range(2))
        submit_all([request_for(long, n, queue="long") for n in range(100)])
        submit_all([request_for(short, n) for n in range(600)])
        resume(long, short)
        workers = fleet(1, {long.pk: 10.0})
        workers.run(400)
        assert workers.queue_seconds["long"] == pytest.approx(workers.queue_seconds["default"], abs=12)

    def test_weights_hold_within_one_large_batch_too(self, register):
        QueueFactory(name="a", weight=3)
        QueueFactory(name="b", weight=1)
        for _ in range(10):
            tenant = TenantFactory(queue__num_slots=10)
            submit(tenant, 100, queue="a")
            submit(tenant, 100, queue="b")
        register(concurrency=40)
        dispatch()
        assert held(queue__name="a") == 30
        assert held(queue__name="b") == 10

    def test_a_queue_that_was_idle_does_not_catch_up_on_what_it_missed(self, fleet):
        for name in "abc":
            QueueFactory(name=name)
        tenant = TenantFactory(queue__num_slots=1, queue__paused=True)
        submit_all([request_for(tenant, n, queue=queue) for n in range(100) for queue in ("a", "b")])
        resume(tenant)
        workers = fleet(1)
        workers.run(100)
        submit(tenant, 100, queue="c")
        before = workers.queue_seconds.copy()
        workers.run(30)
        assert {q: workers.queue_seconds[q] - before[q] for q in "abc"} == pytest.approx(
            dict.fromkeys("abc", 10), abs=1.5
        )

    def test_pools_are_separate_and_only_live_workers_count(self, register):
        QueueFactory(name="images", pool="gpu")
        tenant = TenantFactory(queue__num_slots=9)
        submit(tenant, 5, queue="images")
        submit(tenant, 5)
        register(concurrency=2)
        dispatch()
        assert (held(queue__name="images"), held(queue__name="default")) == (0, 2)
        register(concurrency=1, pool="gpu")
        dispatch()
        assert (held(queue__name="images"), held(queue__name="default")) == (1, 2)

    def test_a_tenants_lines_in_two_pools_take_turns(self, register, sent):
        """With one slot, whichever pool's virtual time is behind must not get it every time."""
        workers = {"default": register(concurrency=1), "gpu": register(concurrency=1, pool="gpu")}
        QueueFactory(name="images", pool="gpu")
        tenant = TenantFactory(queue__num_slots=1)
        submit_all([request_for(tenant, n, queue=queue) for n in range(20) for queue in ("default", "images")])
        for n in range(20):
            finish(sent[n], workers[sent[n].pool])
            dispatch()
        assert Counter(c.pool for c in sent[:20]) == {"default": 10, "gpu": 10}


class TestCapacity:
    def test_no_more_is_handed_to_a_pool_than_it_has_processes(self, register):
        register(concurrency=2)
        submit(TenantFactory(queue__num_slots=50), 50)
        assert held() == 2

    @pytest.mark.parametrize("absence", ["draining", "silent"])
    def test_what_runs_on_a_worker_that_takes_nothing_more_uses_up_nobody_elses_place(self, absence, register):
        tenant = TenantFactory(queue__num_slots=50)
        old = register(concurrency=2)
        for _ in range(2):
            make_job(tenant, Status.RUNNING, worker=old)
        if absence == "draining":
            store.beat(old, name="old", pid=1, pool="default", capacity=0)
        if absence == "silent":
            Worker.objects.filter(pk=old).update(beat_at="2020-01-01T00:00Z")
        register(concurrency=2)
        submit(tenant, 6)
        assert held() == 2 + 2

    @pytest.mark.parametrize("absence", ["gone", "unknown"])
    def test_what_ran_on_a_worker_that_is_gone_uses_up_a_place_until_it_is_taken_back(self, absence, register):
        tenant = TenantFactory(queue__num_slots=50)
        old = uuid.uuid4() if absence == "unknown" else register(concurrency=2)
        for _ in range(2):
            make_job(tenant, Status.RUNNING, worker=old)
        if absence == "gone":
            store.leave(old)
        register(concurrency=3)
        submit(tenant, 6)
        assert held() == 2 + 1
        for job in Job.objects.filter(worker=old):
            assert store.take_back(job.pk, job.attempt, Failure("WorkerLost", "gone"), max_crashes=3)
        dispatch()
        assert held() == 3

    def test_it_uses_up_a_slot_of_its_tenant_all_the_same(self, register):
        tenant = TenantFactory(queue__num_slots=2)
        old = register(concurrency=0)
        for _ in range(2):
            make_job(tenant, Status.RUNNING, worker=old)
        register(concurrency=2)
        submit(tenant)
        assert held() == 2

    def test_a_worker_is_live_for_three_beats_of_its_own(self, register, settings):
        settings.JOBS_BEAT_INTERVAL = 100.0
        register(concurrency=1)
        settings.JOBS_BEAT_INTERVAL = 1.0
        register(concurrency=1)
        Worker.objects.update(beat_at=timezone.now() - timedelta(seconds=200))
        submit(TenantFactory(), 2)
        assert held() == 1

    def test_without_a_live_worker_jobs_wait_and_a_draining_one_is_none(self, register):
        register(concurrency=0)
        submit(TenantFactory())
        assert held() == 0

    def test_a_worker_that_stopped_beating_is_no_capacity(self, register):
        worker = register()
        Worker.objects.filter(pk=worker).update(beat_at="2020-01-01T00:00Z")
        submit(TenantFactory())
        assert held() == 0


class TestOrder:
    def test_a_lane_is_served_by_priority_and_then_in_the_order_of_submission(self, register, sent):
        worker = register(concurrency=1)
        tenant = TenantFactory(queue__num_slots=1, queue__paused=True)
        ids = [submit(tenant, priority=priority)[0] for priority in (5, 10, 0, 5, 0, 10)]
        limits.change(tenant.jobs_queue, {"paused": False})
        for n in range(6):
            finish(sent[n], worker)
            dispatch()
        assert [c.id for c in sent] == [ids[n] for n in (2, 4, 0, 3, 1, 5)]

    def test_a_freed_worker_goes_to_the_tenant_that_uses_least_of_its_share(self, register, sent):
        register(concurrency=8)
        heavy, light = TenantFactory(queue__num_slots=8), TenantFactory(queue__num_slots=8)
        submit(heavy, 100)
        assert held(tenant=heavy) == 8
        submit(light, 100)
        register(concurrency=8)
        dispatch()
        assert (held(tenant=heavy), held(tenant=light)) == (8, 8)

    def test_weights_of_tenants_share_the_workers(self, register):
        tenants = [TenantFactory(queue__num_slots=50, queue__weight=weight) for weight in (1, 3)]
        for tenant in tenants:
            submit(tenant, 100)
        register(concurrency=20)
        dispatch()
        assert [held(tenant=tenant) for tenant in tenants] == [5, 15]

    def test_equals_are_served_by_the_longest_wait(self, register, sent):
        tenants = [TenantFactory(queue__num_slots=1) for _ in range(3)]
        for tenant in reversed(tenants):
            submit(tenant)
        register(concurrency=1)
        dispatch()
        assert held(tenant=tenants[2]) == 1


class TestTheDoor:
    def test_the_claim_refuses_to_run_outside_the_door(self, register):
        """Though a lane is ready, and has a place."""

        from jobs.sql import statement

        register()
        tenant = TenantFactory(queue__paused=True)
        submit(tenant)
        type(tenant.jobs_queue).objects.update(paused=False)
        with Dispatcher() as door:
            door.fold()
            assert door.claim().claimed == 1
        assert [row for row in sql(statement("claim"), parameters()) if row[0]] == []
        assert held() == 0

    def test_a_dispatch_inside_a_transaction_is_refused(self, register):
        from django.db import transaction
        from django.db.transaction import TransactionManagementError

        with transaction.atomic(), pytest.raises(TransactionManagementError):
            dispatch()

    def test_a_pass_that_fails_leaves_no_place_taken_at_the_door(self, register, monkeypatch):
        register()
        tenant = TenantFactory(queue__paused=True)
        submit(tenant)
        type(tenant.jobs_queue).objects.update(paused=False)
        with monkeypatch.context() as patch, pytest.raises(DataError, match="division by zero"):
            patch.setattr(claiming, "statement", lambda name: statement(name) if name != "claim" else "SELECT 1 / 0")
            dispatch()
        assert dispatch() == 1

    def test_a_job_that_is_cancelled_while_a_claim_looks_at_it_stays_so_and_the_next_one_goes(
        self, register, monkeypatch, elsewhere, onlooker
    ):
        register()
        tenant = TenantFactory(queue__paused=True, queue__num_slots=1)
        job, following = submit(tenant, 2)
        type(tenant.jobs_queue).objects.update(paused=False)
        looking = statement("claim").replace("SELECT coalesce(", "SELECT pg_advisory_xact_lock(4242), coalesce(", 1)
        with monkeypatch.context() as patch:
            patch.setattr(claiming, "statement", lambda name: looking if name == "claim" else statement(name))
            onlooker.execute("SELECT pg_advisory_lock(4242)")
            claim = elsewhere(store.claim)
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
            )
            wait_until(lambda: onlooker.execute(waiting).fetchone()[0] == 1, "it has its snapshot")
            assert store.cancel([job], tenant_id=tenant.pk)
            onlooker.execute("SELECT pg_advisory_unlock(4242)")
            assert [one.id for one in claim.result()] == [following]
        assert Job.objects.get(pk=job).status == "cancelled"

    def test_a_row_somebody_has_locked_is_passed_over_for_the_next_in_its_lane(self, register):
        import psycopg
        from django.db import connection

        register()
        tenant = TenantFactory(queue__num_slots=1, queue__paused=True)
        first, second = submit(tenant, 2)
        type(tenant.jobs_queue).objects.update(paused=False)
        with psycopg.connect(**connection.get_connection_params(), autocommit=False) as other:
            other.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first])
            assert dispatch() == 1  # and it did not wait
        assert Job.objects.get(slot=1).pk == second

    def test_a_transaction_left_open_holds_up_its_own_job_alone(self, register):
        """The pool's one place would be given to the locked job again and again, by every pass."""
        import psycopg
        from django.db import connection

        register(concurrency=1)
        first, other = (TenantFactory(queue__paused=True) for _ in range(2))
        (locked,) = submit(first)
        submit(other)
        type(first.jobs_queue).objects.update(paused=False)
        with psycopg.connect(**connection.get_connection_params(), autocommit=False) as open_one:
            open_one.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [locked])
            assert dispatch() == 1
        assert held(tenant=other) == 1


def test_the_default_queue_is_there_after_migrate():
    assert Queue.objects.filter(name="default").exists()
