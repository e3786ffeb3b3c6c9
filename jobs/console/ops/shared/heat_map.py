"""Draw how long jobs waited, by the hour, as a table whose cells are the darker the longer it was. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.reading.statistics import Times, added
from plumbing.text import duration, printable

HOUR, HOURS = timedelta(hours=1), 24
ROWS = 10  # with links for a day they weigh some 35 KB
SHADES = (1.0, 10.0, 60.0, 600.0, 3600.0)  # seconds from which the next shade begins: those of the chart of waits
LONGEST = 30  # characters of a name


@dataclass(frozen=True)
class WaitsInHour:
    """The attempts that ended in an hour, and how long they had waited."""

    attempts: int
    wait: Times

    @classmethod
    def of(cls, counted: Iterable[tuple[int, Sequence[int]]]) -> "WaitsInHour":
        """Add up numbers of attempts and histograms of their waits."""
        parts = list(counted)
        return cls(sum(number for number, _ in parts), Times.from_buckets(added(buckets for _, buckets in parts)))


@dataclass(frozen=True)
class HeatRow:
    """A queue or a tenant.

    word: finds its jobs in a search
    """

    name: str
    word: str
    hours: Mapping[datetime, WaitsInHour]

    @property
    def longest(self) -> float:
        """Return the longest p95 of its hours, in seconds."""
        return max((one.wait.p95 or 0.0 for one in self.hours.values()), default=0.0)


def last_hours(now: datetime) -> list[datetime]:
    """Return the begins of the last HOURS hours, the present one included."""
    present = now.replace(minute=0, second=0, microsecond=0)
    return [present - back * HOUR for back in reversed(range(HOURS))]


def heat_map(rows: Iterable[HeatRow], hours: Sequence[datetime], jobs: str) -> SafeString:
    """Draw the ROWS rows that waited longest; "" if nothing ended.

    jobs: the address of the list of jobs; "" for users who may not see jobs
    """
    longest = sorted((row for row in rows if row.hours), key=lambda row: (-row.longest, row.name))[:ROWS]
    if not longest:
        return SafeString()
    return format_html(
        '<table class="heat"><thead><tr><td></td>{}</tr></thead><tbody>{}</tbody></table>',
        format_html_join("", '<th scope="col">{}</th>', ((f"{hour:%H}",) for hour in hours)),
        format_html_join(
            "",
            '<tr><th scope="row" class="name">{}</th>{}</tr>',
            ((_short(row.name), SafeString("".join(_cell(row, hour, jobs) for hour in hours))) for row in longest),
        ),
    )


def _cell(row: HeatRow, hour: datetime, jobs: str) -> SafeString:
    ended = row.hours.get(hour)
    if ended is None or ended.wait.p95 is None:
        return SafeString("<td></td>")
    shade = sum(ended.wait.p95 >= seconds for seconds in SHADES)
    told = f"{hour:%H:%M}: {ended.attempts:,} attempts"
    shown = duration(ended.wait.p95, tight=True).replace("0.0s", "0s")
    if not jobs:
        return format_html('<td class="shade-{}" title="{}">{}</td>', shade, told, shown)
    time = f"ended_since:{hour:%Y-%m-%dT%H:%M}+ended_until:{hour + HOUR:%Y-%m-%dT%H:%M}"
    address = f"{jobs}?q={quote(row.word, safe=':')}+{time}"
    return format_html('<td class="shade-{}"><a href="{}" title="{}">{}</a></td>', shade, address, told, shown)


def _short(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
