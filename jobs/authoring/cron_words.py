"""Put a cron expression into English: the usual forms in words, every other form unchanged. Pure.

Inexact words would be worse than none: `*/7` is not every seven minutes, since the count begins anew each hour.
"""

import re
from collections.abc import Iterable
from itertools import product

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
NUMBER_OF = {name[:3].upper(): str(number) for number, name in enumerate(DAYS)}
NUMBER_OF |= {name[:3].upper(): str(number) for number, name in enumerate(MONTHS, 1)}
MOST_TIMES = 4  # times of a day that are listed one by one


def cron_in_words(expression: str) -> str:
    """Return a valid expression of five fields in words: "At 06:00 AM, Monday through Friday"."""
    fields = re.sub(r"[A-Z]{3}", lambda name: NUMBER_OF[name[0]], expression.upper()).split()
    minute, hour, day, month, weekday = fields
    parts = [_time(minute, hour), _day(day, weekday), _month(month)]
    return expression if None in parts else ", ".join(part for part in parts if part)


def _time(minute: str, hour: str) -> str | None:
    minutes, hours = _numbers(minute), _numbers(hour)
    if minutes and hours and len(minutes) * len(hours) <= MOST_TIMES:
        return f"At {_all(_clock(*moment) for moment in product(hours, minutes))}"
    if minute == "0" and (step := _step(hour, 24)):
        return f"Every {step} hours" if step > 1 else "Every hour"
    if (within := _within_hour(minute, minutes)) is None or hour == "*":
        return within
    if (span := _span(hour)) is None:
        return None
    return f"{within}, between {_clock(span[0], 0)} and {_clock(span[1], 59)}"


def _within_hour(minute: str, minutes: list[int]) -> str | None:
    if step := _step(minute, 60):
        return f"Every {step} minutes" if step > 1 else "Every minute"
    if len(minutes) != 1:
        return None
    return f"At {minutes[0]} minute{'' if minutes == [1] else 's'} past the hour" if minutes[0] else "Every hour"


def _day(day: str, weekday: str) -> str | None:
    if day == "*":
        if span := _span(weekday):
            return f"{DAYS[span[0] % 7]} through {DAYS[span[1] % 7]}"
        days = sorted({number % 7 for number in _numbers(weekday)})
        return f"only on {_all(DAYS[number] for number in days)}" if days else _nothing(weekday)
    if weekday != "*":
        return None  # cron is due if either of the two fits
    if span := _span(day):
        return f"between day {span[0]} and {span[1]} of the month"
    days = _numbers(day)
    return f"on day{'s' * (len(days) > 1)} {_all(map(str, days))} of the month" if days else None


def _month(month: str) -> str | None:
    if span := _span(month):
        return f"{MONTHS[span[0] - 1]} through {MONTHS[span[1] - 1]}"
    months = _numbers(month)
    return f"only in {_all(MONTHS[number - 1] for number in months)}" if months else _nothing(month)


def _nothing(field: str) -> str | None:
    return "" if field == "*" else None


def _numbers(field: str) -> list[int]:
    """Return the numbers of a list, sorted: [1, 15] for "15,1". Another form gives an empty list."""
    return sorted({int(number) for number in field.split(",")}) if re.fullmatch(r"[\d,]+", field) else []


def _span(field: str) -> tuple[int, int] | None:
    """Return both ends of a range such as "1-5"; None for other forms.

    None also for "5-5", and for "0-7", which begins and ends with Sunday.
    """
    match = re.fullmatch(r"(\d+)-(\d+)", field)
    span = (int(match[1]), int(match[2])) if match else (0, 0)
    return span if span[0] < span[1] and span != (0, 7) else None


def _step(field: str, whole: int) -> int:
    """Return the step of a field: 1 for "*", 5 for "*/5". 0 for other forms, or if the step does not divide `whole`."""
    match = re.fullmatch(r"\*(?:/(\d+))?", field)
    step = int(match[1] or 1) if match else 0
    return step if step and whole % step == 0 else 0


def _clock(hour: int, minute: int) -> str:
    return f"{hour % 12 or 12:02}:{minute:02} {'AM' if hour < 12 else 'PM'}"  # noqa: PLR2004


def _all(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
