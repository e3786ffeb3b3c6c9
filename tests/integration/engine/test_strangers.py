"""Code of a job's author that runs beside its body: lazy values, policies, texts. It may raise anything, and hang."""

import os
import signal
import threading
from contextlib import suppress

import pytest
from django.utils.functional import SimpleLazyObject

from jobs import Retry, RetryLater, current_job, store
from jobs.engine.process import user_code
from jobs.engine.upkeep import recover
from jobs.models import FailedAttempt, Job
from jobs.signals import job_died
from jobs.worker.children.running_table import RunningTable
from jobs.worker.children.time_limit import Timer
from tests import attempts
from tests.attempts import WORKER, Alarm, Limit
from tests.sample.litter import Unspeakable
from tests.sample.models import Run

pytestmark = pytest.mark.django_db(transaction=True)


class Exiting(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


class Busy(RetryLater):
    """Does not call the constructor of its base."""

    def __init__(self) -> None:
        Exception.__init__(self, "busy")


class Soon(Busy):
    seconds = "soon"


def syntax_error() -> SyntaxError:
    error = SyntaxError("no")
    error.filename, error.lineno, error.offset, error.text = "f", 3, "7", "abc"
    return error


def lazy() -> object:
    return SimpleLazyObject(lambda: Run.objects.get(pk=0))


def raise_(error: BaseException) -> None:
    raise error


def leave(error: BaseException, retries: int) -> float:
    raise SystemExit(3)


def read(error: BaseException, retries: int) -> float:
    return float(len(str(error)))


LONG = type("X" * 201, (Exception,), {})


@pytest.fixture
def run(thing, body, sent):
    """Run this body; how its job ended."""

    def run(function, *, retry=None, timeout=None, **host) -> Job:
        body(lambda self: function(), retry=retry, timeout=timeout)
        return attempts.run(sent, thing.async_.echo(), **host)

    return run


GONE = ("error", "DoesNotExist: Run matching query does not exist.")
ENDS = {
    "lazy result": (lambda: {"who": lazy()}, None, GONE),
    "lazy stat": (lambda: current_job().stats.update(who=lazy()), None, GONE),
    "long class": (lambda: raise_(LONG("x")), None, ("error", "X" * 200 + ": x")),
    "odd syntax error": (lambda: raise_(syntax_error()), None, ("error", "SyntaxError: no")),
    "text that exits": (lambda: raise_(Exiting()), None, ("error", "Exiting: (its text cannot be read: SystemExit)")),
    "no seconds": (lambda: raise_(Busy()), None, ("error", "AttributeError: 'Busy' object has no")),
    "odd seconds": (lambda: raise_(Soon()), Retry.every(0, max_retries=0), ("dead", "ValueError: RetryLater takes")),
    "unreadable": (lambda: raise_(Unspeakable()), Retry.custom(read, max_retries=2), ("dead", "RuntimeError: no text")),
    "policy that exits": (lambda: 1 / 0, Retry.custom(leave, max_retries=2), ("dead", "SystemExit: 3")),
    "odd queue": (lambda: 1 / 0, Retry.every(0, max_retries=2, queue="\x00"), ("dead", "DataError: ")),
}


@pytest.mark.parametrize("how", ENDS)
def test_whatever_it_raises_the_job_ends_once_and_is_no_crash(how, run):
    end, retry, (status, text) = ENDS[how]
    ended = run(end, retry=retry)
    assert (ended.status, ended.crashes, ended.last_error[: len(text)]) == (status, 0, text)
    assert FailedAttempt.objects.count() == 1


def test_of_an_error_that_a_policy_cannot_read_both_are_told(run):
    run(lambda: raise_(Unspeakable()), retry=Retry.custom(read, max_retries=2))
    trace = FailedAttempt.objects.get().traceback
    assert "RuntimeError: no text" in trace
    assert "after Unspeakable: (its text cannot be read: RuntimeError)" in trace


class TestInTime:
    @pytest.fixture
    def limit(self) -> Limit:
        return Limit()

    @pytest.fixture
    def seen(self, limit):
        """Note whether a limit holds at this moment; `seen.all` has the answers."""

        def seen(*_: object) -> float:
            seen.all.append(limit.calls[-1])
            return 0.0

        seen.all = []
        return seen

    def test_a_generator_that_a_failing_body_leaves_ends_within_its_limit(self, run, limit, seen):
        def rows():
            try:
                yield 1
            finally:
                seen()

        def leave() -> None:
            left = rows()
            next(left)
            raise ValueError

        def late() -> None:
            left = rows()
            next(left)
            raise Alarm

        run(leave, limit=limit)
        run(late, limit=limit)
        assert [call.split()[0] for call in seen.all] == ["arm", "arm"]

    def test_so_does_everything_else(self, run, limit, seen):
        class Told(Exception):
            def __str__(self) -> str:
                seen()
                return "told"

        run(lambda: {"who": SimpleLazyObject(seen)}, limit=limit)
        run(lambda: current_job().stats.update(who=SimpleLazyObject(seen)) or 1 / 0, limit=limit)
        run(lambda: raise_(Told()), retry=Retry.custom(lambda *_: seen(), max_retries=1), limit=limit)
        job_died.connect(seen)
        try:
            run(lambda: 1 / 0, retry=Retry.every(0, max_retries=0), limit=limit)
        finally:
            job_died.disconnect(seen)
        assert len(seen.all) >= 5
        assert {call.split()[0] for call in seen.all} == {"arm"}

    def test_no_limit_holds_while_the_outcome_of_a_failure_is_stored(self, run, limit, monkeypatch):
        fail, calls = store.fail, []
        monkeypatch.setattr(store, "fail", lambda *a, **k: calls.append(limit.calls[-1]) or fail(*a, **k))
        run(lambda: 1 / 0, limit=limit)
        assert calls == ["disarm"]

    def test_a_policy_that_hangs_is_a_policy_that_fails(self, run):
        ended = run(lambda: 1 / 0, retry=Retry.custom(lambda *_: raise_(Alarm()), max_retries=1))
        assert (ended.status, ended.last_error) == ("dead", "TimeoutError: gave no answer for 10 s")
        assert "after ZeroDivisionError: division by zero" in FailedAttempt.objects.get().traceback


class TestAfterItsTime:
    """The interrupt is an exception, and a body may catch it: to clean up, or to go on."""

    @pytest.fixture
    def over(self, run, timer):
        """Run this body with a limit of 0.1 s."""
        return lambda function, **how: run(function, timeout=0.1, limit=timer, **how)

    @pytest.fixture
    def timer(self):
        """A worker's timer; pytest runs in the main thread, as bodies do."""
        before = signal.getsignal(signal.SIGALRM)
        yield Timer(RunningTable(1).take_entry(0, os.getpid()))
        signal.signal(signal.SIGALRM, before)

    @pytest.mark.parametrize("end", [lambda: "done", lambda: raise_(RetryLater(0)), lambda: 1 / 0])
    def test_a_body_that_goes_on_has_timed_out_whatever_it_makes_of_it(self, end, over):
        def go_on() -> object:
            try:
                signal.pause()
            except Exception:
                return end()

        ended = over(go_on)
        assert (ended.status, ended.last_error) == ("error", "TimeoutError: timed out after 0.1 s")
        assert ended.result_expires_at is None

    def test_its_retry_policy_decides(self, over):
        def go_on() -> None:
            with suppress(Exception):
                signal.pause()

        ended = over(go_on, retry=Retry.every(5, max_retries=1))
        assert (ended.status, ended.retries) == ("scheduled", 1)

    def test_what_it_raised_instead_is_in_the_traceback(self, over):
        def fail() -> None:
            try:
                signal.pause()
            except Exception as error:
                raise ValueError("half of it is done") from error

        over(fail)
        assert "ValueError: half of it is done" in FailedAttempt.objects.get().traceback

    def test_a_policy_that_goes_on_has_given_no_answer(self, run, timer, monkeypatch):
        monkeypatch.setattr(user_code, "ANSWER_SECONDS", 0.1)

        def go_on(*_: object) -> float:
            with suppress(Exception):
                signal.pause()
            return 5.0

        ended = run(lambda: 1 / 0, retry=Retry.custom(go_on, max_retries=1), limit=timer)
        assert (ended.status, ended.last_error) == ("dead", "TimeoutError: gave no answer for 0.1 s")


class TestAfterAHardLimit:
    """The parent asks the policy, in a thread that other jobs need."""

    @pytest.fixture
    def time_out(self, thing, body):
        def time_out(policy) -> Job:
            body(lambda self: None, retry=Retry.custom(policy, max_retries=1))
            job_id = thing.async_.echo()
            store.start(job_id, 1, store.Seat.here(WORKER))
            assert recover.time_out(job_id, 1)
            return Job.objects.get()

        return time_out

    def test_a_policy_that_exits_ends_its_job_alone(self, time_out):
        ended = time_out(leave)
        assert (ended.status, ended.last_error) == ("dead", "SystemExit: 3")

    def test_one_that_hangs_is_left_behind(self, time_out, monkeypatch):
        monkeypatch.setattr(user_code, "ANSWER_SECONDS", 0.01)
        hangs = threading.Event()
        try:
            ended = time_out(lambda *_: hangs.wait())
        finally:
            hangs.set()
        assert (ended.status, ended.last_error) == ("dead", "TimeoutError: gave no answer for 0.01 s")
