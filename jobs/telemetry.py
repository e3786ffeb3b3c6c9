"""The log of the scheduler. The store logs every transition that it applied here, after the commit.

Lines are `verb job=1 attempt=2 ...`; they name ids and times, never arguments, results or secrets.
"""

import logging
from collections.abc import Sequence

logger = logging.getLogger("jobs")


def applied(verb: str, job: int, attempt: int = 0, **facts: object) -> None:
    """Log a transition that was applied."""
    logger.info("%s job=%d attempt=%d%s", verb, job, attempt, _shown(facts))


def applied_to_all(verb: str, jobs: Sequence[int]) -> None:
    """Log the jobs of one submit in one line, since there may be thousands."""
    if len(jobs) == 1:
        applied(verb, jobs[0])
    elif jobs:
        logger.info("%s jobs=%d first=%d last=%d", verb, len(jobs), jobs[0], jobs[-1])


def ignored(verb: str, job: int, attempt: int) -> None:
    """Log that a stale message or holder changed nothing: the fence did its work."""
    logger.info("%s ignored job=%d attempt=%d: not the present attempt", verb, job, attempt)


def noticed(what: str, **facts: object) -> None:
    """Log an event for operators: a worker gone, a message lost, a broker out of reach."""
    logger.warning("%s%s", what, _shown(facts))


def _shown(facts: dict[str, object]) -> str:
    return "".join(f" {name}={value}" for name, value in facts.items())
