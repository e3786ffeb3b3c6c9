"""Results of tasks: their errors, their values, and who may read them."""

from contextlib import contextmanager

import pytest
from asgiref.sync import async_to_sync
from django.core.signing import Signer
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import async_
from jobs.contrib.django_tasks import interface
from jobs.contrib.django_tasks.interface import TaskResultDoesNotExist
from jobs.contrib.django_tasks.runner import function_of
from jobs.contrib.testing import drain, hand_back_next
from jobs.engine.upkeep import recover
from jobs.models import Job
from jobs.reading import public_error
from jobs.store import Failure
from tests.factories import QueueFactory, ThingFactory
from tests.integration.django_tasks.asking import FAILED, READY, RUNNING, SUCCESSFUL, backend
from tests.sample import later


@contextmanager
def told_of_ends():
    """The statuses with which tasks finish, as the receivers of the signal hear it."""
    heard = []

    def hear(task_result, **_) -> None:
        heard.append(task_result.status)

    interface.task_finished.connect(hear)
    try:
        yield heard
    finally:
        interface.task_finished.disconnect(hear)


class TestFailures:
    @pytest.mark.parametrize(
        ("task", "error", "message"),
        [
            (later.failing_task_value_error, ValueError, "This task failed due to ValueError"),
            (later.failing_task_async, ValueError, "This task failed due to ValueError"),
            (later.failing_task_system_exit, SystemExit, "This task failed due to SystemExit"),
            (later.failing_of_its_own, later.Unusual, "here"),
        ],
    )
    def test_an_error_is_kept(self, task, error, message):
        result = task.enqueue()
        drain(raising=False)
        result.refresh()
        assert (result.status, result.is_finished, result.attempts) == (FAILED, True, 1)
        assert result.enqueued_at <= result.started_at <= result.finished_at
        with pytest.raises(ValueError, match="Task failed"):
            assert result.return_value
        assert result.errors[0].exception_class is error
        assert result.errors[0].traceback.endswith(f"{error.__name__}: {message}\n")

    def test_an_error_in_an_error(self):
        result = later.complex_exception.enqueue()
        drain(raising=False)
        result.refresh()
        assert result.errors[0].exception_class is ValueError
        assert 'ValueError(ValueError("This task failed"))' in result.errors[0].traceback

    def test_a_task_may_end_in_its_own_transaction(self, caplog):
        result = later.end_in_a_transaction.enqueue([1, "two"])
        drain()
        result.refresh()
        assert (result.status, result.return_value) == (SUCCESSFUL, [1, "two"])
        assert not any("goes on" in line for line in caplog.messages)

    def test_a_value_that_is_not_json_fails_the_task(self):
        result = later.complex_return_value.enqueue()
        drain(raising=False)
        result.refresh()
        assert (result.status, result.errors[0].exception_class) == (FAILED, TypeError)
        assert "Unsupported type" in result.errors[0].traceback

    def test_the_retries_of_its_queue_count_and_the_errors_stay(self, tenant):
        queue = QueueFactory()
        queue.default_max_retries, queue.default_backoff = 5, 60
        queue.save()
        result = later.third_time_lucky.enqueue()
        drain()
        result.refresh()
        assert (result.status, result.attempts, len(result.errors)) == (READY, 1, 1)
        drain(later=True)
        result.refresh()
        assert result.return_value == [3, 2, "RUNNING"]
        assert (result.attempts, len(result.worker_ids)) == (3, 3)
        assert {error.exception_class for error in result.errors} == {ConnectionError}
        assert result.started_at < result.last_attempted_at == result.finished_at

    # The two others are raised in a body: their tracebacks have their paths.
    @pytest.mark.parametrize("ending", sorted(public_error.OURS - {"ResultRefused", "SourceGone"}))
    def test_an_attempt_that_was_ended_from_outside_has_an_error_with_a_class(self, ending):
        result = later.ends_its_process.enqueue()
        with pytest.raises(KeyboardInterrupt):
            drain()
        assert recover.take_back(Job.objects.get().pk, 1, Failure(ending, "signal 9"))
        result.refresh()
        assert (result.status, result.attempts) == (READY, 1)
        assert result.errors[0].exception_class.__name__ == ending
        assert result.errors[0].traceback == f"{ending}: signal 9\n"

    @pytest.mark.parametrize("task", [later.snooze, later.snooze_in_a_group], ids=["plain", "group"])
    def test_a_task_may_ask_for_later(self, task):
        with told_of_ends() as heard:
            result = task.enqueue()
            drain()
        result.refresh()
        assert (result.status, result.attempts, heard) == (READY, 1, [])

    def test_a_task_that_gives_its_slot_back_finishes_once(self):
        with told_of_ends() as heard, hand_back_next(async_(function_of(later.by_and_by))):
            result = later.by_and_by.enqueue()
            drain()
        result.refresh()
        assert (result.status, result.attempts, result.errors, heard) == (SUCCESSFUL, 2, [], [SUCCESSFUL])


class TestResults:
    def test_a_result_is_read_after_its_queue_has_left_the_setting(self, use):
        result = later.urgent.enqueue()
        use(QUEUES=["default"])
        assert backend().get_result(result.id).task.queue_name == "critical"

    def test_the_value(self):
        result = later.add.enqueue(40)
        drain()
        assert backend().get_result(result.id).return_value == 42
        assert later.add.get_result(result.id) == backend().get_result(result.id)

    def test_a_result_equals_the_one_that_was_given_out(self):
        result = later.add.enqueue(1)
        assert backend().get_result(result.id) == result

    def test_a_result_of_another_task_does_not_match(self):
        result = later.add.enqueue(1)
        with pytest.raises(Exception, match="Task does not match"):
            later.noop_task.get_result(result.id)

    @pytest.mark.parametrize("missing", ["123", "", "x:y", "8241b6f6-14b3-44f4-ab3d-749b6636b1ab", 123])
    def test_a_missing_result(self, missing):
        with pytest.raises(TaskResultDoesNotExist):
            backend().get_result(missing)
        with pytest.raises(TaskResultDoesNotExist):
            async_to_sync(backend().aget_result)(missing)

    def test_a_stranger_cannot_guess_the_id_of_a_result(self):
        result = later.add.enqueue(1)
        job_id = str(Job.objects.get().pk)
        assert result.id.startswith(job_id)
        for guess in (job_id, f"{job_id}:", Signer(salt="another").sign(job_id)):
            with pytest.raises(TaskResultDoesNotExist):
                backend().get_result(guess)

    def test_the_result_of_a_job_that_is_no_task_does_not_exist(self, tenant):
        thing = ThingFactory(tenant=tenant)
        signed = Signer(salt="jobs.contrib.django_tasks")
        for job_id in (thing.async_.echo(), 10**9):
            with pytest.raises(TaskResultDoesNotExist):
                backend().get_result(signed.sign(str(job_id)))

    def test_the_context_has_the_result(self):
        result = later.get_task_id.enqueue()
        drain()
        result.refresh()
        assert result.return_value == result.id

    @pytest.mark.parametrize(
        "task", [later.noop_task, later.failing_task_value_error, later.noop_task_async, later.failing_task_async]
    )
    def test_the_announced_result_has_ended(self, task):
        heard = []

        def hear(task_result, **_) -> None:
            assert Job.objects.exists(), "a receiver may use the database"
            heard.append(task_result)

        interface.task_finished.connect(hear)
        result = task.enqueue()
        drain(raising=False)
        interface.task_finished.disconnect(hear)
        result.refresh()
        assert heard[0].is_finished
        assert result.started_at <= heard[0].finished_at <= result.finished_at

    @pytest.mark.parametrize(("attempt", "reads"), [(1, 0), (2, 1)])
    def test_errors_are_read_only_of_a_task_that_may_have_some(self, attempt, reads):
        queue = QueueFactory()
        queue.default_max_retries, queue.default_backoff = 1, 60
        queue.save()
        with CaptureQueriesContext(connection) as asked:
            later.failing_once.enqueue()
            drain(later=attempt == 2)
        assert sum("failed_attempts" in one["sql"] and "SELECT" in one["sql"][:6] for one in asked) == reads

    def test_a_task_that_ends_its_process_is_not_announced_as_finished(self):
        heard = []

        def hear(**_) -> None:
            heard.append(1)

        interface.task_finished.connect(hear)
        later.ends_its_process.enqueue()
        with pytest.raises(KeyboardInterrupt):
            drain()
        interface.task_finished.disconnect(hear)
        assert heard == []
        assert Job.objects.get().status == "running"

    def test_the_beginning_and_the_end_are_announced(self):
        heard = []

        def hear(task_result, **_) -> None:
            heard.append((task_result.id, task_result.status))

        signals = (interface.task_started, interface.task_finished)
        for signal in signals:
            signal.connect(hear)
        good, bad = later.add.enqueue(1), later.failing_task_value_error.enqueue()
        drain(raising=False)
        for signal in signals:
            signal.disconnect(hear)
        assert heard == [(good.id, RUNNING), (good.id, SUCCESSFUL), (bad.id, RUNNING), (bad.id, FAILED)]
