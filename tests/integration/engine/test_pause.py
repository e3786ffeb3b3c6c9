"""A job type is paused: its jobs wait, wherever they are on their way, and nobody else's do."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import InvalidRequest, store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import promote
from jobs.engine.verbs import pause
from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Job, PausedJobType
from jobs.store import EVERY_TENANT
from tests.attempts import WORKER, run
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, copies, make_job, status
from tests.sample.models import Run, Thing
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ECHO = ("sample.thing", "echo")
MANY = 10_000


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def thing(tenant) -> Thing:
    return ThingFactory(tenant=tenant)


@pytest.fixture
def race(elsewhere, blocked):
    """Do something in a thread; it is left either done, or waiting for a row of ours."""

    def race(function, *args):
        running = elsewhere(function, *args)
        wait_until(lambda: running.done() or blocked() == 1, "it is done, or waits")
        return running

    return race


def is_held(job_id: int) -> bool:
    return Job.objects.filter(pk=job_id, status="scheduled", due_at=HELD_UNTIL, slot=None).exists()


class TestHeld:
    def test_the_waiting_are_held(self, thing, register, sent):
        waiting = [thing.async_.echo(1), thing.async_.echo(2)]
        assert pause_job_type(*ECHO) == 2
        assert all(is_held(job_id) for job_id in waiting)
        register()
        dispatch()
        assert sent == []

    def test_so_are_the_newly_submitted(self, thing, register, sent):
        register()
        pause_job_type(*ECHO)
        assert all(is_held(job_id) for job_id in (thing.async_.echo(), *thing.async_.echo.many([{"value": 2}])))
        assert sent == []

    def test_one_for_later_is_held_when_it_is_due(self, thing, register, sent):
        register()
        pause_job_type(*ECHO)
        job_id = thing.async_(delay=300).echo()
        due = Job.objects.get(pk=job_id).due_at
        assert due < HELD_UNTIL
        call_at(due, store.promote)
        assert is_held(job_id)
        dispatch()
        assert sent == []

    def test_one_for_later_whose_type_is_resumed_in_time_comes_at_its_moment(self, thing):
        pause_job_type(*ECHO)
        job_id = thing.async_(delay=300).echo()
        due = Job.objects.get(pk=job_id).due_at
        assert resume_job_type(*ECHO) == 0
        call_at(due, store.promote)
        assert status(job_id) == "created"

    def test_one_on_its_way_is_put_off_at_its_start_and_its_slot_is_free(self, thing, register, sent, caplog):
        caplog.set_level("INFO", "jobs")
        register()
        job_id, other = thing.async_.echo(), thing.async_.again()
        pause_job_type(*ECHO)
        assert status(job_id) == "queued"
        run(sent, job_id)
        assert is_held(job_id)
        assert f"put_off job={job_id} attempt=1 tenant={thing.tenant_id}" in caplog.messages
        assert [message.id for message in sent] == [job_id, other]
        assert not Run.objects.exists()

    def test_one_that_is_running_goes_on(self, thing, register):
        register()
        job_id = thing.async_.echo()
        store.start(job_id, 1, store.Seat.here(WORKER))
        pause_job_type(*ECHO)
        assert store.succeed(job_id, 1, {}, None)

    def test_one_that_is_revived_meanwhile_does_not_start(self, tenant, register, sent):
        register()
        dead = make_job(
            tenant, Status.DEAD, died_at=timezone.now(), source_type="sample.thing", source_method="echo", attempt=3
        )
        pause_job_type(*ECHO)
        revive(dead.pk, tenant_id=EVERY_TENANT)
        run(sent, dead.pk)
        assert is_held(dead.pk)

    def test_a_held_one_can_be_cancelled(self, thing):
        pause_job_type(*ECHO)
        job_id = thing.async_.echo()
        assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.CANCELLED

    def test_an_identical_one_is_the_held_one(self, thing):
        pause_job_type(*ECHO)
        assert thing.async_.echo("same") == thing.async_.echo("same")

    def test_the_clock_has_no_moment_to_wake_for(self, thing):
        pause_job_type(*ECHO)
        thing.async_.echo()
        assert store.next_moment() is None

    def test_no_other_job_type_is(self, thing, register, sent):
        register()
        pause_job_type(*ECHO)
        thing.async_.echo()
        other = thing.async_.again()
        assert [message.id for message in sent] == [other]


class TestResumed:
    def test_they_go_in_their_order_and_at_once(self, thing, register, sent):
        register()
        pause_job_type(*ECHO)
        first, second = thing.async_.echo(1), thing.async_.echo(2)
        urgent = thing.async_(priority=0).echo(3)
        assert resume_job_type(*ECHO) == 3
        for job_id in (urgent, first, second):
            assert sent[-1].id == job_id
            run(sent, job_id)
        assert Job.objects.filter(status="success").count() == 3

    def test_one_that_was_put_off_runs_and_its_old_message_starts_nothing(self, thing, register, sent):
        register()
        job_id = thing.async_.echo()
        pause_job_type(*ECHO)
        run(sent, job_id)
        resume_job_type(*ECHO)
        assert store.start(job_id, 1, store.Seat.here(WORKER)) is None
        assert run(sent, job_id).status == "success"
        assert Run.objects.get().attempt == 2

    def test_only_that_type_is(self, thing):
        pause_job_type(*ECHO)
        pause_job_type("sample.thing", "again")
        echo, again = thing.async_.echo(), thing.async_.again()
        assert resume_job_type(*ECHO) == 1
        assert status(echo) == "created"
        assert is_held(again)

    def test_twice_paused_is_once_resumed(self, thing):
        pause_job_type(*ECHO)
        pause_job_type(*ECHO)
        job_id = thing.async_.echo()
        assert resume_job_type(*ECHO) == 1
        assert status(job_id) == "created"
        assert not PausedJobType.objects.exists()

    def test_one_whose_code_was_removed_is_resumed_all_the_same(self, thing):
        job = make_job(thing.tenant, Status.SCHEDULED, source_method="removed", due_at=HELD_UNTIL)
        PausedJobType.objects.create(source_type=job.source_type, source_method="removed")
        assert resume_job_type(job.source_type, "removed") == 1
        assert status(job.pk) == "created"

    @pytest.mark.parametrize("job_type", [ECHO, ("sample.thing", "not_a_job"), ("sample.nothing", "echo")])
    def test_one_that_is_not_paused_is_refused_by_name(self, job_type, db):
        pause_job_type("sample.thing", "again")
        with pytest.raises(InvalidRequest) as refused:
            resume_job_type(*job_type)
        assert refused.value.field == "source_method"
        assert refused.value.message == f"{'.'.join(job_type)} is not paused; paused: sample.thing.again"
        assert PausedJobType.objects.count() == 1


@pytest.mark.parametrize("job_type", [("sample.thing", "not_a_job"), ("sample.nothing", "echo")])
def test_an_unknown_type_is_not_paused(job_type, db):
    with pytest.raises(InvalidRequest):
        pause_job_type(*job_type)
    assert not PausedJobType.objects.exists()


@pytest.mark.usefixtures("one_worker")
class TestRaces:
    """Each side held uncommitted while the other one acts. None of them may start, and none may be forgotten."""

    def test_a_submit_that_commits_after_the_pause_is_put_off_at_its_start(self, thing, race, sent):
        with transaction.atomic():
            job_id = thing.async_.echo()  # it has seen no pause
            assert race(pause_job_type, *ECHO).result(30) == 0  # which has not seen it, either
        run(sent, job_id)
        assert is_held(job_id)
        assert not Run.objects.exists()

    def test_a_submit_during_an_uncommitted_pause_is_put_off_at_its_start(self, thing, race, sent):
        with transaction.atomic():
            pause_job_type(*ECHO)
            job_id = race(thing.async_.echo).result(30)
        run(sent, job_id)
        assert is_held(job_id)
        assert not Run.objects.exists()

    def test_a_submit_while_the_line_is_swept_is_held(self, thing, race, monkeypatch):
        submitted = []
        sweep = store.hold

        def submit_then_sweep(*job_type: str):
            submitted.append(race(thing.async_.echo).result(30))
            return sweep(*job_type)

        monkeypatch.setattr(store, "hold", submit_then_sweep)
        pause_job_type(*ECHO)
        assert is_held(submitted[0])

    def test_a_claim_that_commits_before_the_sweep_is_put_off_at_its_start(self, thing, race, sent):
        job_id = thing.async_.echo()
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job_id)
            assert race(pause_job_type, *ECHO).result(30) == 0
        run(sent, job_id)
        assert is_held(job_id)

    def test_a_start_that_commits_first_runs(self, thing, race):
        job_id = thing.async_.echo()
        with transaction.atomic():
            assert store.start(job_id, 1, store.Seat.here(WORKER))
            race(pause_job_type, *ECHO).result(30)
        assert status(job_id) == "running"

    def test_a_submit_that_saw_the_pause_and_commits_after_the_resumption_is_released_by_the_clock(
        self, thing, race, sent
    ):
        pause_job_type(*ECHO)
        with transaction.atomic():
            job_id = thing.async_.echo()
            assert race(resume_job_type, *ECHO).result(30) == 0
        assert is_held(job_id)
        assert pause.release() == 1
        assert [message.id for message in sent] == [job_id]

    def test_a_submit_during_an_uncommitted_resumption_is_released_by_the_clock(self, thing, race, sent):
        pause_job_type(*ECHO)
        with transaction.atomic():
            resume_job_type(*ECHO)
            job_id = race(thing.async_.echo).result(30)
            assert is_held(job_id)
        assert pause.release() == 1
        assert [message.id for message in sent] == [job_id]

    def test_one_that_is_put_off_while_its_type_is_resumed_is_released_by_the_clock(self, thing, race, sent):
        job_id = thing.async_.echo()
        pause_job_type(*ECHO)
        with transaction.atomic():
            assert store.put_off(job_id, 1)
            assert race(resume_job_type, *ECHO).result(30) == 0
        assert pause.release() == 1
        assert run(sent, job_id).status == "success"

    def test_one_whose_type_is_resumed_before_it_is_put_off_starts_after_all(self, thing, sent, monkeypatch):
        """Refused at its start, and then not to be put off any more: its only message must not be lost."""
        job_id = thing.async_.echo()
        pause_job_type(*ECHO)
        put_off = store.put_off

        def resume_then_put_off(*holder: int) -> bool:
            resume_job_type(*ECHO)
            return put_off(*holder)

        monkeypatch.setattr(store, "put_off", resume_then_put_off)
        ended = run(sent, job_id)
        assert (ended.status, ended.attempt) == ("success", 1)


class TestManyOfThem:
    """The effects in their order; how long they take is for the benchmarks."""

    @pytest.fixture
    def other(self) -> Thing:
        return ThingFactory(tenant=TenantFactory(queue__num_slots=1))

    def make_many(self, thing, status: Status, **fields) -> None:
        echo = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
        copies(make_job(thing.tenant, status, **echo, **fields), MANY - 1)

    def test_ten_thousand_of_a_paused_type_at_the_head_of_the_line_block_nobody(self, thing, other, register, sent):
        self.make_many(thing, Status.CREATED, priority=0)
        assert pause_job_type(*ECHO) == MANY
        register()
        own, others = thing.async_.again(), other.async_.again()
        assert [message.id for message in sent] == [own, others]

    @pytest.mark.usefixtures("one_worker")
    def test_of_ten_thousand_due_in_one_second_none_holds_up_another_tenant(
        self, thing, other, sent, elsewhere, monkeypatch
    ):
        self.make_many(thing, Status.SCHEDULED, due_at=timezone.now() - timedelta(seconds=1))
        real, batches, between = store.promote, [], []

        def promote_and_look(batch: int):
            with transaction.atomic():
                promoted = real(batch)
                if not batches:  # the first batch is promoted, but not committed yet
                    between.append(elsewhere(other.async_.echo).result(30))
                    assert [message.id for message in sent] == between
            batches.append(len(promoted))
            return promoted

        monkeypatch.setattr(store, "promote", promote_and_look)
        assert promote() == MANY
        assert batches == [1000] * 10 + [0]
        assert sent[0].id == between[0]
        assert Job.objects.filter(status="created").count() == MANY - 1
        assert len(sent) == 2  # one slot each
