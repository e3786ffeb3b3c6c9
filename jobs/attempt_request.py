"""How a worker's parent process follows the attempts of its children, and hears that one did not end well."""

import os
import signal
from contextlib import suppress
from typing import Any

from billiard.einfo import ExceptionInfo
from billiard.exceptions import TimeLimitExceeded
from celery.worker.request import Request
from django.conf import settings

from jobs import memory, presence
from jobs.presence import Ended


class AttemptRequest(Request):
    """Passes on at once what became of the process; the presence tells PostgreSQL, and waits for it if need be."""

    def on_accepted(self, pid: str, time_accepted: float) -> None:
        """A child takes the attempt up. (A pid is text in Celery's stubs only.)"""
        job_id, attempt, _, ceiling = self.args
        ceiling = ceiling or settings.JOBS_DEFAULT_MEMORY
        if ceiling:
            memory.watch.watch(memory.Watched(job_id, attempt, int(pid), ceiling))
        super().on_accepted(pid, time_accepted)

    def on_success(self, failed__retval__runtime: tuple[bool, Any, float], **kwargs: Any) -> None:
        """The child is through with it."""
        job_id, attempt, *_ = self.args
        memory.watch.forget(job_id, attempt, self._pid)
        super().on_success(failed__retval__runtime, **kwargs)

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """The child was lost, was ended at its hard time limit, or could not settle."""
        job_id, attempt, timeout, _ = self.args
        error = exc_info.exception
        error = getattr(error, "exc", error)
        over_memory = memory.watch.forget(job_id, attempt, self._pid)
        if isinstance(error, TimeLimitExceeded):
            # Celery tells us first and kills then; the slot must not be free while the code still runs.
            if self._pid:  # kill(0) would be the whole process group
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
            ended = Ended(job_id, attempt, self._pid, timed_out_after=timeout)
        elif over_memory:
            ended = Ended(job_id, attempt, self._pid, "MemoryExceeded", over_memory)
        else:
            ended = Ended(job_id, attempt, self._pid, "ProcessDied", str(error))
        presence.attempts_ended.put(ended)
        super().on_failure(exc_info, send_failed_event, return_ok)

    @property
    def _pid(self) -> int:
        """Of the child that has the attempt. 0: none had it yet, and so none has started it."""
        return int(self.worker_pid or 0)
