"""End a process of the pool, together with all processes that its body started."""

import os
import signal
from contextlib import suppress
from typing import Any

from jobs.engine.recover import Sentence

MOST_REMEMBERED = 1024  # the latest sentences

_condemned: dict[int, Sentence] = {}


def pids_of(pool: Any) -> list[int]:
    """The processes of Celery's pool; none once it was terminated, while our threads still look."""
    processes = pool._pool
    return [process.pid for process in processes._pool] if processes else []


def end(pid: int) -> None:
    """Kill the process and its group: the subprocesses of a body must not outlive it."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) != pid:  # it has just been forked, and has no group of its own yet
            os.kill(pid, signal.SIGKILL)
            return
    with suppress(ProcessLookupError):  # its group may outlive it
        os.killpg(pid, signal.SIGKILL)


def condemn(pid: int, sentence: Sentence) -> None:
    """End a process, and record the sentence first, so that it is known when the process dies."""
    _condemned.pop(pid, None)
    _condemned[pid] = sentence
    if len(_condemned) > MOST_REMEMBERED:
        del _condemned[next(iter(_condemned))]
    end(pid)


def sentence_of(pid: int) -> Sentence | None:
    """The sentence of a process that this worker ended; None for other deaths. Celery's thread and ours may both ask.

    It names an attempt, so it does no harm to a later process with the same pid.
    """
    return _condemned.get(pid)
