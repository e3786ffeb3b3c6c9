"""Checkpoints: a body says from where it can go on, gives its slot back when it is asked to, and goes on from there."""

import asyncio

import pytest
from django.db import transaction

from jobs import HandedBack, Retry, current_job, in_thread, job, store
from jobs.authoring.decorator import FAILED
from jobs.engine.light.host import LightSeat
from jobs.engine.process.host import AttemptHost
from jobs.engine.verbs import pause
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import HandBack
from jobs.models import Attempt, FailedAttempt, Job
from jobs.store import results
from tests import attempts
from tests.factories import TenantFactory, ThingFactory
from tests.kinds import run_when_due
from tests.sample.models import Thing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
UNITS = 6  # of work


@pytest.fixture
def thing() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def stranger() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def asked(monkeypatch) -> list[HandBack]:
    """What the parent asks for, of whichever body makes a checkpoint next."""
    asked: list[HandBack] = []
    monkeypatch.setattr(AttemptHost, "asked_back", lambda host: asked[0] if asked else None)
    return asked


@pytest.fixture
def body(monkeypatch):
    """Let `Thing.echo` be this coroutine."""

    def body(function, **options) -> None:
        monkeypatch.setattr(Thing, "echo", job(**{"dedup": False} | options)(function))

    return body


@pytest.fixture
def units(body, asked) -> list[tuple[int, int]]:
    """The units of work that were done, each with its object; in the middle of each job it is asked for its slot."""
    done = []

    async def echo(self):
        run = current_job()
        for unit in range(run.cursor or 0, UNITS):
            done.append((self.pk, unit))
            if unit == UNITS // 2 and run.attempt == 1:
                asked.append(HandBack.DRAIN)
            try:
                await run.acheckpoint(unit + 1)
            except HandedBack:
                asked.clear()
                raise

    body(echo)
    return done


class TestHandedBack:
    def test_the_job_goes_on_from_its_cursor_and_only_the_attempt_is_counted(self, kind, units, thing, stranger):
        ids = {one: one.async_.echo() for one in (thing, stranger)}
        kind.serve()
        for one, job_id in ids.items():
            assert [unit for pk, unit in units if pk == one.pk] == [*range(UNITS)]
            ended = Job.objects.get(pk=job_id)
            assert (ended.status, ended.attempt, ended.retries, ended.crashes) == ("success", 2, 0, 0)
            assert (ended.handed_back, ended.handed_back_why, ended.cursor) == (1, "drain", None)
            billed = Attempt.objects.filter(job_id=job_id).order_by("attempt")
            assert [(one.attempt, one.outcome) for one in billed] == [(1, "hand_back"), (2, "success")]
        assert not FailedAttempt.objects.exists()

    def test_a_job_takes_its_old_place_before_those_that_came_later(self, kind, units, thing):
        ids = [thing.async_.echo() for _ in range(3)]
        kind.serve()
        order = Attempt.objects.order_by("start_time").values_list("job_id", "attempt")
        assert list(order) == [(one, attempt) for one in ids for attempt in (1, 2)]

    def test_a_job_that_had_started_in_time_does_not_expire(self, kind, units, thing):
        job_id = thing.async_(expires=3600).echo()
        kind.serve()
        assert Job.objects.get(pk=job_id).expires_at is None

    def test_the_log_says_why_and_how_often_and_never_the_cursor(self, kind, body, asked, thing, caplog):
        async def echo(self):
            asked[:] = [HandBack.DRAIN] if current_job().attempt < 3 else []
            await current_job().acheckpoint({"secret": 1})

        body(echo)
        job_id = thing.async_.echo()
        with caplog.at_level("INFO", "jobs"):
            kind.serve()
        lines = [line for line in caplog.messages if line.startswith("hand_back")]
        assert [line for line in lines if "why=drain" in line and "times=2" in line], lines
        assert len(lines) == 2
        assert "secret" not in caplog.text
        assert Job.objects.get(pk=job_id).status == "success"

    def test_a_body_that_was_not_asked_fails_with_its_own_exception(self, kind, body, thing):
        async def echo(self):
            raise HandedBack("of its own")

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        ended = Job.objects.get(pk=job_id)
        assert (ended.status, ended.last_error) == ("error", "HandedBack: handed back: of its own")

    def test_a_body_that_goes_on_ends_as_it_ends(self, kind, body, asked, thing):
        async def echo(self):
            asked.append(HandBack.DRAIN)
            for unit in range(3):
                try:
                    await current_job().acheckpoint(unit)
                except HandedBack:
                    await asyncio.sleep(0)
            return "done"

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        assert (Job.objects.get(pk=job_id).status, Job.objects.get(pk=job_id).attempt) == ("success", 1)

    @pytest.mark.parametrize("change", ["cancel_requested_at", "replaced_by"])
    def test_a_job_that_is_to_end_is_not_handed_back(self, change, kind, body, asked, thing):
        async def echo(self):
            run, value = current_job(), {"cancel_requested_at": "2026-01-01T00:00Z", "replaced_by": 7}[change]
            await run.acheckpoint(1)  # stored: the next one asks the process alone
            await Job.objects.filter(pk=run.id).aupdate(**{change: value})
            asked.append(HandBack.DRAIN)
            await run.acheckpoint(2)

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        assert Job.objects.get(pk=job_id).status == "cancelled"

    def test_the_hook_of_a_failure_is_told_what_it_was(self, kind, units, thing):
        told = []
        setattr(Thing.echo, FAILED, lambda verb, error, **args: told.append((verb, type(error))))
        thing.async_.echo()
        kind.serve()
        assert told == [("hand_back", HandedBack)]


class TestTheCursor:
    def test_few_of_many_checkpoints_are_stored_and_the_last_before_a_retry_is(self, kind, body, thing, monkeypatch):
        stored, seen = [], []

        def count(*held):
            stored.append(held[-1])
            return checkpoint(*held)

        async def echo(self):
            run = current_job()
            seen.append(run.cursor)
            for unit in range(500):
                await run.acheckpoint({"unit": unit})
            if run.attempt == 1:
                raise ValueError("no")

        checkpoint = store.checkpoint
        monkeypatch.setattr(store, "checkpoint", count)
        body(echo, retry=Retry.every(1, max_retries=1))
        job_id = thing.async_.echo()
        kind.serve()
        assert run_when_due(kind, job_id).status == "success"
        assert seen == [None, {"unit": 499}]
        assert 2 <= len(stored) <= 10

    def test_a_checkpoint_breaks_the_silence(self, kind, body, thing, monkeypatch):
        heard = []
        for seat in (AttemptHost, LightSeat):
            hear = seat.hear
            monkeypatch.setattr(seat, "hear", lambda host, hear=hear: (heard.append(1), hear(host)))

        async def echo(self):
            before = len(heard)
            await current_job().acheckpoint(1)
            await current_job().acheckpoint(2)
            return len(heard) - before

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        assert results.load(Job.objects.get(pk=job_id)).value == 2

    def test_a_person_who_revives_a_job_lets_it_go_on_and_one_who_runs_it_again_does_not(self, kind, body, thing):
        seen = []

        async def echo(self):
            seen.append(current_job().cursor)
            await current_job().acheckpoint(len(seen))
            if len(seen) == 1:
                raise ValueError("no")

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        assert revive(job_id, tenant_id=thing.tenant_id)
        kind.serve()
        thing.async_.echo()
        kind.serve()
        assert seen == [None, 1, None]

    def test_a_value_that_is_no_cursor_is_refused_and_named(self, kind, body, thing):
        errors = []

        async def echo(self):
            for cursor in ({"ids": {1, 2}}, "x" * 16_384, float("nan")):
                try:
                    await current_job().acheckpoint(cursor)
                except (TypeError, ValueError) as error:
                    errors.append(error)
            await current_job().acheckpoint("x" * 16_382)

        body(echo)
        thing.async_.echo()
        kind.serve()
        assert [type(error) for error in errors] == [TypeError, ValueError, TypeError]
        assert "cursor.ids: set is not JSON" in str(errors[0])
        assert "16,386 bytes" in str(errors[1])
        assert "16,384 bytes" in str(errors[1])

    def test_a_checkpoint_waits_for_nobody_who_has_locked_the_job(self, kind, body, thing, onlooker):
        async def echo(self):
            run = current_job()
            onlooker.execute("BEGIN")
            onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [run.id])
            await run.acheckpoint(1)
            onlooker.execute("ROLLBACK")

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        assert Job.objects.get(pk=job_id).status == "success"

    def test_a_checkpoint_inside_a_transaction_is_refused(self, kind, body, thing):
        """It would say that what is rolled back is done."""

        @transaction.atomic
        def one_unit() -> None:
            current_job().checkpoint(1)

        async def echo(self):
            await in_thread(one_unit)

        body(echo)
        job_id = thing.async_.echo()
        kind.serve()
        ended = Job.objects.get(pk=job_id)
        assert (ended.status, ended.cursor) == ("error", None)
        assert "checkpoint() inside atomic(): call it after the block" in ended.last_error


def test_a_crash_goes_on_from_what_was_stored_last(sent, thing, body, register):
    seat, seen = store.Seat.here(register()), []
    body(lambda self: seen.append(current_job().cursor))
    job_id = thing.async_.echo()
    assert store.start(job_id, 1, seat).cursor is None
    assert store.checkpoint(job_id, 1, seat, '"page 6"')
    assert store.take_back(job_id, 1, store.Failure("ProcessDied", "killed"), 3) == "scheduled"
    assert attempts.run_when_due(sent, job_id).status == "success"
    assert seen == ["page 6"]


def test_a_plain_function_and_its_stand_in_use_the_same_words(sent, thing, body, asked, register):
    register()

    def echo(self):
        run = current_job()
        for unit in range(run.cursor or 0, 3):
            if run.attempt == 1 and unit == 1:
                asked.append(HandBack.SLOTS)
            run.checkpoint(unit + 1)

    body(echo)
    thing.echo()  # here and now: nobody asks for anything
    assert current_job().cursor is None
    job_id = thing.async_.echo()
    again = attempts.run(sent, job_id)
    assert (again.status, again.attempt, again.cursor, again.handed_back_why) == ("queued", 2, 2, "slots")
    asked.clear()
    assert attempts.run(sent, job_id).status == "success"


def test_a_job_of_a_type_that_was_paused_is_held_and_goes_on_when_it_is_resumed(sent, thing, body, asked, register):
    register()
    seen = []

    def echo(self):
        run = current_job()
        seen.append(run.cursor)
        if run.attempt == 1:
            pause.pause_job_type("sample.thing", "echo")
            asked.append(HandBack.TYPE)
        run.checkpoint("half")

    body(echo)
    job_id = thing.async_.echo()
    attempts.run(sent, job_id)
    asked.clear()
    assert attempts.run(sent, job_id).is_held
    pause.resume_job_type("sample.thing", "echo")
    assert attempts.run(sent, job_id).status == "success"
    assert seen == [None, "half"]
