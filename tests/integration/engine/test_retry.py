"""A failed attempt: tried again as its policy says, until it succeeds, or is dead."""

import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import Abandon, Cancelled, Retry, RetryLater, cancel, current_job, store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.upkeep import recover
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, Queue
from jobs.store import EVERY_TENANT, Failure
from tests.attempts import WORKER, Alarm, run, run_when_due
from tests.clock import call_at
from tests.factories import QueueFactory
from tests.sample.models import Run, Thing

pytestmark = pytest.mark.django_db(transaction=True)


def fail(self) -> None:
    raise ValueError(f"no {current_job().attempt}")


def raising(*errors: BaseException | None):
    """A body that ends in these ways, attempt by attempt; None is a success."""

    def body(self) -> str:
        error = errors[current_job().attempt - 1]
        if error is not None:
            raise error
        return "done"

    return body


def series(sent, job_id: int) -> tuple[Job, list[float]]:
    """Run a job until it is final; the seconds that each retry waited for."""
    job, delays = run(sent, job_id), []
    while job.status == Status.SCHEDULED:
        ended = FailedAttempt.objects.get(job=job, attempt=job.attempt).end_time
        delays.append((job.due_at - ended).total_seconds())
        job = run_when_due(sent, job_id)
    return job, delays


def outcome(job: Job) -> tuple[str, int, int]:
    return job.status, job.attempt, job.retries


class TestPolicies:
    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            (Retry.every(300, max_retries=2), [300, 300]),
            (Retry.exponential(max_retries=3, base=10), [10, 20, 40]),
            (Retry.exponential(max_retries=3, base=10, cap=15), [10, 15, 15]),
            (Retry.polynomial(max_retries=3), [30, 31, 62]),
            (Retry.custom(lambda error, n: 7 * (n + 1), max_retries=2), [7, 14]),
            (Retry.custom(lambda error, n: "exponential", max_retries=2, base=3), [3, 6]),
            (Retry.custom(lambda error, n: n < 1 and 5, max_retries=9), [5]),
        ],
        ids=["every", "exponential", "capped", "polynomial", "custom", "custom exponential", "custom stop"],
    )
    def test_each_retry_waits_as_the_policy_says_and_then_the_job_is_dead(self, policy, expected, thing, body, sent):
        body(fail, retry=policy)
        ended, delays = series(sent, thing.async_.echo())
        assert delays == expected
        assert outcome(ended) == ("dead", len(expected) + 1, len(expected))
        assert ended.died_at == ended.end_time
        assert ended.last_error == f"ValueError: no {ended.attempt}"

    def test_the_callable_is_given_the_error_and_the_number_of_retries(self, thing, body, sent):
        seen = []
        body(fail, retry=Retry.custom(lambda error, n: seen.append((str(error), n)) or 1, max_retries=2))
        series(sent, thing.async_.echo())
        assert seen == [("no 1", 0), ("no 2", 1)]

    def test_jitter_shortens_the_delay_by_at_most_its_part(self, thing, body, sent):
        body(fail, retry=Retry.every(100, max_retries=20, jitter=0.5))
        _, delays = series(sent, thing.async_.echo())
        assert all(50 <= delay <= 100 for delay in delays)
        assert len(set(delays)) > 1

    def test_a_policy_that_raises_ends_the_job_with_that_error_and_tells_the_first(self, thing, body, sent):
        body(fail, retry=Retry.custom(lambda error, n: {}[n], max_retries=3))
        ended = run(sent, thing.async_.echo())
        assert outcome(ended) == ("dead", 1, 0)
        assert ended.last_error == "KeyError: 0"
        assert "after ValueError: no 1" in FailedAttempt.objects.get().traceback

    def test_so_does_one_that_answers_nonsense(self, thing, body, sent):
        body(fail, retry=Retry.custom(lambda error, n: "soon", max_retries=3))
        ended = run(sent, thing.async_.echo())
        assert ended.status == "dead"
        assert ended.last_error.startswith("ValueError: a retry policy must return")

    def test_without_a_policy_a_failure_is_an_error(self, thing, body, sent):
        body(fail)
        assert outcome(run(sent, thing.async_.echo())) == ("error", 1, 0)

    def test_a_retry_that_succeeds_ends_well_and_the_failure_is_kept(self, thing, body, sent):
        body(raising(ValueError("first"), None), retry=Retry.every(1, max_retries=1))
        ended, _ = series(sent, thing.async_.echo())
        assert (*outcome(ended), ended.last_error) == ("success", 2, 1, "")
        assert FailedAttempt.objects.get(job=ended).error == "first"


class TestWaiting:
    def test_a_retry_starts_at_its_moment_and_not_before(self, thing, body, sent):
        body(fail, retry=Retry.every(300, max_retries=1))
        waiting = run(sent, thing.async_.echo())
        assert call_at(waiting.due_at - timedelta(microseconds=1), store.promote) == []
        assert [promoted.id for promoted in call_at(waiting.due_at, store.promote)] == [waiting.pk]

    def test_it_holds_no_slot_meanwhile(self, thing, body, sent):
        body(fail, retry=Retry.every(300, max_retries=1))
        first, other = thing.async_.echo(), thing.async_.again()
        run(sent, first)
        assert [message.id for message in sent] == [first, other]

    def test_the_message_of_a_spent_attempt_starts_nothing(self, thing, body, sent):
        body(fail, retry=Retry.every(300, max_retries=1))
        job_id = thing.async_.echo()
        waiting = run(sent, job_id)
        assert outcome(run(sent, job_id)) == outcome(waiting)
        assert FailedAttempt.objects.count() == 1


class TestQueues:
    def test_retries_wait_in_the_queue_that_the_policy_names(self, thing, body, sent):
        QueueFactory(name="retries")
        body(fail, retry=Retry.every(1, max_retries=2, queue="retries"))
        job_id = thing.async_.echo()
        assert Job.objects.get(pk=job_id).queue.name == "default"
        assert run(sent, job_id).queue.name == "retries"
        assert series_of_retries(sent, job_id).queue.name == "retries"

    def test_a_queue_that_is_not_there_keeps_no_job_from_its_retry(self, thing, body, sent):
        body(fail, retry=Retry.every(1, max_retries=1, queue="nowhere"))
        waiting = run(sent, thing.async_.echo())
        assert (waiting.status, waiting.queue.name) == ("scheduled", "default")

    def test_a_queue_gives_retries_to_methods_without_a_policy(self, thing, body, sent):
        Queue.objects.filter(name="default").update(default_max_retries=2, default_backoff=4)
        body(fail)
        ended, delays = series(sent, thing.async_.echo())
        assert (ended.status, delays) == ("dead", [4, 8])

    def test_after_the_same_delay_each_time_if_its_backoff_does_not_grow(self, thing, body, sent):
        Queue.objects.filter(name="default").update(default_max_retries=3, default_backoff=4, backoff_grows=False)
        body(fail)
        ended, delays = series(sent, thing.async_.echo())
        assert (ended.status, delays) == ("dead", [4, 4, 4])

    def test_the_methods_own_policy_goes_first(self, thing, body, sent):
        Queue.objects.filter(name="default").update(default_max_retries=9)
        body(fail, retry=Retry.every(5, max_retries=1))
        assert series(sent, thing.async_.echo())[1] == [5]

    def test_a_queue_that_allows_no_retry_makes_the_failed_dead(self, thing, body, sent):
        Queue.objects.filter(name="default").update(default_max_retries=0)
        body(fail)
        assert outcome(run(sent, thing.async_.echo())) == ("dead", 1, 0)


class TestTheCall:
    @pytest.mark.parametrize("allowed", [0, 1, 4])
    def test_it_says_how_many_retries_instead_of_the_policy(self, allowed, thing, body, sent):
        body(fail, retry=Retry.every(5, max_retries=2))
        ended, delays = series(sent, thing.async_(max_retries=allowed).echo())
        assert (ended.status, delays) == ("dead", [5] * allowed)

    def test_it_gives_retries_to_a_method_without_a_policy(self, thing, body, sent):
        Queue.objects.filter(name="default").update(default_max_retries=7, default_backoff=3)
        body(fail)
        ended, delays = series(sent, thing.async_(max_retries=2).echo())
        assert (ended.status, delays) == ("dead", [3, 6])


class TestVerdicts:
    def test_retry_later_spends_no_retry_leaves_no_failure_and_keeps_the_attempt_growing(self, thing, body, sent):
        body(raising(*[RetryLater(30)] * 4, None), retry=Retry.every(1, max_retries=0))
        job_id = thing.async_.echo()
        job = run(sent, job_id)
        for attempt in (1, 2, 3, 4):
            assert (outcome(job), job.last_error) == (("scheduled", attempt, 0), "")
            job = run_when_due(sent, job_id)
        assert outcome(job) == ("success", 5, 0)
        assert not FailedAttempt.objects.exists()

    def test_retry_later_says_when_and_keeps_the_stats(self, thing, body, sent):
        def later(self) -> None:
            current_job().stats["rows"] = 3
            raise RetryLater(300)

        body(later)
        job_id = thing.async_.echo()
        waiting = run(sent, job_id)
        assert waiting.stats == {"rows": 3}
        assert 300 <= (waiting.due_at - waiting.start_time).total_seconds() < 310

    def test_retry_later_between_failures_does_not_lengthen_the_series(self, thing, body, sent):
        body(raising(ValueError(), RetryLater(1), ValueError(), RetryLater(1)), retry=Retry.every(5, max_retries=1))
        job_id = thing.async_.echo()
        history = [outcome(run(sent, job_id))] + [outcome(run_when_due(sent, job_id)) for _ in range(2)]
        assert history == [("scheduled", 1, 1), ("scheduled", 2, 1), ("dead", 3, 1)]

    @pytest.mark.parametrize("retry", [None, Retry.every(5, max_retries=9)], ids=["without policy", "with policy"])
    def test_abandon_makes_it_dead_whatever_the_policy(self, retry, thing, body, sent):
        body(raising(Abandon("the account is closed")), retry=retry)
        ended = run(sent, thing.async_.echo())
        assert (*outcome(ended), ended.last_error) == ("dead", 1, 0, "Abandon: the account is closed")
        assert FailedAttempt.objects.get().error_class == "Abandon"


def in_task_group(*errors: BaseException):
    """A body that ends by these errors of two tasks, which run at once."""

    async def fail(error: BaseException) -> None:
        raise error

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            for error in errors:
                group.create_task(fail(error))

    return lambda self: asyncio.run(both())


class TestGroups:
    """What comes out of an `asyncio.TaskGroup` is an ExceptionGroup, of one error, too."""

    def test_its_errors_decide_if_all_say_the_same(self, thing, body, sent):
        body(in_task_group(RetryLater(30), RetryLater(300)))
        waiting = run(sent, thing.async_(dedup=False).echo())
        assert (*outcome(waiting), waiting.last_error) == ("scheduled", 1, 0, "")
        assert 300 <= (waiting.due_at - waiting.start_time).total_seconds() < 310
        body(in_task_group(Abandon("closed")), retry=Retry.every(5, max_retries=9))
        ended = run(sent, thing.async_(dedup=False).echo())
        assert (*outcome(ended), ended.last_error) == ("dead", 1, 0, "Abandon: closed")

        def stopped(self) -> None:
            cancel(current_job().id, tenant_id=EVERY_TENANT)
            raise ExceptionGroup("outer", [ExceptionGroup("inner", [Cancelled("stopped")])])

        body(stopped)
        assert run(sent, thing.async_(dedup=False).echo()).status == "cancelled"

    def test_otherwise_it_is_a_failure_that_is_told_and_grouped_by_its_first_error(self, thing, body, sent):
        last = []
        for errors in ([KeyError("x")], [KeyError("y"), RetryLater(3)], [ExceptionGroup("in", [KeyError("z")])]):
            body(in_task_group(*errors), retry=Retry.every(5, max_retries=0))
            last.append(run(sent, thing.async_(dedup=False).echo()))
        assert [(*outcome(one), one.last_error) for one in last] == [
            ("dead", 1, 0, f"KeyError: '{name}'") for name in "xyz"
        ]
        assert len({one.error_key for one in last}) == 1
        kept = FailedAttempt.objects.values_list("traceback", flat=True)
        assert all("ExceptionGroup: unhandled errors in a TaskGroup" in one for one in kept)


class TestAMethodThatIsNoLongerThere:
    @pytest.fixture
    def job_id(self, thing, monkeypatch, settings) -> int:
        settings.JOBS_UNKNOWN_PATIENCE = 0
        job_id = thing.async_.echo()
        monkeypatch.delattr(Thing, "echo")
        return job_id

    def test_its_job_is_an_error(self, job_id, sent):
        ended = run(sent, job_id)
        assert outcome(ended) == ("error", 1, 0)
        assert "'echo' is not a job" in ended.last_error

    def test_its_job_has_the_retries_of_its_queue_and_succeeds_when_it_is_back(self, job_id, sent, monkeypatch):
        Queue.objects.filter(name="default").update(default_max_retries=1)
        assert run(sent, job_id).status == "scheduled"
        monkeypatch.undo()
        assert run_when_due(sent, job_id).status == "success"


class TestTimeLimits:
    """Soft: the body is interrupted. Hard: its parent killed it, and tells. Both are failures for the policy."""

    def test_a_soft_one_is_tried_again_and_then_dead(self, thing, body, sent):
        body(raising(Alarm(), Alarm()), retry=Retry.every(5, max_retries=1))
        job_id = thing.async_(timeout=2.5).echo()
        waiting = run(sent, job_id)
        assert (*outcome(waiting), waiting.last_error) == ("scheduled", 1, 1, "TimeoutError: timed out after 2.5 s")
        assert outcome(run_when_due(sent, job_id)) == ("dead", 2, 1)

    def test_a_hard_one_is_tried_again_and_then_dead(self, thing, body, sent):
        body(fail, retry=Retry.every(5, max_retries=1))
        job_id = thing.async_(timeout=2.5).echo()
        store.start(job_id, 1, store.Seat.here(WORKER))
        assert recover.time_out(job_id, 1)
        waiting = Job.objects.get(pk=job_id)
        assert outcome(waiting) == ("scheduled", 1, 1)
        assert waiting.last_error == "TimeoutError: timed out after 2.5 s and was killed"
        call_at(waiting.due_at, store.promote)
        store.claim()
        store.start(job_id, 2, store.Seat.here(WORKER))
        assert recover.time_out(job_id, 2)
        assert outcome(Job.objects.get(pk=job_id)) == ("dead", 2, 1)
        assert Job.objects.get(pk=job_id).crashes == 0


class TestKeptAttempts:
    def test_every_failed_attempt_of_a_series_and_of_the_next_is_kept(self, thing, body, sent):
        body(fail, retry=Retry.every(5, max_retries=1))
        job_id = thing.async_.echo()
        series(sent, job_id)
        assert revive(job_id, tenant_id=EVERY_TENANT)
        ended, _ = series(sent, job_id)
        assert outcome(ended) == ("dead", 4, 1)
        kept = list(FailedAttempt.objects.filter(job=ended).order_by("attempt"))
        assert [(a.attempt, a.error_class, a.error) for a in kept] == [
            (n, "ValueError", f"no {n}") for n in (1, 2, 3, 4)
        ]
        assert all("in fail\n" in attempt.traceback for attempt in kept)
        assert {attempt.worker for attempt in kept} == {WORKER}
        times = [moment for a in kept for moment in (a.queued_at, a.start_time, a.end_time)]
        assert times == sorted(times)
        assert len(set(times)) == 12

    def test_a_revived_job_begins_a_series_of_its_own(self, thing, body, sent):
        body(raising(Abandon("no"), None))
        job_id = thing.async_.echo()
        run(sent, job_id)
        assert revive(job_id, tenant_id=EVERY_TENANT)
        queued = Job.objects.get(pk=job_id)
        assert (queued.status, queued.retries, queued.crashes, queued.died_at) == ("queued", 0, 0, None)
        assert outcome(run(sent, job_id)) == ("success", 2, 0)


class TestCrashes:
    def crash(self, job_id: int, attempt: int) -> tuple[str, int, int, int]:
        """In this attempt, once its moment has come."""
        call_at(timezone.now() + timedelta(hours=1), store.promote)
        dispatch()
        assert store.start(job_id, attempt, store.Seat.here(WORKER))
        recover.take_back(job_id, attempt, Failure("ProcessDied", f"signal 9 ({attempt})"))
        job = Job.objects.get(pk=job_id)
        return job.status, job.attempt, job.crashes, job.retries

    def test_a_crash_is_tried_again_soon_and_spends_no_retry(self, thing, body):
        body(fail, retry=Retry.every(300, max_retries=1))
        assert self.crash(thing.async_.echo(), 1) == ("scheduled", 1, 1, 0)

    def test_only_crashes_in_a_row_count(self, thing, body, sent):
        body(raising(RetryLater(1), ValueError()), retry=Retry.every(1, max_retries=9))
        job_id = thing.async_.echo()
        assert self.crash(job_id, 1)[2] == 1
        assert run_when_due(sent, job_id).crashes == 0
        assert self.crash(job_id, 3)[2] == 1
        assert run_when_due(sent, job_id).crashes == 0

    def test_after_the_crash_limit_the_job_is_dead_with_every_crash_kept(self, thing, body, settings):
        settings.JOBS_MAX_CRASHES = 3
        body(fail, retry=Retry.every(300, max_retries=9))
        job_id = thing.async_.echo()
        assert [self.crash(job_id, n) for n in (1, 2, 3)] == [
            ("scheduled", 1, 1, 0),
            ("scheduled", 2, 2, 0),
            ("dead", 3, 3, 0),
        ]
        assert Job.objects.get(pk=job_id).last_error == "ProcessDied: signal 9 (3)"
        assert FailedAttempt.objects.filter(error_class="ProcessDied", worker=WORKER).count() == 3

    def test_a_revived_one_may_crash_as_often_again(self, thing, settings):
        settings.JOBS_MAX_CRASHES = 2
        job_id = thing.async_.echo()
        self.crash(job_id, 1), self.crash(job_id, 2)
        assert revive(job_id, tenant_id=EVERY_TENANT)
        assert self.crash(job_id, 3) == ("scheduled", 3, 1, 0)
        assert self.crash(job_id, 4) == ("dead", 4, 2, 0)
        assert not Run.objects.exists()


def series_of_retries(sent, job_id: int) -> Job:
    """Run the retries of a job that has failed once, until it is final."""
    job = run_when_due(sent, job_id)
    while job.status == Status.SCHEDULED:
        job = run_when_due(sent, job_id)
    return job
