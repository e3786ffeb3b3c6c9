"""The due times of a recurring job: every so many seconds, or by a cron expression in a time zone. Pure.

`cronsim` interprets cron expressions. At a change to or from summer time it follows Debian's cron. A time that does not
exist is due right after the gap, and one that exists twice is due once. `*` in minute or hour follows the elapsed time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from jobs.authoring.cron_words import cron_in_words
from plumbing.bounds import MAX_SECONDS, is_number

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
CATCH_UP = ("none", "one", "all")  # which times run that were missed in an outage
OVERLAP = ("skip", "queue", "cancel")  # what happens at a due time while the previous run is not over
CATCH_UP_HELP = "Which of the times missed in an outage still run: none, the last one, or all up to a hundred."
OVERLAP_HELP = "While the previous run is not over: skip a time, queue a run behind it, or cancel it."
CRON_FIELDS = 5  # minute, hour, day of the month, month, day of the week
MIN_INTERVAL = 1.0  # seconds between two due times
GOLDEN_RATIO = (math.sqrt(5) - 1) / 2  # multiples of it are spread evenly over 0..1 (Knuth, TAOCP 3, 6.4)


class InvalidRecurrence(ValueError):
    """The rule of a recurring job is invalid.

    field: the field to correct: "every", "cron" or "tz".
    message: the mistake, and the allowed values.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field, self.message = field, message


@dataclass(frozen=True, kw_only=True)
class Recurrence:
    """A checked rule. Raises InvalidRecurrence.

    every: seconds between due times; None: `cron` decides.
    cron: five fields, or `@daily` and the like; "": `every` decides.
    tz: the time zone of `cron`.
    anchor: the due times of `every` are whole periods before or after this moment.
    """

    every: float | None = None
    cron: str = ""
    tz: str = "UTC"
    anchor: datetime = datetime(2000, 1, 1, tzinfo=UTC)

    def __post_init__(self) -> None:
        if (self.every is None) == (not self.cron):
            raise InvalidRecurrence("every", "give either every or cron")
        if self.every is not None:
            if not is_number(self.every, MIN_INTERVAL, MAX_SECONDS):
                raise InvalidRecurrence(
                    "every",
                    f"must be a number of seconds from {MIN_INTERVAL:g} to {MAX_SECONDS:.0f}, not {self.every!r}",
                )
            return
        zone = _zone(self.tz)
        try:
            first = next(CronSim(self._fields(), self.anchor.astimezone(zone)), None)
        except CronSimError as error:
            raise InvalidRecurrence("cron", f"{self.cron!r} is not a cron expression: {_lower(str(error))}") from None
        if first is None:
            raise InvalidRecurrence("cron", f"{self.cron!r} is never due")

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Yield the due times later than that moment, in order, in UTC."""
        if self.every is not None:
            period = timedelta(seconds=self.every)
            due = _before(moment, self.anchor, period)
            while True:
                yield (due := due + period)
        for due in CronSim(self._fields(), moment.astimezone(_zone(self.tz))):
            yield due.astimezone(UTC)

    def last(self, limit: int, since: datetime, upto: datetime) -> list[datetime]:
        """Return the last `limit` due times from `since` to `upto`, both included, in order.

        The cost depends on `limit`, not on the length of the period.
        """
        latest = takewhile(lambda moment: moment >= since, self._backwards(upto))
        return list(islice(latest, limit))[::-1]

    def in_words(self) -> str:
        """Return the rule for people: "Every 15 minutes", or "At 06:00 AM, Monday through Friday (Europe/Berlin)"."""
        if self.every is not None:
            return f"Every {_length(self.every)}"
        return f"{cron_in_words(self._fields())} ({self.tz})"

    def _backwards(self, upto: datetime) -> Iterator[datetime]:
        if self.every is not None:
            period = timedelta(seconds=self.every)
            due = _before(upto, self.anchor, period)
            while True:
                yield due
                due -= period
        minute = timedelta(minutes=1)  # cronsim begins with the minute before
        for due in CronSim(self._fields(), (upto + minute).astimezone(_zone(self.tz)), reverse=True):
            if (moment := due.astimezone(UTC)) <= upto:
                yield moment

    def _fields(self) -> str:
        expression = MACROS.get(self.cron.strip().lower(), self.cron)
        if len(expression.split()) != CRON_FIELDS:
            fields = f"it takes five fields, or one of {', '.join(MACROS)}"
            raise InvalidRecurrence("cron", f"{self.cron!r} is not a cron expression: {fields}")
        return expression


def offset(number: int, jitter: float) -> timedelta:
    """Return the delay of the schedule with that number: less than `jitter` seconds, and always the same."""
    return timedelta(seconds=jitter * (number * GOLDEN_RATIO % 1.0))


def _before(moment: datetime, anchor: datetime, period: timedelta) -> datetime:
    """Return the last due time up to that moment, in UTC. In a time zone, Python would subtract wall-clock times."""
    moment = moment.astimezone(UTC)
    return moment - (moment - anchor) % period


def _length(seconds: float) -> str:
    """Return a length in words: "1 minute 30 seconds" for 90; "hour" for 3600, to read "every hour"."""
    whole, fraction = divmod(seconds, 1)
    minutes, rest = divmod(int(whole), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute"), (round(rest + fraction, 6), "second")]
    texts = [f"{number:.15g} {unit}{'' if number == 1 else 's'}" for number, unit in parts if number]
    return texts[0].removeprefix("1 ") if len(texts) == 1 else " ".join(texts)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidRecurrence("tz", f"{name!r} is not a time zone; use a name like Europe/Berlin") from None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
