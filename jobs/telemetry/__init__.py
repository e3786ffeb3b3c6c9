"""The log of the scheduler. The store logs every transition that it applied here, after the commit.

A record has an event (`start`) and facts (`job=1 attempt=2`); a formatter writes both (`scheduler_project/logs.py`).
They name ids and times, never arguments, results or secrets. If a fact is None, the line has none.

`about` gives the same facts to all lines inside a block, whoever logs them: so the lines of a job's own code have the
job's id, and the lines of a request have the request's.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger("jobs")

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
    """The facts of the present `about`."""
    return _about.get() or {}


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


def begun(what: str, **facts: object) -> None:
    """Log what happens at every start, and asks nothing of anybody."""
    _log(logging.INFO, what, **facts)


def answered(method: str, path: str, status: int, **facts: object) -> None:
    """Log the answer to an HTTP request."""
    _log(logging.INFO, "answered", method=method, path=path, status=status, **facts)


def shown(facts: dict[str, object]) -> str:
    """The facts as in a line for people; None is none."""
    return "".join(f" {name}={value}" for name, value in facts.items() if value is not None)


def _log(level: int, event: str, **facts: object) -> None:
    if logger.isEnabledFor(level):
        logger.log(level, "%s%s", event, shown(facts), extra={"event": event, "facts": facts})
