"""The memory ceiling: a worker's parent process looks at its children, and ends one that uses too much.

From outside, because a body that allocates in C gives no thread of its own process a chance to look.
"""

import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass

import psutil

LOOK_EVERY = 0.25  # seconds
MIB = 1024 * 1024


@dataclass(frozen=True)
class Watched:
    """An attempt, the process that runs it, and the MiB of resident memory which that may use."""

    job_id: int
    attempt: int
    pid: int
    ceiling: int


class MemoryWatch:
    """Runs in a thread of the parent until `stop` is set."""

    def __init__(self) -> None:
        self._watched: dict[int, Watched] = {}
        self._ended: dict[tuple[int, int, int], str] = {}

    def watch(self, attempt: Watched) -> None:
        """Its process has taken the attempt up."""
        self._watched[attempt.pid] = attempt

    def forget(self, job_id: int, attempt: int, pid: int) -> str | None:
        """The attempt has ended in this process; what it was ended for, if it was for its memory.

        A doubled message has the same attempt in another process, and one told late another attempt in the same.
        """
        watched = self._watched.get(pid)
        if watched is not None and (watched.job_id, watched.attempt) == (job_id, attempt):
            del self._watched[pid]
        return self._ended.pop((job_id, attempt, pid), None)

    def run(self, stop: threading.Event) -> None:
        """Look until stopped."""
        while not stop.wait(LOOK_EVERY):
            for watched in list(self._watched.values()):
                self._look_at(watched)

    def _look_at(self, watched: Watched) -> None:
        with suppress(psutil.Error, ProcessLookupError):
            used = psutil.Process(watched.pid).memory_info().rss // MIB
            if used > watched.ceiling and self._watched.get(watched.pid) is watched:
                reason = f"used {used} MiB of memory; {watched.ceiling} MiB are allowed"
                self._ended[(watched.job_id, watched.attempt, watched.pid)] = reason
                os.kill(watched.pid, signal.SIGKILL)


watch = MemoryWatch()
