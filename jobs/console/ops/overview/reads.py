"""Read the ended and the failed attempts that the overview shows; the recorder has counted them (ADR 0019)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from jobs.console.ops.shared import present_queries
from jobs.console.ops.shared.ended_chart import DAY, Chart, EndedInStep, chart, is_failure
from jobs.console.ops.shared.history import RANGES, AskedPeriod, ChartPeriod, written
from jobs.pages.cached import PAST_SECONDS, cached

BEFORE_SECONDS = 600.0  # for which what ended the day before is kept: it does not change
MAX_FAILING = 5  # job types that are listed


class FailingType(NamedTuple):
    """A job type, with the number of its failed attempts and of all its attempts."""

    name: str
    failed: int
    attempts: int


@dataclass(frozen=True)
class OverviewPast:
    """The attempts that ended in a period. A part is None if it could not be read in time.

    begin, end: the moments of the period, as a search takes them
    search: the words of a search for jobs that ended in the period
    """

    period: ChartPeriod
    begin: str
    end: str
    search: str
    chart: Chart | None
    failing: list[FailingType] | None


def past(asked: Mapping[str, str], jobs: str) -> OverviewPast:
    """Return the ended attempts of the period that a query asks for, by default of an hour.

    jobs: the address of the list of jobs
    """
    period = AskedPeriod.asked(asked, next(iter(RANGES)))
    begin, end = written(period.begin), written(period.end)
    return OverviewPast(period.of_chart, begin, end, period.search, ended_chart(period, jobs), failing_types(period))


@cached(PAST_SECONDS, before=None)
def ended_chart(period: AskedPeriod, jobs: str) -> Chart | None:
    """Draw the chart of all ended attempts.

    jobs: the address of the list of jobs
    """
    begin, step = period.begin, period.step
    ended = present_queries.look_objects(EndedInStep, "look_minutes", since=begin, until=period.end, step=step)
    # Its steps begin where those of the day do, so that many charts share a read; they differ by less than a step.
    before = ended_before(period.length, begin - (begin - datetime.min.replace(tzinfo=UTC)) % step - DAY)
    return chart(ended, begin, step, period.steps, f"{jobs}?q=", before=before)


@cached(BEFORE_SECONDS, before=())
def ended_before(length: str, begin: datetime) -> Sequence[EndedInStep]:
    """Return the attempts that ended in a period of the day before; none of a period that is longer than a day.

    length: one of RANGES
    """
    step, count = RANGES[length]
    if step * count > DAY:
        return ()
    end = begin + (count + 1) * step
    return present_queries.look_objects(EndedInStep, "look_minutes", since=begin, until=end, step=step)


@cached(PAST_SECONDS, before=None)
def failing_types(period: AskedPeriod) -> list[FailingType] | None:
    """Return the job types with the most failed attempts."""
    return most_failing(present_queries.look("look_failing", since=period.begin, until=period.end))


def most_failing(ended: Iterable[tuple[Any, ...]]) -> list[FailingType]:
    """Return the job types with the most failed attempts.

    ended: source type, method, outcome and number of attempts
    """
    failed: dict[str, int] = defaultdict(int)
    attempts: dict[str, int] = defaultdict(int)
    for source_type, method, outcome, number in ended:
        name = f"{source_type}.{method}"
        attempts[name] += number
        failed[name] += number if is_failure(outcome) else 0
    names = sorted((name for name, count in failed.items() if count), key=lambda name: (-failed[name], name))
    return [FailingType(name, failed[name], attempts[name]) for name in names[:MAX_FAILING]]
