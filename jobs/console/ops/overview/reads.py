"""Read the ended and the failed attempts that the overview shows; the recorder has counted them (ADR 0019)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from jobs.console.ops.shared import history, present_queries
from jobs.console.ops.shared.ended_chart import DAY, Chart, EndedInStep, chart, is_failure
from jobs.console.ops.shared.history import MINUTE, ChartPeriod
from jobs.pages.cached import PAST_SECONDS, cached

RANGES = {  # a step, and the number of steps; minutes are kept for three days
    **{"1h": (MINUTE, 60), "6h": (6 * MINUTE, 60), "24h": (24 * MINUTE, 60), "3d": (72 * MINUTE, 60)},
}
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
    """

    period: ChartPeriod
    begin: str
    end: str
    chart: Chart | None
    failing: list[FailingType] | None

    @property
    def search(self) -> str:
        """Return the words of a search for jobs that ended in the period."""
        return f"ended_since:{self.begin} ended_until:{self.end}"


def past(asked: Mapping[str, str], jobs: str) -> OverviewPast:
    """Return the ended attempts of the period that a query asks for.

    asked: the `range`, one of RANGES; and the minute `until` which it lasts, in UTC, if that is not now
    jobs: the address of the list of jobs
    """
    length = asked.get("range", "")
    length = length if length in RANGES else next(iter(RANGES))
    step, count = RANGES[length]
    until, now = _minute(asked.get("until", "")), history.minute()
    until = until if until and now - history.KEPT < until < now else None
    end, whole = until or now, step * count
    earlier, later = end - whole / 2, end + whole / 2
    period = ChartPeriod(
        length, RANGES, step.total_seconds(), until, _written(earlier), _written(later) if later < now else None
    )
    ended, failing = ended_chart(length, until, jobs), failing_types(length, until)
    return OverviewPast(period, _written(end - whole), _written(end), ended, failing)


def _minute(text: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).replace(second=0, microsecond=0)
    return None


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M}"


def _steps(length: str, until: datetime | None) -> tuple[datetime, datetime, timedelta, int]:
    """Return the begin and the end of a period, the length of its steps and their number."""
    step, count = RANGES[length]
    end = until or history.minute()
    return end - count * step, end, step, count


@cached(PAST_SECONDS, before=None)
def ended_chart(length: str, until: datetime | None, jobs: str) -> Chart | None:
    """Draw the chart of all ended attempts.

    length: one of RANGES
    until: the minute at which it ends; None for this minute
    jobs: the address of the list of jobs
    """
    begin, end, step, count = _steps(length, until)
    ended = present_queries.look_objects(EndedInStep, "look_minutes", since=begin, until=end, step=step)
    # Its steps begin where those of the day do, so that many charts share a read; they differ by less than a step.
    before = ended_before(length, begin - (begin - datetime.min.replace(tzinfo=UTC)) % step - DAY)
    return chart(ended, begin, step, count, f"{jobs}?q=", before=before)


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
def failing_types(length: str, until: datetime | None = None) -> list[FailingType] | None:
    """Return the job types with the most failed attempts.

    length, until: as in `ended_chart`
    """
    begin, end, _, _ = _steps(length, until)
    return most_failing(present_queries.look("look_failing", since=begin, until=end))


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
