"""The door, each race from both sides: a pass is held open in the middle while another one comes."""

import re
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from jobs import store
from jobs.engine.door import dispatch as dispatching
from jobs.engine.door.dispatch import dispatch, dispatch_and_keep
from jobs.engine.submitting.submit import submit
from jobs.models import Job, PausedJobType
from jobs.sql import statement
from jobs.store import claiming
from jobs.store.claiming import OUT_OF_LINE
from jobs.store.pipeline import Pipeline, pipeline
from jobs.store.session import session
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish, held
from tests.plans import parameters
from tests.sql import value
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


class Pass:
    """A dispatch that goes step by step, on a connection of its own."""

    def __init__(self, own: psycopg.Connection) -> None:
        self._own = own

    def knock(self, in_line: bool = True, hears: bool = False) -> bool:
        return self._own.execute(statement("knock"), OUT_OF_LINE | {"in_line": in_line, "hears": hears}).fetchone()[0]

    def claim(self) -> list[int]:
        self.fold()
        return self.only_claim()

    def fold(self) -> None:
        self._own.execute(statement("fold"), parameters())

    def only_claim(self) -> list[int]:
        claimed = self._own.execute(statement("claim"), parameters()).fetchall()
        return [row[0] for row in claimed if row[0]]

    def come_in(self) -> None:
        assert self.knock()
        self._own.execute(statement("enter"))

    def commit(self) -> None:
        self._own.commit()


@contextmanager
def a_pass():
    with psycopg.connect(**connection.get_connection_params()) as own:
        yield Pass(own)


@contextmanager
def elsewhere():
    """Run things in a thread of their own: `run(function) -> Future`."""
    with ThreadPoolExecutor(2) as pool:

        def closing(function):
            try:
                return function()
            finally:
                connection.close()

        yield lambda function: pool.submit(closing, function)


def waiting_at_the_door() -> int:
    return value(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )


@pytest.fixture(autouse=True)
def nobody_waits(transactional_db) -> None:
    """The server gives the locks of a session back a moment after its client, a test before, has closed it."""
    wait_until(lambda: not place_is_taken(), "the sessions of the test before have ended")


def quietly_submit(tenant, **options) -> int:
    """Store a job without the dispatch that would follow."""
    return store.insert([request_for(tenant, **options)])[0].id


def test_a_dispatch_waits_for_the_one_inside_and_counts_what_that_took(register):
    """I1: without the door it would count the pool's one place as free, and take it for the lighter tenant."""
    register(concurrency=1)
    heavy, light = TenantFactory(), TenantFactory(queue__weight=10)
    quietly_submit(heavy)
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        assert len(inside.claim()) == 1
        quietly_submit(light)
        late: Future[int] = run(dispatch)
        wait_until(lambda: waiting_at_the_door() or late.done(), "the second dispatch waits")
        assert not late.done()
        inside.commit()
        assert late.result() == 0
    assert held() == 1


def test_a_dispatch_whose_predecessor_rolls_back_takes_the_place(register):
    """The other side: nothing was taken after all."""
    register(concurrency=1)
    heavy, light = TenantFactory(), TenantFactory(queue__weight=10)
    quietly_submit(heavy)
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        assert len(inside.claim()) == 1
        quietly_submit(light)
        late = run(dispatch)
        wait_until(waiting_at_the_door, "the second dispatch waits")
        inside._own.rollback()
        assert late.result() == 1
    assert held() == 1


def test_a_client_that_stands_still_in_the_middle_of_its_pass_holds_up_nobody(register, monkeypatch):
    """Nothing of it has left yet, and all leaves at once."""
    register()
    quietly_submit(TenantFactory())
    stands, goes_on, add = threading.Event(), threading.Event(), Pipeline.add
    added = []

    def standing_still(pipe, text, /, **parameters):
        if threading.current_thread() is not threading.main_thread():
            added.append(text)
            if text == "COMMIT" and statement("enter") in added:
                stands.set()
                assert goes_on.wait(30)
        return add(pipe, text, **parameters)

    monkeypatch.setattr(Pipeline, "add", standing_still)
    with elsewhere() as run:
        late = run(dispatch)
        assert stands.wait(30)
        try:
            assert dispatch() == 1
        finally:
            goes_on.set()
        assert late.result() == 0


def test_a_client_that_stands_still_after_its_knock_loses_the_waiting_place():
    """PostgreSQL ends its session, since a sync has left with the knock."""
    with elsewhere() as run:
        stands, goes_on = threading.Event(), threading.Event()

        def stand_still() -> None:
            with pipeline() as pipe:
                pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
                pipe.add(statement("knock"), in_line=True, keeps=None, hears=True)
                pipe.add("SET LOCAL idle_in_transaction_session_timeout = 200")  # knock.sql says 5 s
                pipe.hear()
                stands.set()
                assert goes_on.wait(60)
                pipe.add("COMMIT")

        late = run(stand_still)
        assert stands.wait(30)
        with a_pass() as other:
            try:
                wait_until(other.knock, "the waiting place is free")
            finally:
                goes_on.set()
        with pytest.raises(DatabaseError):
            late.result()


def test_a_finisher_that_goes_home_is_served_by_the_one_waiting(register, sent):
    """I2, first side: the settle commits before the waiter takes its snapshot."""
    worker = register(concurrency=1)
    tenant = TenantFactory(queue__num_slots=1)
    submit(request_for(tenant, 1))
    submit(request_for(tenant, 2))
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        assert inside.claim() == []  # its snapshot is taken: it will not see what comes now
        waiter = run(dispatch)
        wait_until(waiting_at_the_door, "one waits at the door")
        finish(sent[0], worker)
        assert dispatch() == 0  # goes home: the waiter will see to it
        assert held() == 0
        inside.commit()
        assert waiter.result() == 1
    assert held() == 1


def test_a_finisher_that_comes_after_the_snapshot_waits_for_itself(register, sent):
    """I2, second side: the one inside gave up the waiting place before its snapshot, so nobody relies on it."""
    worker = register(concurrency=1)
    tenant = TenantFactory(queue__num_slots=1)
    submit(request_for(tenant, 1))
    submit(request_for(tenant, 2))
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        assert inside.claim() == []
        finish(sent[0], worker)
        finisher = run(dispatch)
        wait_until(lambda: waiting_at_the_door() or finisher.done(), "the finisher waits")
        inside.commit()
        assert finisher.result() == 1
    assert held() == 1


def test_however_many_finish_at_once_one_waits_and_the_others_go_home(register):
    register()
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        waiter = run(dispatch)
        wait_until(waiting_at_the_door, "one waits at the door")
        assert [dispatch() for _ in range(5)] == [0] * 5
        assert waiting_at_the_door() == 1
        inside.commit()
        waiter.result()


def test_a_waiter_that_stalls_does_not_keep_the_clock_away(register):
    register()
    tenant = TenantFactory()
    quietly_submit(tenant)
    with a_pass() as stalled:
        assert stalled.knock()
        assert dispatch() == 0
        assert dispatch(in_line=False) == 1


def test_a_waiter_that_dies_leaves_its_place(register):
    register()
    quietly_submit(TenantFactory())
    with a_pass() as dying:
        assert dying.knock()
        dying._own.close()
    wait_until(lambda: dispatch() == 1, "the place is free again")


class TestACrowdAtTheDoor:
    """Who went home the last time hears first whether it may stay."""

    @pytest.fixture
    def folds(self, monkeypatch) -> list[str]:
        """What is sent to fold, by this thread, whose session has its plans."""
        claiming.plan()
        sent = []

        def noted(name):
            sent.extend([name] if name == "fold" else [])
            return statement(name)

        monkeypatch.setattr(claiming, "statement", noted)
        return sent

    def test_a_dispatch_that_goes_home_twice_neither_folds_nor_claims(self, register, folds):
        register()
        with a_pass() as waiter:
            assert waiter.knock()
            assert [dispatch() for _ in range(4)] == [0] * 4
        assert folds == ["fold"], "the first could not know"

    def test_a_dispatch_that_may_stay_tries_the_short_way_again(self, register, folds):
        register()
        tenant = TenantFactory()
        with a_pass() as waiter:
            assert waiter.knock()
            assert dispatch() == 0
        wait_until(lambda: not place_is_taken(), "the place is free again")
        quietly_submit(tenant)
        assert dispatch() == 1
        assert not dispatching._thread.went_home
        assert folds == ["fold"] * 2

    def test_an_ended_job_is_settled_even_if_its_process_goes_home(self, register, sent):
        worker = register(concurrency=1)
        tenant = TenantFactory(queue__num_slots=1)
        submit(request_for(tenant, 1))
        keeper = store.Keeper("default", store.Seat(worker, 1))
        with a_pass() as waiter:
            assert waiter.knock()
            assert dispatch() == 0  # from now on it is a crowd
            started = store.start(sent[0].id, 1, store.Seat.here(worker))
            ending = store.Ending(started, {}, None, None, by=started.holder)
            assert dispatch_and_keep(keeper, ending) is None
            assert ending.applied
        assert Job.objects.get(pk=sent[0].id).status == "success"

    def test_a_dispatch_that_goes_home_leaves_no_transaction_open(self, register):
        register()
        with a_pass() as waiter:
            assert waiter.knock()
            dispatch(), dispatch()
            assert session().connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    @pytest.mark.long("how long PostgreSQL lets who may stay stall; that the clock goes on meanwhile is tested above")
    def test_a_waiter_that_stalls_is_sent_away(self, register):
        register()
        quietly_submit(TenantFactory())
        with a_pass() as stalled:
            stalled.knock(hears=True)
            wait_until(lambda: dispatch() == 1, "the place is free again")
            stalled._own.close()


def place_is_taken() -> bool:
    return value(
        "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )


def test_a_claim_takes_its_snapshot_after_the_lock_not_before(register):
    """A queue's one place, taken by the pass before while this one waited, is seen as taken."""
    register()
    QueueFactory(name="single", concurrency=1)
    first, second = TenantFactory(), TenantFactory(queue__weight=10)
    quietly_submit(first, queue="single")
    barrier = threading.Barrier(2)

    def late_dispatch() -> int:
        barrier.wait()
        return dispatch(in_line=False)

    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        late = run(late_dispatch)
        barrier.wait()
        wait_until(waiting_at_the_door, "the second dispatch waits")
        assert len(inside.claim()) == 1
        quietly_submit(second, queue="single")
        inside.commit()
        assert late.result() == 0
    assert held(queue__name="single") == 1


def counted(tenant) -> int:
    """The tenant's waiting jobs, as the door and the letters to it count them."""
    return store.backlog(tenant.pk)[0]


def test_a_job_that_comes_between_the_fold_and_the_claim_is_counted_once(register):
    register(concurrency=2)
    tenant = TenantFactory()
    store.insert([request_for(tenant, 1)])
    with a_pass() as inside:
        inside.come_in()
        inside.fold()
        store.insert([request_for(tenant, 2)])
        assert len(inside.only_claim()) == 2
        inside.commit()
    assert dispatch() == 0
    assert counted(tenant) == 0


def test_a_job_that_is_claimed_while_it_is_cancelled_is_counted_once(register, blocked):
    register()
    tenant = TenantFactory()
    job = quietly_submit(tenant)
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        inside.claim()
        cancelled = run(lambda: store.cancel([job], tenant_id=tenant.pk))
        wait_until(blocked, "the cancel waits")
        inside.commit()
        assert cancelled.result()
    dispatch()
    assert counted(tenant) == 0


def test_a_job_that_is_cancelled_after_the_snapshot_of_a_claim_leaves_its_place_to_the_next(
    register, blocked, onlooker
):
    register(concurrency=1)
    tenant = TenantFactory()
    job, following = (quietly_submit(tenant, source_id=n) for n in (1, 2))
    paused = "FROM (SELECT *, pg_advisory_xact_lock(4712) FROM served OFFSET 0) s JOIN visit v ON"
    slow = re.sub(r"FROM served s\s+JOIN visit v ON", paused, statement("claim"))
    with a_pass() as inside, elsewhere() as run:
        inside.come_in()
        inside.fold()
        onlooker.execute("SELECT pg_advisory_lock(4712)")
        claim = run(lambda: inside._own.execute(slow, parameters()).fetchall())
        try:
            wait_until(blocked, "the claim has its snapshot")
            assert store.cancel([job], tenant_id=tenant.pk)
        finally:
            onlooker.execute("SELECT pg_advisory_unlock(4712)")
        assert [row[0] for row in claim.result() if row[0]] == [following]
        inside.commit()
    assert Job.objects.get(pk=job).status == "cancelled"


def test_a_job_that_is_put_off_while_it_is_cancelled_is_counted_once(register, blocked):
    register()
    tenant = TenantFactory()
    job = submit(request_for(tenant)).id
    PausedJobType.objects.create(source_type="tests.thing", source_method="run")
    with elsewhere() as run:
        with transaction.atomic():
            assert store.put_off(job, 1)
            cancelled = run(lambda: store.cancel([job], tenant_id=tenant.pk))
            wait_until(blocked, "the cancel waits")
        assert cancelled.result()
    dispatch()
    assert counted(tenant) == 0
