"""Ask strangers' code: bodies, lazy values, retry policies, texts of errors. Whatever it does, there is an answer.

It may raise anything, and it may hang. In a process that runs jobs the timer interrupts it, and the parent kills the
process if that does not help. In the parent, where a policy is asked about a process that was killed, it runs in a
thread of its own; one that hangs there is left behind.
"""

import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connections

from jobs.engine.host import Host
from jobs.store import Started

PATIENCE = 10.0  # seconds for everything but bodies


@dataclass(frozen=True)
class Answer:
    """A value or an error."""

    value: Any = None
    error: BaseException | None = None


Question = Callable[[], Any]
Ask = Callable[[Question], Answer]


def here(job: Started, host: Host) -> Ask:
    """Ask in this process, which runs the job, for at most PATIENCE seconds."""
    return partial(within, job, host, PATIENCE, late="gave no answer for")


def within(job: Started, host: Host, seconds: float, question: Question, late: str = "timed out after") -> Answer:
    """Ask in this process for at most so many seconds. Raises what is meant for the process: a signal has ended it.

    An answer that comes later counts for nothing, whether the code caught the interrupt or never heard of it.
    """
    answer = Answer()
    try:
        try:
            host.limit.arm(job, seconds)
            answer = Answer(_to_the_end(question))
        finally:
            host.limit.disarm()
    except host.limit.time_is_up:
        return _too_late(late, seconds)
    except KeyboardInterrupt:  # meant for the process; recover takes the job back
        raise
    except BaseException as error:
        if host.told_to_exit():  # by a signal: this, too, is meant for the process
            raise
        answer = Answer(error=error)
    finally:
        host.limit.disarm()  # again: the time limit may have interrupted the first call
    return _too_late(late, seconds, answer.error) if host.limit.overran else answer


def _too_late(said: str, seconds: float, instead: BaseException | None = None) -> Answer:
    """instead: what was raised after the time limit; its traceback is kept."""
    error = TimeoutError(f"{said} {seconds:g} s")
    error.__cause__ = instead
    return Answer(error=error)


def _to_the_end(question: Question) -> Any:
    try:
        return question()
    except BaseException as error:
        traceback.clear_frames(error.__traceback__)  # ends generators, and the transactions in them
        raise


def in_a_thread(question: Question) -> Answer:
    """Ask in a thread of its own for at most PATIENCE seconds."""
    answer: Future[Answer] = Future()

    def ask() -> None:
        try:
            answer.set_result(Answer(question()))
        except BaseException as error:  # even SystemExit: it must end nothing here
            answer.set_result(Answer(error=error))
        finally:
            connections.close_all()

    threading.Thread(target=ask, name="stranger", daemon=True).start()
    try:
        return answer.result(PATIENCE)
    except TimeoutError:
        return Answer(error=TimeoutError(f"gave no answer for {PATIENCE:g} s"))
