"""Jobs that wait for others: released when those have ended as they should, else cancelled."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import MISSING, ResultGone, batch, chain, current_job, group, job, queries, store
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain
from jobs.engine.door.unblock import unblock, unblock_if_news
from jobs.engine.upkeep.prune import prune
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import Job, JobEdge, JobEnd
from jobs.reading.explain.explanation import Gate, explain
from jobs.store import EVERY_TENANT, Failure
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job, status
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(days=3)


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def submit(thing):
    """Submit one more job, with these options."""

    def submit(**options) -> int:
        return thing.async_(dedup=False, **options).echo()

    return submit


def end(job_id: int, how: str = "success") -> None:
    """It ran, and ended so."""
    if how == "cancelled":
        assert store.cancel([job_id], tenant_id=EVERY_TENANT)
        return
    row = make_job(TenantFactory(), Status.RUNNING)  # for a holder's columns
    holder = {name: getattr(row, name) for name in ("ticket", "worker", "worker_pid", "queued_at", "start_time")}
    Job.objects.filter(pk=job_id).update(status="running", slot=1, ready_at=None, attempt=1, **holder)
    if how == "success":
        assert store.succeed(job_id, 1, {}, None)
    else:
        assert store.fail(job_id, 1, Failure("ValueError", "no"), dead=how == "dead")


def test_a_job_waits_until_those_before_it_have_ended_well(submit):
    first, second = submit(), submit()
    last = submit(after=[first, second])
    unblock()
    end(first)
    unblock()
    assert status(last) == "blocked"
    end(second)
    unblock()
    assert status(last) == "created"
    assert not JobEdge.objects.exists()
    assert not JobEnd.objects.exists()


def test_jobs_that_have_ended_already_hold_nothing_up(submit):
    first = submit()
    end(first)
    assert not JobEnd.objects.exists(), "nobody waits for it"
    last = submit(after=first)
    unblock()
    assert status(last) == "created"


@pytest.mark.parametrize("how", ["error", "dead", "cancelled"])
def test_a_job_that_ends_badly_takes_those_after_it_along_with_the_reason(submit, how):
    first = submit()
    second = submit(after=first)
    third = submit(after=second)
    unblock()
    end(first, how)
    unblock()
    assert [status(second), status(third)] == ["cancelled", "cancelled"]
    reasons = [Job.objects.get(pk=one).reason for one in (second, third)]
    assert reasons == [
        f"job {first}, which it waited for, ended as {how}",
        f"job {second}, which it waited for, ended as cancelled",
    ]
    assert not JobEdge.objects.exists()


def test_a_job_cancelled_in_the_turn_that_marks_it_takes_its_followers_along(submit):
    first = submit()
    end(first, "error")
    second = submit(after=first)
    third = submit(after=second)
    unblock()
    assert [status(second), status(third)] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("how", ["success", "error", "dead", "cancelled"])
def test_after_end_needs_no_good_end(submit, how):
    first = submit()
    last = submit(after_end=first)
    unblock()
    end(first, how)
    unblock()
    assert status(last) == "created"


def test_a_revival_within_the_patience_comes_in_time(submit):
    first = submit()
    last = submit(after=first, after_patience=3600)
    unblock()
    end(first, "error")
    unblock()
    assert status(last) == "blocked"
    assert revive(first, tenant_id=EVERY_TENANT)
    call_at(LATER, store.read_ends)
    assert status(last) == "blocked", "it runs again"
    end(first)
    unblock()
    assert status(last) == "created"


def test_the_patience_ends(submit):
    first = submit()
    last = submit(after=first, after_patience=timedelta(hours=1))
    unblock()
    end(first, "error")
    unblock()
    moment = store.next_moment()
    assert moment == pytest.approx(3600, abs=60), "the clock wakes up for it"
    call_at(timezone.now() + timedelta(minutes=59), store.read_ends)
    assert status(last) == "blocked"
    call_at(timezone.now() + timedelta(minutes=61), store.read_ends)
    assert status(last) == "cancelled"


def test_a_failed_job_that_was_archived_or_is_gone_can_still_be_waited_for(submit):
    archived, gone = submit(), submit()
    last, later = submit(after=archived, after_patience=7 * 86_400), submit(after=gone, after_patience=3600)
    unblock()
    end(archived, "error")
    end(gone, "dead")
    unblock()
    beginning = timezone.now() - timedelta(days=1)
    assert call_at(LATER, store.archive, 0, beginning, LATER) == 1
    assert call_at(LATER, store.expire_dead, 0)
    assert revive(archived, tenant_id=EVERY_TENANT), "from the history"
    end(archived)
    call_at(LATER, store.read_ends)
    assert [status(last), status(later)] == ["created", "cancelled"]
    assert Job.objects.get(pk=later).reason.endswith("is gone")


def test_a_job_in_the_history_has_ended_for_those_who_come_later(submit):
    first = submit()
    end(first)
    assert call_at(LATER, store.archive, 0, timezone.now() - timedelta(days=1), LATER) == 1
    last = submit(after=first)
    unblock()
    assert status(last) == "created"


def test_a_job_that_waits_can_be_cancelled_and_what_waits_for_it_follows(submit, thing):
    first = submit()
    second = submit(after=first)
    third = submit(after=second)
    unblock()
    assert cancel(second, tenant_id=thing.tenant.pk) == "cancelled"
    unblock()
    assert status(third) == "cancelled"
    end(first)
    unblock()
    assert status(second) == "cancelled"
    assert not JobEdge.objects.exists()


def test_one_revived_by_hand_waits_for_nobody(submit):
    first = submit()
    second = submit(after=first)
    end(first, "error")
    unblock()
    assert status(second) == "cancelled"
    assert revive(second, tenant_id=EVERY_TENANT)
    assert status(second) == "created"


def test_blocked_jobs_count_as_waiting_ones(submit, thing):
    first = submit()
    submit(after=first)
    assert store.recount_waiting(all_tenants=True) == []
    assert store.backlog(thing.tenant.pk)[0] == 2
    unblock()
    end(first, "cancelled")
    unblock()
    assert store.backlog(thing.tenant.pk)[0] == 0
    assert store.recount_waiting(all_tenants=True) == []


def test_a_stranger_s_job_is_as_one_that_does_not_exist(submit):
    theirs = make_job(TenantFactory())
    messages = set()
    for where in ("after", "after_end"):
        for job_id in (theirs.pk, theirs.pk + 1000):
            with pytest.raises(InvalidRequest) as refused:
                submit(**{where: [submit(), job_id]})
            assert refused.value.field == where
            messages.add(refused.value.message.replace(str(job_id), "N"))
    assert messages == {"there is no job N"}
    assert not Job.objects.filter(status="blocked").exists()


NONSENSE = (
    ({"after": "17"}, "after"),
    ({"after": [True]}, "after"),
    ({"after": 0}, "after"),
    ({"after": 2**63}, "after"),
    ({"after_end": [1.5]}, "after_end"),
    ({"after": range(1, 1002)}, "after"),
    ({"after": 1, "delay": 5}, "after"),
    ({"after_patience": 5}, "after_patience"),
    ({"after": 1, "after_patience": -1}, "after_patience"),
)


def test_nonsense_is_refused_by_its_name(submit):
    for options, field in NONSENSE:
        with pytest.raises(InvalidRequest) as refused:
            submit(**options)
        assert refused.value.field == field, options
    assert not Job.objects.exists()


def test_identical_jobs_wait_for_the_same(thing, submit):
    first, second = submit(), submit()
    one = thing.async_(after=first).echo()
    assert thing.async_(after=[first]).echo() == one
    assert thing.async_(after=second).echo() != one
    assert thing.async_.echo() != one
    whatever = thing.async_(after_end=[second, first]).echo()
    assert thing.async_(after_end=[first, second]).echo() == whatever != thing.async_(after=[first, second]).echo()
    assert JobEdge.objects.count() == 6


def test_many_predecessors_and_many_followers_take_several_turns(thing, submit, monkeypatch):
    monkeypatch.setattr("jobs.store.awaiting.BATCH", 7)  # many turns
    firsts = thing.async_(dedup=False).echo.many([{}] * 50)
    last = submit(after=firsts)
    fan = thing.async_(dedup=False, after=last).echo.many([{}] * 50)
    unblock()
    for one in firsts:
        end(one)
    unblock()
    assert status(last) == "created"
    end(last)
    unblock()
    assert set(Job.objects.filter(pk__in=fan).values_list("status", flat=True)) == {"created"}
    assert not JobEnd.objects.exists()


def test_a_chain_runs_in_its_order_and_each_step_gets_the_results_of_the_one_before(thing, monkeypatch):
    ran = []

    @job(dedup=False)
    def echo(self, value=None):
        ran.append((value, list(current_job().results().values())))
        return value

    monkeypatch.setattr(Thing, "echo", echo)
    of = thing.async_.echo.request
    ids = chain(of("a"), group(of("b"), of("c")), of("d"))
    drain()
    assert ran == [("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"])]
    assert [status(one) for one in ids] == ["success"] * 4
    with batch("nightly", on_success=of("f")) as nightly:
        nightly.add([of("d"), of("e")])
    drain()
    assert ran[-1] == ("f", ["d", "e"])


def test_a_chain_with_a_refused_step_stores_nothing(thing):
    of = thing.async_.echo.request
    with pytest.raises(InvalidRequest):
        chain(of("a"), thing.async_(queue="nowhere").echo.request())
    assert not Job.objects.exists()
    assert chain() == []


def test_a_result_that_is_gone_is_told(thing, monkeypatch):
    seen = []

    @job(dedup=False)
    def echo(self, value=None):
        if value == "fails":
            raise ValueError
        if value == "last":
            seen.append(current_job().results(gone=MISSING))
            current_job().results()

    monkeypatch.setattr(Thing, "echo", echo)
    failed, kept = thing.async_.echo("fails"), thing.async_.echo()
    job_id = thing.async_(after_end=[failed, kept]).echo("last")
    last = drain(raising=False)[-1]
    assert seen == [{failed: MISSING, kept: None}]
    assert isinstance(last.error, ResultGone)
    assert last.error.ids == [failed]
    call_at(LATER, store.archive, 0, timezone.now() - timedelta(days=1), LATER)
    assert revive(job_id, tenant_id=thing.tenant.pk)
    assert drain(raising=False)[-1].error.ids == [failed], "also when it comes out of the history"


def test_a_job_that_waits_for_others_is_explained(submit, thing):
    first, second = submit(), submit()
    last = submit(after=[first, second], after_patience=3600)
    unblock()
    end(first, "error")
    unblock()
    why = explain(last, tenant_id=thing.tenant.pk)
    assert (why.gate, why.used) == (Gate.BLOCKED, 2)
    assert why.sentence.startswith(f"Waits for 2 jobs: {first} (error; it may be revived until ")
    assert why.sentence.endswith(f"{second} (created).")
    assert why.opens_at is not None
    assert queries.job(thing.tenant.pk, last).status == "blocked"


def test_the_edges_of_jobs_that_wait_no_longer_are_forgotten(submit):
    first = submit()
    waits, went = submit(after=first), submit(after=first)
    assert store.cancel([went], tenant_id=EVERY_TENANT)
    prune()
    assert JobEdge.objects.get().follower_id == waits


def test_one_cancelled_during_its_patience_takes_no_reader_s_time_when_that_is_over(submit, monkeypatch):
    monkeypatch.setattr(store.awaiting, "BATCH", 1)
    first, second = submit(), submit()
    went, last = submit(after=first, after_patience=60), submit(after=second, after_patience=61)
    unblock()
    for one in (first, second):
        end(one, "error")
    unblock()
    assert cancel(went, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    for _ in range(2):
        call_at(LATER, store.read_ends)
    assert status(last) == "cancelled"
    assert not JobEdge.objects.exists()


def test_the_clock_makes_up_for_a_reader_that_died(submit):
    first = submit()
    last = submit(after=first)
    end(first)
    unblock_if_news()
    assert status(last) == "created"
