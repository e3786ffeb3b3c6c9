"""The one funnel: every applied arrow leaves one log line here, and nothing else logs arrows.

Lines are `verb job=1 attempt=2 ...`; they name ids and times, never arguments, results or secrets.
"""

import logging
from collections.abc import Sequence

logger = logging.getLogger("jobs")


def applied(verb: str, job: int, attempt: int = 0, **facts: object) -> None:
    """An arrow of the life cycle was gone."""
    logger.info("%s job=%d attempt=%d%s", verb, job, attempt, _shown(facts))


def submitted(jobs: Sequence[int]) -> None:
    """Jobs of one submit were stored: one line, since there may be thousands."""
    if len(jobs) == 1:
        applied("submit", jobs[0])
    else:
        logger.info("submit jobs=%d first=%d last=%d", len(jobs), jobs[0], jobs[-1])


def ignored(verb: str, job: int, attempt: int) -> None:
    """A stale message or holder changed nothing: the fence did its work."""
    logger.info("%s ignored job=%d attempt=%d: not the present attempt", verb, job, attempt)


def noticed(what: str, **facts: object) -> None:
    """Something an operator should know: a worker gone, a message lost, a broker out of reach."""
    logger.warning("%s%s", what, _shown(facts))


def _shown(facts: dict[str, object]) -> str:
    return "".join(f" {name}={value}" for name, value in facts.items())
