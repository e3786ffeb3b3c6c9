"""The processes of the pool, and how one is ended: with everything that its body has started."""

import os
import signal
from contextlib import suppress

from jobs.engine.recover import Sentence

MOST_REMEMBERED = 1024  # sentences, the last ones

_condemned: dict[int, Sentence] = {}


def end(pid: int) -> None:
    """Kill the process and its group: a body's own subprocesses are not to outlive it."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) != pid:  # it has only just begun, and has no group of its own yet
            os.kill(pid, signal.SIGKILL)
            return
    with suppress(ProcessLookupError):  # its group may be there although it is not
        os.killpg(pid, signal.SIGKILL)


def condemn(pid: int, sentence: Sentence) -> None:
    """End a process for what it was doing. Noted first, so that whoever hears of its death knows why."""
    _condemned.pop(pid, None)
    _condemned[pid] = sentence
    if len(_condemned) > MOST_REMEMBERED:
        del _condemned[next(iter(_condemned))]
    end(pid)


def sentence_of(pid: int) -> Sentence | None:
    """Why a process that is no more was ended, if we did it. Two may ask, Celery's thread and ours.

    It names an attempt, so it harms no other process that gets this number one day.
    """
    return _condemned.get(pid)
