"""Jobs that nobody waits for any more: none starts after its time, wherever it waits, and it ends as cancelled."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import InvalidRequest, Retry, current_job, job, store
from jobs.contrib.testing import freeze_time
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import lapse, promote
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.engine.verbs.revive import revive
from jobs.models import Job
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from tests.attempts import WORKER, run
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing
from tests.sql import value

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def thing(one_worker) -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


def ended(job_id: int) -> tuple[str, str | None]:
    return Job.objects.values_list("status", "reason").get(pk=job_id)


EXPIRED = ("cancelled", "expired")


class TestWhenItLapses:
    def test_one_in_line_or_blocked_is_cancelled_by_the_clock_at_its_moment_and_not_before(self, thing, sent):
        with freeze_time() as time:
            thing.async_.echo(1)  # it has the slot
            late = thing.async_(expires=60).echo(2)
            kept = thing.async_.echo(3)
            blocked = thing.async_(after=kept, expires=50).echo(4)
            assert store.next_moment() == pytest.approx(50), "the clock wakes up for it"
            time.move(50)
            assert lapse() == 1
            assert ended(blocked) == EXPIRED
            assert store.next_moment() == pytest.approx(10)
            time.move(9.9)
            assert lapse() == 0
            time.move(0.1)
            assert lapse() == 1
        assert ended(late) == EXPIRED
        assert ended(kept) == ("created", None)

    def test_one_due_later_counts_its_seconds_from_then_and_the_clock_cancels_it_instead_of_promoting_it(self, thing):
        with freeze_time() as time:
            job_id = thing.async_(delay=100, expires=60).echo(1)
            assert Job.objects.get(pk=job_id).expires_at == time() + timedelta(seconds=160)
            time.move(159)
            assert lapse() == 0
            time.move(1)
            assert (lapse(), promote()) == (1, 0)
        assert ended(job_id) == EXPIRED

    def test_a_held_one_is_cancelled_too(self, thing):
        pause_job_type("sample.thing", "echo")
        with freeze_time() as time:
            job_id = thing.async_(expires=60).echo(1)
            time.move(60)
            assert lapse() == 1
        assert ended(job_id) == EXPIRED
        resume_job_type("sample.thing", "echo")
        assert ended(job_id) == EXPIRED

    def test_one_that_was_handed_over_does_not_start_however_late_the_clock_is_and_frees_its_slot(self, thing, sent):
        with freeze_time() as time:
            late = thing.async_(expires=60).echo(1)
            behind = thing.async_.echo(2)
            time.move(60)
            run(sent, late)
            assert ended(late) == EXPIRED
            assert not Run.objects.filter(job_id=late).exists()
            assert [message.id for message in sent] == [late, behind]

    def test_one_that_runs_may_finish(self, thing, sent):
        with freeze_time() as time:
            job_id = thing.async_(expires=60).echo(1)
            assert store.start(job_id, 1, store.Seat.here(WORKER))
            time.move(61)
            assert lapse() == 0
            assert not store.turn_away(job_id, 1)
            assert store.succeed(job_id, 1, {}, None)

    def test_no_retry_starts_after_it_either_and_the_failures_are_kept(self, thing, sent, monkeypatch):
        def fail(self):
            raise ValueError("no")

        monkeypatch.setattr(Thing, "echo", job(retry=Retry.every(40, max_retries=5), expires=60)(fail))
        with freeze_time() as time:
            job_id = thing.async_.echo()
            run(sent, job_id)
            time.move(40)
            promote()
            run(sent, job_id)
            time.move(40)
            assert (lapse(), promote()) == (1, 0)
        job_row = Job.objects.get(pk=job_id)
        assert (job_row.status, job_row.reason, job_row.retries) == (*EXPIRED, 2)
        assert "no" in job_row.last_error
        assert job_row.failed_attempts.count() == 2

    @pytest.mark.parametrize(("seconds", "follows"), [(59, True), (60, False)])
    def test_one_in_line_is_not_started_by_the_job_before_it(self, register, sent, seconds, follows):
        worker = register()
        thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
        with freeze_time() as time:
            first = thing.async_.echo(1)
            late = thing.async_(expires=60).echo(2)
            holder = store.start(first, 1, store.Seat.here(worker)).holder
            time.move(seconds)
            store.beat(worker, name="w", pid=1, pool="default", capacity=1)
            _, following = store.succeed_and_follow(first, 1, {}, None, by=holder)
        assert (following is not None) == follows
        assert ended(late)[0] == ("running" if follows else "created")

    def test_before_its_time_nobody_turns_it_away(self, thing, sent):
        with freeze_time() as time:
            job_id = thing.async_(expires=60).echo(1)
            time.move(59)
            assert not store.turn_away(job_id, 1)
            assert run(sent, job_id).status == "success"


class TestTheClaimsOwnStart:
    def test_the_job_that_a_process_keeps_does_not_start_late(self, thing, sent):
        keeper = store.Keeper("default", store.Seat(WORKER, 1))
        thing.tenant.jobs_queue.num_slots = 0
        thing.tenant.jobs_queue.save()
        with freeze_time() as time:
            late = thing.async_(expires=60).echo(1)
            thing.tenant.jobs_queue.num_slots = 1
            thing.tenant.jobs_queue.save()
            time.move(60)
            done = store.claim(keeper=keeper)
            assert [one.id for one in done] == [late]
            assert done.started is None
            assert store.turn_away(late, 1)


class TestRaces:
    def test_a_start_that_commits_first_runs_and_one_that_comes_later_finds_it_cancelled(self, thing, race, sent):
        job_id = thing.async_(expires=60).echo(1)
        race.begin("UPDATE jobs SET expires_at = now() - interval '1 s' WHERE id = %s", job_id)
        started = race.run(store.start, job_id, 1, store.Seat.here(WORKER)).result(30)
        assert (started is None) == race.lost
        assert store.turn_away(job_id, 1) == race.lost

    def test_the_clock_passes_over_one_that_somebody_has_locked(self, thing, elsewhere, sent):
        thing.async_.echo(1)
        job_id = thing.async_(expires=60).echo(2)
        later = timezone.now() + timedelta(minutes=2)
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job_id)
            assert elsewhere(call_at, later, store.lapse).result(30) == []
        assert [one.id for one in call_at(later, store.lapse)] == [job_id]

    def test_one_that_expires_while_a_call_joins_it_is_not_prolonged(self, thing, race, sent):
        thing.async_.echo(1)
        old = thing.async_(expires=60).echo(2)
        race.begin("UPDATE jobs SET expires_at = now() - interval '1 s' WHERE id = %s", old)
        joined = race.run(thing.async_(expires=90).echo, 2).result(30)
        assert (joined == old) == (not race.lost)

    def test_an_identical_call_while_it_lapses_is_a_new_job(self, thing, race, sent):
        thing.async_.echo(1)
        old = thing.async_(expires=60).echo(2)
        race.begin(
            "UPDATE jobs SET status = 'cancelled', ready_at = NULL, end_time = now(), reason = 'expired' WHERE id = %s",
            old,
        )
        joined = race.run(thing.async_(expires=90).echo, 2).result(30)
        assert (joined == old) == (not race.lost)
        assert Job.objects.filter(end_time=None, pk=joined).exists()


class TestIdenticalCalls:
    def test_a_call_that_joins_lets_the_job_live_as_long_as_it_wants_itself(self, thing, sent):
        thing.async_.echo(1)
        with freeze_time() as time:
            job_id = thing.async_(expires=60).echo(2)
            time.move(30)
            assert thing.async_(expires=60).echo(2) == job_id
            assert Job.objects.get(pk=job_id).expires_at == time() + timedelta(seconds=60)
            assert thing.async_(expires=5).echo(2) == job_id
            assert Job.objects.get(pk=job_id).expires_at == time() + timedelta(seconds=60)
            assert thing.async_.echo(2) == job_id
            assert Job.objects.get(pk=job_id).expires_at is None
            assert thing.async_(expires=5).echo(2) == job_id
            assert Job.objects.get(pk=job_id).expires_at is None

    def test_one_that_has_expired_and_that_the_clock_has_not_met_is_no_answer(self, thing, sent):
        thing.async_.echo(1)
        with freeze_time() as time:
            old = thing.async_(expires=60).echo(2)
            time.move(60)
            new = thing.async_(expires=60).echo(2)
            assert new != old
            assert lapse() == 1
        assert (ended(old), ended(new)) == (EXPIRED, ("created", None))


class TestWhatIsSaid:
    def test_explain_says_until_when_it_may_start_and_then_why_it_did_not(self, thing, sent):
        thing.async_.echo(1)
        with freeze_time(timezone.now().replace(microsecond=0)) as time:
            job_id = thing.async_(expires=60).echo(2)
            until = f"{time() + timedelta(seconds=60):%Y-%m-%d %H:%M:%S} UTC"
            waits = explain(job_id, tenant_id=thing.tenant_id).sentence
            assert waits.endswith(f" It is cancelled if it has not started by {until}.")
            time.move(60)
            lapse()
            why = explain(job_id, tenant_id=EVERY_TENANT)
        assert why.reason == "expired"
        assert f"since it had expired: nothing starts it after {until}; it can be revived." in why.sentence

    def test_the_log_has_the_reason(self, thing, sent, caplog):
        caplog.set_level("INFO", "jobs")
        thing.async_.echo(1)
        with freeze_time() as time:
            job_id = thing.async_(expires=60).echo(2)
            time.move(60)
            lapse()
        assert f"lapse job={job_id} attempt=0 tenant={thing.tenant_id} reason=expired" in caplog.messages

    def test_who_revives_it_wants_it_now(self, thing, sent):
        with freeze_time() as time:
            job_id = thing.async_(delay=5, expires=1).echo(1)
            time.move(6)
            lapse()
            revive(job_id, tenant_id=thing.tenant_id)
            time.move(100)
            assert lapse() == 0
            assert run(sent, job_id).status == "success"


class TestWhatIsRefused:
    @pytest.mark.parametrize("expires", [0, -1, float("nan"), True, timedelta(0)])
    def test_no_length(self, thing, expires):
        with pytest.raises(InvalidRequest, match=r"^expires: must be a number of seconds from 0.1 to"):
            thing.async_(expires=expires).echo(1)

    def test_a_moment_that_is_past_or_before_it_is_due(self, thing):
        now = timezone.now()
        for options in ({"expires": now}, {"expires": now + timedelta(seconds=50), "delay": 60}):
            with pytest.raises(InvalidRequest, match=r"^expires: must be later than now"):
                thing.async_(**options).echo(1)
        with pytest.raises(InvalidRequest, match="expires: needs a time zone"):
            thing.async_(expires=now.replace(tzinfo=None)).echo(1)
        assert not Job.objects.exists()


def test_the_option_of_the_method_holds_for_each_call_and_a_call_may_say_otherwise(thing, monkeypatch):
    monkeypatch.setattr(Thing, "echo", job(expires=60)(lambda self, value: current_job().id))
    moment = timezone.now() + timedelta(hours=1)
    of_method, of_call = thing.async_.echo(1), thing.async_(expires=moment).echo(2)
    first = Job.objects.get(pk=of_method)
    assert first.expires_at == first.created_at + timedelta(seconds=60)
    assert Job.objects.get(pk=of_call).expires_at == moment


def test_a_dispatch_of_its_own_starts_what_stood_behind(thing, sent):
    """The clock's pass frees the head of the line; the lane is not forgotten."""
    with freeze_time() as time:
        late = [thing.async_(delay=1, expires=60).echo(n) for n in range(3)]
        time.move(61)
        assert lapse() == 3
        behind = thing.async_.echo(9)
        dispatch()
    assert [message.id for message in sent] == [behind]
    assert value("SELECT count(*) FROM jobs WHERE id = ANY(%s) AND reason = 'expired'", [late]) == 3
