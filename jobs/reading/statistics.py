"""Histograms of seconds, and their percentiles. Imports nothing of Django.

A histogram has 41 buckets: below 5 ms, then each half as wide again as the one before, and from 10 hours on. Histograms
add up, percentiles do not: so the tables keep histograms, and a percentile is as exact as its bucket is wide.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Self

BOUNDS = tuple(0.005 * 1.5**n for n in range(40))  # seconds; bucket n holds BOUNDS[n - 1] <= time < BOUNDS[n]
BUCKETS = len(BOUNDS) + 1
ENDS = ("success", "error", "dead", "cancelled")
OUTCOMES = (*ENDS, "retry", "snooze", "hand_back", "wait_for", "crash", "stopped")  # of an attempt


def percentile(buckets: Sequence[int], share: float) -> float | None:
    """Return the seconds that this share (above 0, up to 1) of the times does not exceed; None if there are no times.

    It lies in the bucket of the exact one. For the last bucket, which has no end, it is its beginning.
    """
    rank = max(ceil(sum(buckets) * share), 1)
    below = 0
    for place, count in enumerate(buckets):
        if below + count >= rank:
            starts = BOUNDS[place - 1] if place else 0.0
            ends = BOUNDS[place] if place < len(BOUNDS) else starts
            return starts + (ends - starts) * (rank - below - 0.5) / count
        below += count
    return None


def added(histograms: Iterable[Sequence[int]]) -> list[int]:
    """Return the sum of these histograms."""
    return [sum(counts) for counts in zip([0] * BUCKETS, *histograms, strict=True)]


@dataclass(frozen=True)
class EndedAttempts:
    """The attempts of one job type in one queue that ended with one outcome."""

    queue: str
    source_type: str
    source_method: str
    outcome: str
    attempts: int
    run_seconds: float
    run_buckets: Sequence[int]
    wait_buckets: Sequence[int]
    process_wait_buckets: Sequence[int]
    targeted: int
    in_time: int


@dataclass(frozen=True)
class JobsUnderWay:
    """The jobs of one type in one queue that wait, and those that hold a slot."""

    queue: str
    source_type: str
    source_method: str
    waiting: int
    running: int


@dataclass(frozen=True)
class Times:
    """Half of the times are at most p50 seconds, and 95 of 100 at most p95; None: there are no times."""

    p50: float | None
    p95: float | None

    @classmethod
    def from_buckets(cls, buckets: Sequence[int]) -> Self:
        return cls(percentile(buckets, 0.5), percentile(buckets, 0.95))


@dataclass(frozen=True)
class Kept:
    """The attempts with a wait target, and those that kept it.

    targeted: the attempts whose queue had a wait target when they started.
    in_time: those of them that waited for a process no longer than that.
    """

    targeted: int
    in_time: int

    @property
    def share(self) -> float | None:
        """Return the share of attempts in time; None if no attempt had a target."""
        return self.in_time / self.targeted if self.targeted else None

    @property
    def missed_share(self) -> float:
        return 1 - self.in_time / self.targeted if self.targeted else 0.0

    @property
    def in_words(self) -> str:
        """Return the share such as "99.9 %", rounded down: only all attempts are 100 %. "–" if none had a target."""
        return f"{1000 * self.in_time // self.targeted / 10:.1f} %" if self.targeted else "–"


@dataclass(frozen=True)
class Summary:
    """The attempts that ended, and the jobs that are under way now.

    outcomes: attempts by outcome.
    run_seconds: the time that the attempts ran, together.
    wait: from ready to start.
    process_wait: the part of it in which the tenants' own limits did not hold them.
    targeted: the attempts whose queue had a wait target when they started.
    in_time: those of them that waited for a process no longer than that.
    """

    outcomes: Mapping[str, int]
    run_seconds: float
    run: Times
    wait: Times
    process_wait: Times
    waiting: int
    running: int
    targeted: int
    in_time: int

    @property
    def kept(self) -> Kept:
        return Kept(self.targeted, self.in_time)


def summaries(
    ended: Iterable[EndedAttempts], under_way: Iterable[JobsUnderWay], *by: str
) -> dict[tuple[str, ...], Summary]:
    """Summarise by these fields, in their order: ("queue",), or ("source_type", "source_method")."""
    key = attrgetter(*by, "queue")  # at least two: then it returns a tuple
    there: dict[tuple[str, ...], tuple[list[EndedAttempts], list[JobsUnderWay]]] = defaultdict(lambda: ([], []))
    for attempts in ended:
        there[key(attempts)[:-1]][0].append(attempts)
    for other in under_way:
        there[key(other)[:-1]][1].append(other)
    return {name: _summary(*there[name]) for name in sorted(there)}


def _summary(ended: Sequence[EndedAttempts], under_way: Sequence[JobsUnderWay]) -> Summary:
    return Summary(
        outcomes={
            outcome: sum(attempts.attempts for attempts in ended if attempts.outcome == outcome) for outcome in OUTCOMES
        },
        run_seconds=sum(attempts.run_seconds for attempts in ended),
        run=Times.from_buckets(added(attempts.run_buckets for attempts in ended)),
        wait=Times.from_buckets(added(attempts.wait_buckets for attempts in ended)),
        process_wait=Times.from_buckets(added(attempts.process_wait_buckets for attempts in ended)),
        waiting=sum(jobs.waiting for jobs in under_way),
        running=sum(jobs.running for jobs in under_way),
        targeted=sum(attempts.targeted for attempts in ended),
        in_time=sum(attempts.in_time for attempts in ended),
    )
