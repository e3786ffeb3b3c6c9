"""Read the past of a job type: of the minutes that the recorder counted, and of the log of attempts a bounded part."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import quote

from jobs.console.ops.shared import present_queries
from jobs.console.ops.shared.ended_chart import MANY_FAILED, Chart, EndedInStep, chart, is_failure
from jobs.console.ops.shared.history import MINUTE, AskedPeriod
from jobs.console.ops.shared.run_times import RunTimes, histogram
from jobs.lifecycle import Status
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading.looking import Tenant
from jobs.reading.statistics import OUTCOMES, Times, added
from plumbing.error_shapes import shape

DAY = timedelta(days=1)
KEPT = 3 * DAY  # for which minutes are kept
MAX_READ = 100_000  # attempts of all types that are read for the tenants and the errors of one
MINUTES = (200, 1_440)  # in which they are looked for; the second if the first have few
MAX_TENANTS = 20
MAX_FAILURES = 500  # the latest, whose errors are grouped
FAILURES = [outcome for outcome in OUTCOMES if is_failure(outcome)]


class TypeName(NamedTuple):
    """The name of a job type, as the columns of jobs have it."""

    source_type: str
    source_method: str

    def __str__(self) -> str:
        return ".".join(self)


@dataclass(frozen=True)
class EndedOfType(EndedInStep):
    """The attempts of a job type that ended in a step with one outcome.

    run_seconds: how long they ran, together
    run_buckets: the histogram of that
    process_wait_buckets: the histogram of the part of their waits in which no limit of their tenants held them
    """

    run_seconds: float
    run_buckets: Sequence[int]
    process_wait_buckets: Sequence[int]


@dataclass(frozen=True)
class TypeNumbers:
    """The attempts of a job type in a period.

    errors: those that ended their jobs as `error`
    process_wait: the part of their waits in which no limit of their tenants held them
    run_seconds: how long they ran, together
    """

    attempts: int
    failed: int
    errors: int
    run: Times
    wait: Times
    process_wait: Times
    run_seconds: float

    @property
    def many_failed(self) -> bool:
        return self.failed > MANY_FAILED * self.attempts

    @classmethod
    def of(cls, ended: Sequence[EndedOfType]) -> "TypeNumbers":
        return cls(
            sum(one.attempts for one in ended),
            sum(one.attempts for one in ended if is_failure(one.outcome)),
            sum(one.attempts for one in ended if one.outcome == Status.ERROR),
            Times.from_buckets(added(one.run_buckets for one in ended)),
            Times.from_buckets(added(one.wait_buckets for one in ended)),
            Times.from_buckets(added(one.process_wait_buckets for one in ended)),
            sum(one.run_seconds for one in ended),
        )


@dataclass(frozen=True)
class TypePast:
    """The ended attempts of a job type in a period.

    now: the numbers of the period
    before: those of the same time a day earlier; None if the minutes of then are gone, or nothing ended
    runs: the histogram of run times; None if nothing ended
    """

    chart: Chart
    now: TypeNumbers
    before: TypeNumbers | None
    runs: RunTimes | None


@cached(PAST_SECONDS, before=None)
def past(name: TypeName, period: AskedPeriod, jobs: str) -> TypePast | None:
    """Read the past of a job type; None if that takes too long.

    jobs: the address of the list of jobs
    """
    begin, end, step = period.begin, period.end, period.step
    ended = _ended(name, begin, end, step)
    before = [] if end - begin + DAY > KEPT else _ended(name, begin - DAY, end - DAY, step)
    drawing = chart(ended, begin, step, period.steps, f"{jobs}?q=type:{quote(str(name))}+", before=before)
    by_outcome: dict[str, list[Sequence[int]]] = defaultdict(list)
    for one in ended:
        by_outcome[one.outcome].append(one.run_buckets)
    runs = histogram({outcome: added(rows) for outcome, rows in by_outcome.items()})
    return TypePast(drawing, TypeNumbers.of(ended), TypeNumbers.of(before) if before else None, runs)


def _ended(name: TypeName, since: datetime, until: datetime, step: timedelta) -> list[EndedOfType]:
    asked = {"since": since, "until": until, "step": step, **name._asdict()}
    return present_queries.look_objects(EndedOfType, "look_type", **asked)


@dataclass(frozen=True)
class OfTenant:
    """The attempts of a job type of one tenant.

    run_seconds: how long they ran, together
    ran, waited: the p95 of run times and waits, in seconds
    tenants, together: the tenants that have attempts of the type, and all their attempts
    """

    tenant_id: int
    attempts: int
    failed: int
    run_seconds: float
    ran: float | None
    waited: float | None
    tenants: int
    together: int


@dataclass(frozen=True)
class FailedLike:
    """Failed attempts whose errors have one shape.

    error: the whole text of the latest
    """

    like: str
    error: str
    attempts: int
    tenants: int
    last: datetime


@dataclass(frozen=True)
class Lately:
    """The latest attempts of a job type, from the log of attempts.

    since: from when on; None: of the whole period
    tenants: the MAX_TENANTS with most attempts
    errors: the failed attempts by the shape of their error, the most first; of the latest MAX_FAILURES
    """

    since: datetime | None
    tenants: list[tuple[Tenant, OfTenant]]
    errors: list[FailedLike]

    @property
    def all_tenants(self) -> int:
        return self.tenants[0][1].tenants if self.tenants else 0

    @property
    def attempts(self) -> int:
        return self.tenants[0][1].together if self.tenants else 0


@cached(PAST_SECONDS, before=None)
def lately(name: TypeName, period: AskedPeriod) -> Lately | None:
    """Read the latest attempts of a job type in a period; None if that takes too long."""
    asked = {"since": period.begin, "until": period.end, **name._asdict()}
    for most in MINUTES:
        minutes = present_queries.look("look_type_minutes", **asked, most=most)
        if len(minutes) < most or sum(attempts for _, attempts in minutes) >= MAX_READ:
            break
    times = times_to_read(minutes)
    if not times:
        return Lately(None, [], [])
    read = {"begins": [begin for begin, _ in times], "ends": [end for _, end in times], "failures": FAILURES}
    of_tenants = present_queries.look_objects(OfTenant, "look_type_tenants", **read, **name._asdict(), most=MAX_TENANTS)
    failures = present_queries.look("look_type_failures", **read, **name._asdict(), most=MAX_FAILURES)
    tenants = present_queries.tenants({one.tenant_id for one in of_tenants})
    missed = len(minutes) == most or minutes[-1][0] < times[-1][0]
    return Lately(
        times[-1][0] if missed else None,
        [(tenants[one.tenant_id], one) for one in of_tenants if one.tenant_id in tenants],
        by_shape(failures),
    )


def times_to_read(minutes: Sequence[tuple[Any, ...]]) -> list[tuple[datetime, datetime]]:
    """Return the times in which the log is read, latest first: the latest minutes, as many as have MAX_READ attempts.

    At least one, if there is any.

    minutes: those in which the type ended, each with its attempts of all types; latest first
    """
    times: list[tuple[datetime, datetime]] = []
    left = MAX_READ
    for minute, attempts in minutes:
        left -= attempts
        if times and left < 0:
            break
        if times and times[-1][0] == minute + MINUTE:
            times[-1] = minute, times[-1][1]
        else:
            times.append((minute, minute + MINUTE))
    return times


def by_shape(failures: Iterable[tuple[Any, ...]]) -> list[FailedLike]:
    """Group failed attempts by the shape of their error, the most first.

    failures: tenant, end and error of each, the latest first
    """
    grouped: Mapping[str, list[tuple[Any, ...]]] = defaultdict(list)
    for failure in failures:
        grouped[shape(failure[-1])].append(failure)
    found = [
        FailedLike(like, rows[0][-1], len(rows), len({tenant for tenant, *_ in rows}), rows[0][1])
        for like, rows in grouped.items()
    ]
    return sorted(found, key=lambda one: -one.attempts)
