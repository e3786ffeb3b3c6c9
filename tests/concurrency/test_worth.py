"""Who submits into full pools looks before a dispatch: what the look says, and that it loses no wake-up (I2)."""

import pytest
from django.db import transaction

from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.submitting.submit import submit
from jobs.models import Arrival, Worker
from tests.concurrency.test_door import a_pass
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def worker(register):
    return register(concurrency=1)


@pytest.fixture
def tenant(worker):
    return TenantFactory(queue__num_slots=9)


@pytest.fixture
def running(tenant, worker, sent) -> store.Started:
    """A job takes the one place, and all letters are taken."""
    submit(request_for(tenant, "first"))
    job = store.start(sent[0].id, 1, store.Seat.here(worker))
    dispatch.dispatch()
    assert not Arrival.objects.exists()
    return job


@pytest.fixture
def waiting(running, tenant) -> int:
    """Its dispatch finds no place; its letter is taken."""
    job = submit(request_for(tenant, "second")).id
    dispatch.dispatch()
    assert not Arrival.objects.exists()
    return job


@pytest.fixture
def silent(monkeypatch) -> None:
    """Whoever submits asks for no dispatch."""
    monkeypatch.setattr(dispatch, "request", lambda: None)


def end(job: store.Started) -> None:
    assert store.succeed(job.id, job.attempt, {}, None, by=job.holder)


class TestTheLook:
    def test_finds_nothing_while_the_pool_is_full(self, running, tenant, silent):
        submit(request_for(tenant))
        assert not store.worth_a_pass()

    def test_finds_nothing_where_nobody_waits(self, tenant):
        dispatch.dispatch()
        assert not store.worth_a_pass()

    def test_finds_an_arrival_and_a_free_process(self, running, tenant, silent):
        Worker.objects.update(concurrency=2)
        assert not store.worth_a_pass()
        submit(request_for(tenant))
        assert store.worth_a_pass()

    def test_finds_a_lane_that_waits_and_a_free_process(self, waiting):
        assert not store.worth_a_pass()
        Worker.objects.update(concurrency=2)
        assert store.worth_a_pass()

    def test_finds_a_slot_that_became_free(self, running, tenant):
        end(running)
        assert store.worth_a_pass()

    @pytest.mark.parametrize(
        "letter",
        [
            "INSERT INTO freed_slots (xid, tenant_id, job_id) SELECT pg_current_xact_id()::text::bigint, %s, 0",
            "INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)"
            " SELECT pg_current_xact_id()::text::bigint, id, %s, 0, 0 FROM queues WHERE name = 'default'",
        ],
        ids=["freed", "arrival"],
    )
    def test_finds_a_letter_whose_transaction_was_under_way_at_the_last_fold(self, running, tenant, register, letter):
        with a_pass() as late:
            late._own.execute(letter, [tenant.pk])
            submit(request_for(tenant))
            register(concurrency=1)
            assert dispatch.dispatch() == 1
            register(concurrency=1)
            assert not store.worth_a_pass()
            late.commit()
        assert store.worth_a_pass()

    def test_finds_what_a_fold_has_taken_that_is_not_committed(self, running, tenant, silent):
        """The books are as before the fold. Its claim does not see a job that is submitted after it."""
        end(running)
        with a_pass() as inside:
            inside.come_in()
            assert inside.claim() == []
            submit(request_for(tenant))
            assert store.worth_a_pass()
            inside.commit()
        assert store.worth_a_pass()

    def test_finds_nothing_for_a_full_pool_in_an_idle_one(self, running, tenant, register, silent):
        register(concurrency=5, pool="heavy")
        QueueFactory(name="heavy", pool="heavy")
        submit(request_for(tenant))
        assert not store.worth_a_pass()
        submit(request_for(tenant, queue="heavy"))
        assert store.worth_a_pass()

    @pytest.mark.parametrize("leaving", [{"concurrency": 0}, {"beat_interval": 0.0}], ids=["drains", "silent"])
    def test_does_not_reckon_with_what_a_worker_runs_that_leaves(self, running, waiting, register, leaving):
        Worker.objects.filter(pk=running.holder.worker).update(**leaving)
        assert not store.worth_a_pass()
        register(concurrency=1)
        assert store.worth_a_pass()

    def test_lets_no_more_than_a_hundred_arrivals_wait(self, running, tenant, silent):
        for n in range(99):
            submit(request_for(tenant, n))
        assert not store.worth_a_pass()
        submit(request_for(tenant, 99))
        assert store.worth_a_pass()

    def test_is_not_made_in_a_transaction(self, running, tenant):
        assert not store.worth_a_pass()
        with transaction.atomic():
            assert store.worth_a_pass()


class TestWhoSubmits:
    @pytest.fixture
    def made(self, monkeypatch) -> list[int]:
        """What each dispatch has claimed."""
        made, make = [], dispatch.dispatch
        monkeypatch.setattr(dispatch, "dispatch", lambda: made.append(make()) or made[-1])
        return made

    def test_dispatches_in_vain_once_and_looks_then(self, running, tenant, made):
        for n in range(3):
            submit(request_for(tenant, n))
        assert made == [0]

    def test_dispatches_as_soon_as_there_is_something_to_decide(self, running, tenant, made):
        for n in range(3):
            submit(request_for(tenant, n))
        end(running)
        submit(request_for(tenant, 3))
        assert made == [0, 1]

    def test_does_not_look_while_its_dispatches_find_jobs(self, tenant, made, monkeypatch):
        Worker.objects.update(concurrency=9)
        monkeypatch.setattr(store, "worth_a_pass", lambda: pytest.fail("it looks"))
        for n in range(3):
            submit(request_for(tenant, n))
        assert made == [1, 1, 1]

    def test_is_no_reason_for_who_freed_a_place_or_for_the_clock_to_look(self, running, tenant, made, monkeypatch):
        submit(request_for(tenant))
        monkeypatch.setattr(store, "worth_a_pass", lambda: pytest.fail("it looks"))
        end(running)
        assert dispatch.dispatch() == 1
