"""Estimate when the line of a queue is empty, at the pace of the last minutes. Pure."""

from collections.abc import Sequence

from plumbing.text import duration

MIN_WAITING = 10  # jobs; a shorter line is not estimated
MIN_MINUTES = 3  # between the first and the last sample


def emptying(waiting: Sequence[int | None], now: int) -> str:
    """Return the estimate in words; "" if the line is short, or too little is known.

    waiting: the jobs in line at each of the last minutes; None: not known
    now: the jobs in line now
    """
    known = [(minute, jobs) for minute, jobs in enumerate(waiting) if jobs is not None]
    if now < MIN_WAITING or not known or known[-1][0] - known[0][0] < MIN_MINUTES:
        return ""
    (first, before), (last, after) = known[0], known[-1]
    shorter = (before - after) / (last - first)  # jobs a minute
    if shorter > 0:
        return f"empty in about {duration(60.0 * now / shorter)}"
    grows = round(-shorter)
    return f"grows by {grows:,} a minute" if grows else "gets no shorter"
