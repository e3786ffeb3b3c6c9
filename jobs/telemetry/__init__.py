"""The log of the scheduler. The store logs every transition that it applied here, after the commit.

A record has an event (`start`) and facts (`job=1 attempt=2`); a formatter writes both (`scheduler_project/logs.py`).
Facts are ids and times, never arguments, results or secrets. The record of a failure also has the error that the body
raised. A fact that is None does not appear in the line.

`about` gives the same facts to all lines inside a block, whichever code logs them. So the lines of a job's own code
have the job's id, and the lines of a request have the request's.
"""

import logging
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from jobs.conf import settings

logger = logging.getLogger("jobs")

Raised = tuple[type[BaseException], BaseException, TracebackType | None]

_about: ContextVar[dict[str, object] | None] = ContextVar("about", default=None)


@contextmanager
def about(**facts: object) -> Iterator[None]:
    """Give these facts to every line of this thread inside the block."""
    token = _about.set({**known(), **facts})
    try:
        yield
    finally:
        _about.reset(token)


def learn(**facts: object) -> None:
    """Give these facts to every further line of the present `about`; outside one, do nothing."""
    if (present := _about.get()) is not None:
        present.update(facts)


def known() -> dict[str, object]:
    """Return the facts of the present `about`."""
    return _about.get() or {}


def wants_transitions() -> bool:
    """Return whether the log takes the lines of `applied`."""
    return logger.isEnabledFor(logging.INFO)


def applied(verb: str, job: int, attempt: int = 0, **facts: object) -> None:
    """Log a transition that was applied."""
    _log(logging.INFO, verb, job=job, attempt=attempt, **facts)


def applied_to_all(verb: str, jobs: Sequence[int], **facts: object) -> None:
    """Log the jobs of one submit in one line, since there may be thousands."""
    if len(jobs) == 1:
        applied(verb, jobs[0], 0, **facts)
    elif jobs:
        _log(logging.INFO, verb, jobs=len(jobs), first=jobs[0], last=jobs[-1], **facts)


def ignored(verb: str, job: int, attempt: int, because: str = "not the present attempt") -> None:
    """Log that a stale message or holder changed nothing: the fence did its work."""
    _log(logging.INFO, f"{verb} ignored", job=job, attempt=attempt, because=because)


def noticed(what: str, **facts: object) -> None:
    """Log an event for operators: a worker gone, a message lost, a broker out of reach."""
    _log(logging.WARNING, what, **facts)


def failed(error: BaseException | None, /, *, final: bool, **facts: object) -> None:
    """Log a failed attempt: as an error if it ended its job, as a warning if the job runs again.

    error: the exception that its body raised.
    """
    raised = None if error is None or not settings.JOBS_LOG_TRACEBACKS or not _writable(error) else _raised(error)
    if final:
        _log(logging.ERROR, "job failed", raised, **facts)
    else:
        _log(logging.WARNING, "attempt failed", raised, **facts)


def begun(what: str, **facts: object) -> None:
    """Log an event that every start has, and that needs no action."""
    _log(logging.INFO, what, **facts)


def answered(method: str, path: str, status: int, **facts: object) -> None:
    """Log the answer to an HTTP request."""
    _log(logging.INFO, "answered", method=method, path=path, status=status, **facts)


def render(facts: dict[str, object]) -> str:
    """Return the facts as in a line for people, without those that are None."""
    return "".join(f" {name}={value}" for name, value in facts.items() if value is not None)


def _raised(error: BaseException) -> Raised:
    """Return the error, with its traceback from the code of the job's author on.

    A tool that keeps the variables of frames, such as Sentry, would find the arguments of the job in our frames.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("jobs."):
        trace = trace.tb_next
    return type(error), error, trace


def _writable(error: BaseException) -> bool:
    """Return whether a log in UTF-8 can take the error.

    With half a character in its text, the handler of a file would lose the whole record.
    """
    try:
        "".join(traceback.format_exception(error)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _log(level: int, event: str, raised: Raised | None = None, /, **facts: object) -> None:
    if logger.isEnabledFor(level):
        # The event is in the template, by which other tools group records.
        logger.log(level, f"{event}%s", render(facts), exc_info=raised, extra={"event": event, "facts": facts})
