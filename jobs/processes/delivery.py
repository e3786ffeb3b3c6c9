"""How a worker's parent process follows the messages of its children, and hears that one did not end well."""

from billiard.einfo import ExceptionInfo
from celery.worker.request import Request

from jobs.processes import children, reports
from jobs.processes.reports import Ended
from jobs.tasks import Message


class AttemptRequest(Request):
    """Passes on at once what became of the process; the reports tell PostgreSQL, and wait for it if need be."""

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """The child was lost, or raised what it could not settle: whatever it was running has no holder any more."""
        message = Message.decode(self.args)
        error = exc_info.exception
        error = getattr(error, "exc", error)
        pid = int(self.worker_pid or 0)  # text in Celery's stubs; none before a child has taken the message up
        sentence = None
        if pid:
            children.end(pid)  # what it has started, too; and a slot must not be free while the code still runs
            sentence = children.sentence_of(pid)
        reports.ended.put(Ended(pid, message.job_id, message.attempt, str(error), sentence))
        super().on_failure(exc_info, send_failed_event, return_ok)
