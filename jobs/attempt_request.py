"""How a worker's parent process follows the attempts of its children, and hears that one did not end well."""

from billiard.einfo import ExceptionInfo
from celery.worker.request import Request

from jobs import presence
from jobs.presence import Ended


class AttemptRequest(Request):
    """Passes on at once what became of the process; the presence tells PostgreSQL, and waits for it if need be."""

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """The child was lost, or could not settle."""
        job_id, attempt, *_ = self.args
        error = getattr(exc_info.exception, "exc", exc_info.exception)
        presence.attempts_ended.put(Ended(job_id, attempt, int(self.worker_pid or 0), "ProcessDied", str(error)))
        super().on_failure(exc_info, send_failed_event, return_ok)
