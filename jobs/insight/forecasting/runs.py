"""Draw run times from the attempts that have ended."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log, sqrt
from random import Random
from statistics import fmean, pvariance

NEWEST = 200  # attempts to draw from: of a tenant's type, of a type, and of all
OF_TENANT, OF_TYPE = 30, 10  # attempts of the tenant's type, or of the type, that are enough to draw from
SPREAD = 0.2  # the spread of the common factor while the log is too short to estimate it
LEAST_SPREAD, MOST_SPREAD = 0.1, 0.5
MINUTES = 3  # the least minutes of attempts to estimate a spread from


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedAttempt:
    """An attempt. Its moments are in seconds; None: not yet, or not known.

    process: a number for the process that ran it; None: not known
    """

    tenant_id: int
    queue_id: int
    job_type: str
    ready_at: float | None
    claimed_at: float | None
    started_at: float | None
    ended_at: float | None
    process: int | None

    @property
    def seconds(self) -> float | None:
        """The run time in seconds; None: it has not ended, or its start is not known."""
        return None if self.ended_at is None or self.started_at is None else self.ended_at - self.started_at


@dataclass(frozen=True)
class Runs:
    """The run times of attempts in seconds, in ascending order.

    of_tenant: by tenant and job type
    of_type: by job type
    of_all: of all attempts
    """

    of_tenant: Mapping[tuple[int, str], Sequence[float]] = field(default_factory=dict)
    of_type: Mapping[str, Sequence[float]] = field(default_factory=dict)
    of_all: Sequence[float] = ()
    _means: dict[tuple[int, str], float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def like(self, tenant_id: int, job_type: str) -> Sequence[float]:
        """Return the run times to draw from: of the tenant's type; with too few, of the type; with too few, of all."""
        of_this = self.of_tenant.get((tenant_id, job_type), ())
        if len(of_this) >= OF_TENANT:
            return of_this
        same = self.of_type.get(job_type, ())
        return same if len(same) >= OF_TYPE else self.of_all

    def mean(self, tenant_id: int, job_type: str) -> float:
        """Return the mean of the run times to draw from, in seconds. Raises StatisticsError if there are none."""
        key = tenant_id, job_type
        if key not in self._means:
            self._means[key] = fmean(self.like(tenant_id, job_type))
        return self._means[key]


def collected(attempts: Iterable[TimedAttempt]) -> Runs:
    """Collect the run times of the newest attempts that have ended, at most NEWEST of each list.

    attempts: the newest first
    """
    of_tenant: dict[tuple[int, str], list[float]] = defaultdict(list)
    of_type: dict[str, list[float]] = defaultdict(list)
    of_all: list[float] = []
    for attempt in attempts:
        for kind in (of_tenant[attempt.tenant_id, attempt.job_type], of_type[attempt.job_type], of_all):
            if attempt.seconds is not None and len(kind) < NEWEST:
                kind.append(attempt.seconds)
    return Runs(
        {key: sorted(seconds) for key, seconds in of_tenant.items()},
        {key: sorted(seconds) for key, seconds in of_type.items()},
        sorted(of_all),
    )


def draw(random: Random, like: Sequence[float]) -> float:
    """Draw the run time of a job. Raises IndexError if there is nothing to draw from."""
    return like[int(random.random() * len(like))]


def draw_longer(random: Random, like: Sequence[float], age: float) -> float:
    """Draw the whole run time of a job that has run for `age` seconds, from the run times that are longer.

    If none is longer, it is at least `age`, and less than twice as long.
    """
    first = bisect_right(like, age)
    if first == len(like):
        return age * (1 + random.random())
    return like[first + int(random.random() * (len(like) - first))]


def common_factor(random: Random, spread: float) -> float:
    """Draw the factor that makes all jobs slower or faster at once, such as a busy machine.

    It does not average out over a line, as the run times of single jobs do.
    """
    return exp(spread * random.gauss(0.0, 1.0))


def spread(attempts: Iterable[TimedAttempt]) -> float:
    """Estimate how much the common factor varies from minute to minute: the deviation of its logarithm.

    Each run time is divided by the mean of its tenant's type. The estimate is the standard deviation of the logarithms
    of the minutes' means. The variance that chance alone gives to means of so few attempts is taken off first.
    """
    alike: dict[tuple[int, str], list[tuple[int, float]]] = defaultdict(list)
    for attempt in attempts:
        if attempt.ended_at is not None and attempt.seconds is not None:
            alike[attempt.tenant_id, attempt.job_type].append((int(attempt.ended_at // 60), attempt.seconds))
    of_minute: dict[int, list[float]] = defaultdict(list)
    for attempts_alike in alike.values():
        mean = fmean(seconds for _, seconds in attempts_alike)
        if mean > 0 and len(attempts_alike) >= OF_TYPE:
            for minute, seconds in attempts_alike:
                of_minute[minute].append(seconds / mean)
    minutes = [deviations for deviations in of_minute.values() if len(deviations) >= OF_TYPE and fmean(deviations) > 0]
    if len(minutes) < MINUTES:
        return SPREAD
    chance = fmean(pvariance(deviations) / len(deviations) / fmean(deviations) ** 2 for deviations in minutes)
    variance = pvariance([log(fmean(deviations)) for deviations in minutes])
    return min(max(sqrt(max(variance - chance, 0.0)), LEAST_SPREAD), MOST_SPREAD)
