"""How a worker's parent process hears that a child, and the attempt in it, did not end well."""

import os
import signal
from contextlib import suppress

from billiard.einfo import ExceptionInfo
from billiard.exceptions import TimeLimitExceeded
from celery.worker.request import Request

from jobs import presence


class AttemptRequest(Request):
    """Passes on at once what became of the process; the presence tells PostgreSQL, and waits for it if need be."""

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """The child was lost, was ended at its hard time limit, or could not settle."""
        job_id, attempt, timeout = self.args
        error = exc_info.exception
        error = getattr(error, "exc", error)
        timed_out = isinstance(error, TimeLimitExceeded)
        if timed_out:
            # Celery tells us first and kills then; the slot must not be free while the code still runs.
            with suppress(ProcessLookupError, TypeError):
                os.kill(int(self.worker_pid), signal.SIGKILL)  # type: ignore[arg-type]  # None: not yet accepted
        presence.attempts_ended.put((job_id, attempt, timeout if timed_out else None, str(error)))
        super().on_failure(exc_info, send_failed_event, return_ok)
