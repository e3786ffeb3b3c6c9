"""Jobs that fail in a drain, jobs that wait for their moment, and `run()` of one job."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection

from jobs import Abandon, Retry, RetryLater, WaitFor, current_job, events
from jobs.contrib.testing import drain, hand_back_next, run
from jobs.models import Job
from tests.factories import status
from tests.sample.models import Run

pytestmark = pytest.mark.usefixtures("database")


class TestFailures:
    def test_the_error_of_a_job_is_raised_after_all_have_run(self, thing):
        thing.async_.refuse("first")
        thing.async_.refuse("second")
        good = thing.async_.echo()
        with pytest.raises(ValueError, match="first") as caught:
            drain()
        assert "2 of 3 attempts ended so" in caught.value.__notes__[0]
        assert status(good) == "success"

    def test_or_it_is_only_recorded(self, thing):
        job_id = thing.async_.refuse("no")
        (attempt,) = drain(raising=False)
        assert attempt.failed
        assert (attempt.status, str(attempt.error)) == ("error", "no")
        assert Job.objects.get(pk=job_id).last_error == "ValueError: no"

    def test_an_error_that_is_tried_again_is_not_raised(self, thing):
        job_id = thing.async_.fail_first()
        assert [a.status for a in drain()] == ["scheduled"]
        assert status(job_id) == "scheduled"

    def test_later_runs_the_retries_too(self, thing):
        thing.async_.fail_first(times=2)
        assert [(a.number, a.status) for a in drain(later=True)] == [(1, "scheduled"), (2, "scheduled"), (3, "success")]

    def test_the_last_retry_buries_the_job(self, thing):
        job_id = thing.async_(max_retries=1).fail_first(times=5)
        with pytest.raises(ValueError, match="not in attempt 2"):
            drain(later=True)
        assert status(job_id) == "dead"

    def test_a_job_that_is_given_up_is_raised(self, thing, body):
        def gives_up(self):
            raise Abandon("never")

        body(gives_up, retry=Retry.every(1, max_retries=3))
        thing.async_.echo()
        with pytest.raises(Abandon):
            drain()

    def test_an_error_of_the_database_undoes_the_body_and_nothing_else(self, thing, body):
        def breaks(self):
            Run.objects.create(job_id=1, attempt=1, pid=1)
            Run.objects.create(id=Run.objects.get(job_id=1).pk, job_id=2, attempt=1, pid=1)

        body(breaks)
        job_id = thing.async_.echo()
        with pytest.raises(IntegrityError):
            drain()
        assert status(job_id) == "error"
        assert Run.objects.filter(job_id=1).exists() is not connection.in_atomic_block

    def test_rows_that_a_body_wrote_before_its_own_error_stay(self, thing):
        thing.async_.refuse()
        drain(raising=False)
        assert Run.objects.count() == 1


class TestLater:
    def test_a_delayed_job_waits(self, thing):
        thing.async_(delay=60).echo()
        assert drain() == []

    def test_later_it_runs_without_waiting(self, thing):
        thing.async_(delay=86400).echo()
        assert len(drain(later=True)) == 1

    def test_snoozes_go_on_until_the_body_is_content(self, thing, body):
        def snoozes(self):
            if current_job().attempt < 4:
                raise RetryLater(timedelta(hours=1).total_seconds())

        body(snoozes)
        thing.async_.echo()
        assert len(drain(later=True)) == 4

    def test_a_snooze_without_end_is_an_error(self, thing, body):
        def snoozes(self):
            raise RetryLater(60)

        body(snoozes)
        thing.async_.echo()
        with pytest.raises(AssertionError, match="did not drain"):
            drain(later=True, most=10)


class TestEvents:
    def test_a_run_needs_an_event_that_has_come(self, thing, body):
        def waits(self):
            if current_job().event is None:
                raise WaitFor("approved", seconds=60)
            return current_job().event.payload

        body(waits)
        with pytest.raises(AssertionError, match="has not ended: Waits for the event approved until"):
            run(thing.async_.echo)
        events.tell(thing.tenant, "approved", 7)
        assert run(thing.async_.echo) == 7


class TestHandedBack:
    @pytest.fixture
    def units(self, body) -> list[tuple[int, int]]:
        done = []

        def works(self):
            run = current_job()
            for unit in range(run.cursor or 0, 4):
                done.append((run.attempt, unit))
                run.checkpoint(unit + 1)
            return len(done)

        body(works)
        return done

    def test_the_next_attempt_goes_on_from_the_checkpoint_of_that_number(self, thing, units):
        with hand_back_next(thing.async_.echo, at=3):
            assert run(thing.async_.echo) == 4
        assert units == [(1, 0), (1, 1), (1, 2), (2, 3)]
        assert Job.objects.get().handed_back == 1

    def test_a_test_that_never_comes_so_far_is_told(self, thing, units):
        with pytest.raises(AssertionError, match="should have made 5 checkpoints; it made 4"):  # noqa: SIM117
            with hand_back_next(thing.async_.echo, at=5):
                run(thing.async_.echo)


class TestRun:
    def test_a_run_returns_the_result_as_json_has_it(self, thing, body):
        body(lambda self, value: (value, {"n": 1}))
        assert run(thing.async_.echo, (1, 2)) == [[1, 2], {"n": 1}]

    def test_a_run_raises_the_error_of_the_job_even_if_there_is_a_retry(self, thing):
        with pytest.raises(ValueError, match="not in attempt 1"):
            run(thing.async_.fail_first)

    def test_options_count(self, thing, body):
        body(lambda self: current_job().timeout)
        assert run(thing.async_(timeout=7).echo) == 7

    def test_a_job_that_cannot_run_tells_why(self, thing):
        thing.tenant.jobs_queue.num_slots = 0
        thing.tenant.jobs_queue.save()
        with pytest.raises(AssertionError, match=f"has not ended: Tenant {thing.tenant.name} has 0 slots"):
            run(thing.async_.echo)

    def test_jobs_behind_a_run_still_wait(self, thing):
        thing.async_(priority=10).echo("behind")
        run(thing.async_.echo, "mine")
        assert Job.objects.filter(status="created").count() == 1
