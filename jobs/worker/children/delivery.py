"""Follow the children's messages in the worker's parent process, and report each child that failed one."""

import re
from signal import SIGKILL
from typing import Any

from billiard.einfo import ExceptionInfo
from celery.worker.request import Request

from jobs.worker.children import kills
from jobs.worker.children.limits import how
from jobs.worker.message import Message


class AttemptRequest(Request):
    """A message that reports the death of its process at once; the thread of reports then writes it into PostgreSQL."""

    def on_failure(self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """End and report the child, which died or could not settle an outcome: its attempts have no holder any more."""
        message = Message.decode(self.args)
        error = getattr(exc_info.exception, "exc", exc_info.exception)
        pid = int(self.worker_pid or 0)  # text in Celery's stubs; None before a child has taken the message
        if pid:
            kills.end(pid)  # with its subprocesses; the slot must not become free while the code still runs
        kills.report(pid, message.job_id, message.attempt, in_words(str(error) or type(error).__name__))
        super().on_failure(exc_info, send_failed_event, return_ok=True)  # else the log would have it twice

    def cancel(self, pool: Any, *_: Any, **options: Any) -> None:
        """End the process of this message, with what its body has started: the worker stops in haste."""
        message, pid = Message.decode(self.args), int(self.worker_pid or 0)
        if pid:
            kills.stop(pid)  # SIGTERM, which is Celery's way, does nothing while a body runs
            kills.report(pid, message.job_id, message.attempt, "its worker was stopped")
        super().cancel(pool, SIGKILL, **options)


def in_words(error: str) -> str:
    """Return billiard's error of a dead child in our words: its text has a number that reads like a job's id."""
    match = re.search(r"exited prematurely: (?:signal (\d+)|exitcode (\d+))", error)
    if match is None:
        return error
    return how(-int(match[1]) if match[1] else int(match[2]))
