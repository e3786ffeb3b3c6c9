"""Ask user code: bodies, lazy values, retry policies, texts of errors, receivers of `job_died`. Whatever it does, there
is an answer.

It may raise anything, and it may hang. In a process that runs jobs the timer interrupts it, and the parent kills the
process if that does not help. In the parent, a policy is asked about a process that was killed. There it runs in a
thread of its own; a thread that hangs is left behind.
"""

import decimal
import os
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from django.db import connections

from jobs.engine.process.host import AttemptHost
from jobs.store import Started, speak_as_the_caller

ANSWER_SECONDS = 10.0  # for everything but bodies


@dataclass(frozen=True)
class Answer:
    """A value or an error."""

    value: Any = None
    error: BaseException | None = None


Question = Callable[[], Any]
Ask = Callable[[Question], Answer]


class Here:
    """Asks in this process, which runs the job, in a context of its own: language, time zone and so on end with it."""

    def __init__(self, job: Started, host: AttemptHost) -> None:
        self._job, self._host, self._inside = job, host, copy_context().run
        self._inside(speak_as_the_caller)
        self._inside(decimal.setcontext, decimal.getcontext().copy())  # else it would be changed in place

    def __call__(self, question: Question) -> Answer:
        """Ask for at most ANSWER_SECONDS."""
        return self.within(ANSWER_SECONDS, question, late="gave no answer for")

    def within(
        self, seconds: float, question: Question, late: str = "timed out after", silence: float | None = None
    ) -> Answer:
        """Ask for at most `seconds`. Raises KeyboardInterrupt, by which a signal ends the process.

        silence: seconds that it may tell nothing; None: it may be silent.

        A later answer does not count, whether the code caught the interrupt or the interrupt never reached it.
        """
        answer, limit = Answer(), self._host.limit
        try:
            try:
                limit.arm(self._job, seconds, silence)
                answer = Answer(self._inside(to_the_end, question))
            finally:
                limit.disarm()
        except limit.time_is_up:
            return self._too_late(late, seconds)
        except KeyboardInterrupt:  # meant for the process; recover takes the job back
            raise
        except BaseException as error:
            answer = Answer(error=error)
        finally:
            limit.disarm()  # again: the time limit may have interrupted the first call
        return self._too_late(late, seconds, answer.error) if limit.overran else answer

    def _too_late(self, late: str, seconds: float, instead: BaseException | None = None) -> Answer:
        """Return the answer of code that ran beyond its time limit: a TimeoutError.

        instead: the error that the code raised after the limit; its traceback is kept.
        """
        silent = self._host.limit.silent_for
        error = TimeoutError(silent_text(silent) if silent else f"{late} {seconds:.15g} s")
        error.__cause__ = instead
        return Answer(error=error)


def silent_text(seconds: float) -> str:
    """Return what the error of a body says that has told nothing for so long."""
    return f"silent for {seconds:.15g} s"


def to_the_end(question: Question) -> Any:
    """Ask, and return the value. If it fails, nothing of it is left suspended; a process that it forked ends here."""
    process = os.getpid()
    try:
        value = question()
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # ends generators, and the transactions in them
        end_copy_of(process, error)
        raise
    end_copy_of(process)
    return value


def end_copy_of(process: int, error: BaseException | None = None) -> None:
    """End this process if user code forked it, and has returned in it. The exit status is that of a script.

    It has copies of the sessions and pipes of `process`: it would settle the job, and take the next message.
    """
    if os.getpid() == process:
        return
    status = 0 if error is None else 1
    if isinstance(error, SystemExit):
        status = error.code if isinstance(error.code, int) else bool(error.code)
    elif error is not None:
        traceback.print_exception(error)
    os._exit(status & 0xFF)


def in_a_thread(question: Question, seconds: float | None = None, thread: str = "user code") -> Answer:
    """Ask in a thread of its own.

    seconds: the longest wait for the answer; None: ANSWER_SECONDS.
    thread: the name of the thread.
    """
    seconds = ANSWER_SECONDS if seconds is None else seconds
    answer: Future[Answer] = Future()

    def ask() -> None:
        try:
            answer.set_result(Answer(question()))
        except BaseException as error:  # even SystemExit: it must end nothing here
            answer.set_result(Answer(error=error))
        finally:
            connections.close_all()

    threading.Thread(target=ask, name=thread, daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        return Answer(error=TimeoutError(f"gave no answer for {seconds:g} s"))
