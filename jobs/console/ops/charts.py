"""The charts of the pages: bars of ended attempts, lines of waiting times, strips and curves of use. Pure.

Bars and strips are SVG with tooltips, drawn once for all viewers: in a template the 900 values of a chart took 5 ms of
each refresh.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import log

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.reading.statistics import Times, added
from plumbing.text import duration

WIDTH, HEIGHT = 600.0, 100.0  # of a chart
KINDS = {"success": "good", "error": "bad", "dead": "bad", "crash": "bad"}  # the other outcomes: "calm"
ORDER = ("good", "calm", "bad")  # from below
OTHERS = {"calm": "to run again or cancelled", "bad": "failed or crashed"}
DAY = timedelta(days=1)
# Seconds, on the logarithmic scale of waits: an outlier does not flatten the other waits.
LABELS = ("0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d", "1 a")
MARKS = dict(zip((0.1, 1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000), LABELS, strict=True))
LEAST, APART = 0.1, 20.0  # seconds at the bottom of that scale; the height between two of its labels


@dataclass(frozen=True)
class Ended:
    """The attempts that ended in a step with one outcome; and a histogram of how long they had waited.

    at: the beginning of the step
    """

    at: datetime
    outcome: str
    attempts: int
    wait_buckets: Sequence[int]


@dataclass(frozen=True)
class Chart:
    """A chart of ended attempts and of their waits.

    bars: a bar for each step, linked to a search for its jobs
    total: the number of attempts
    failed: the attempts that failed or crashed
    again: the attempts after which the job goes on, or was cancelled
    top: the number at the top of the scale of the bars
    p50, p95: SVG paths of the waits, with gaps where nothing ended
    waits: the tooltip of each step
    marks: y and label of each mark on the scale of waits
    times: the percentiles of all waits
    moments: the times at the left, in the middle and at the right
    """

    bars: SafeString
    total: int
    failed: int
    again: int
    top: int
    p50: str
    p95: str
    waits: SafeString
    marks: list[tuple[float, str]]
    times: Times
    moments: list[str]
    steps: int

    @property
    def succeeded(self) -> int:
        return self.total - self.again - self.failed

    @property
    def half(self) -> int:
        return self.top // 2


def chart(ended: Iterable[Ended], since: datetime, step: timedelta, count: int, address: str = "?q=") -> Chart:
    """Draw a chart of `count` steps that begin at `since`.

    address: the address of the search for jobs, without the words for a step
    """
    by_step: list[list[Ended]] = [[] for _ in range(count)]
    for one in ended:
        place = (one.at - since) // step
        if 0 <= place < count:
            by_step[place].append(one)
    sums = [_sums(step_) for step_ in by_step]
    top = _round(max((sum(of.values()) for of in sums), default=0))
    times = [Times.from_buckets(added(one.wait_buckets for one in step_)) for step_ in by_step]
    longest = max((time.p95 for time in times if time.p95 is not None), default=0.0)
    most = next((mark for mark in MARKS if mark >= max(longest, 1)), max(MARKS))
    long = step * count > DAY
    return Chart(
        bars=format_html_join(
            "",
            '<a href="{}{}" data-n="{}" tabindex="-1"><title>{}</title>{}</a>',
            (
                (address, _search(since + place * step, step), place, _label(since + place * step, of), boxes)
                for place, of in enumerate(sums)
                if (boxes := _boxes(place, count, of, top))
            ),
        ),
        total=sum(sum(of.values()) for of in sums),
        failed=sum(of.get("bad", 0) for of in sums),
        again=sum(of.get("calm", 0) for of in sums),
        top=top,
        p50=path([_height(time.p50, most) for time in times]),
        p95=path([_height(time.p95, most) for time in times]),
        waits=format_html_join(
            "",
            '<g data-n="{}"><title>{}</title></g>',
            ((place, _waited(since + place * step, time)) for place, time in enumerate(times) if time.p95 is not None),
        ),
        marks=_marks(most),
        times=Times.from_buckets(added(one.wait_buckets for step_ in by_step for one in step_)),
        moments=[f"{since + part * step * count:{'%d %b %H:%M' if long else '%H:%M'}}" for part in (0, 0.5, 1)],
        steps=count,
    )


def _sums(ended: Iterable[Ended]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in ended:
        kind = KINDS.get(one.outcome, "calm")
        found[kind] = found.get(kind, 0) + one.attempts
    return found


def _round(most: int) -> int:
    """Return the least of 2, 4, 10, 20, 40, 100 ... that is not below `most`: its half is a whole number."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(power * digit for digit in (2, 4, 10) if power * digit >= most)


def _boxes(place: int, count: int, of: dict[str, int], top: int) -> SafeString:
    """Draw the bar of a step; "" if nothing ended.

    The script finds a low bar, too, when the pointer is somewhere above it.
    """
    width = WIDTH / count
    x, boxes, y = f"{(place + 0.1) * width:.4g}", [], HEIGHT
    for kind in ORDER:
        if of.get(kind):
            height = of[kind] / top * HEIGHT
            y -= height
            boxes.append((kind, x, f"{round(y, 1):g}", f"{width * 0.8:.4g}", f"{round(height, 1):g}"))
    return format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', boxes)


def _label(at: datetime, of: dict[str, int]) -> str:
    other = ", ".join(f"{of[kind]:,} {words}" for kind, words in OTHERS.items() if of.get(kind))
    return f"{at:%H:%M}: {sum(of.values()):,} ended{other and ', '}{other}"


def _search(at: datetime, step: timedelta) -> str:
    return f"ended_since:{at:%Y-%m-%dT%H:%M}+ended_until:{at + step:%Y-%m-%dT%H:%M}"


def _waited(at: datetime, time: Times) -> str:
    return f"{at:%H:%M}: half waited at most {duration(time.p50 or 0)}, 95 of 100 at most {duration(time.p95 or 0)}"


def _height(seconds: float | None, most: float) -> float | None:
    """Return the height of a wait on the scale of waits, from 0 to 1."""
    return None if seconds is None else log(max(seconds, LEAST) / LEAST) / log(most / LEAST)


def _marks(most: float) -> list[tuple[float, str]]:
    """Return y and label of the marks on the scale of waits, from the top, as many as have room."""
    found: list[tuple[float, str]] = []
    for mark, label in reversed(MARKS.items()):
        y = HEIGHT * (1 - (_height(mark, most) or 0))
        if mark <= most and (not found or y - found[-1][0] >= APART):
            found.append((round(y, 1), label))
    return found


def path(values: Sequence[float | None]) -> str:
    """Draw a line through the middles of the steps, as an SVG path; a lone value is a dash as wide as its step."""
    width, parts, drawing = WIDTH / max(len(values), 1), [], False
    for place, value in enumerate(values):
        if value is None:
            drawing = False
            continue
        y = HEIGHT - value * HEIGHT
        lone = not drawing and (place + 1 == len(values) or values[place + 1] is None)
        if lone:
            parts.append(f"M{place * width:.1f} {y:.1f}h{width:.1f}")
        else:
            parts.append(f"{'L' if drawing else 'M'}{(place + 0.5) * width:.1f} {y:.1f}")
        drawing = True
    return "".join(parts)


LEVELS = ("some", "much", "full")  # levels of use
MUCH, FULL = 0.5, 0.95  # shares from which a level begins; "some": above nothing
CURVE_HEIGHT = 20


def strip(shares: Sequence[float | None]) -> SafeString:
    """Draw a strip of these shares (0 to 1), a path for each level; "" if no share is known.

    shares: one for each step; None: unknown
    """
    levels = [None if share is None else _level(share) for share in shares]
    known = len(levels) - levels.count(None)
    if not known:
        return SafeString()
    paths = ((level, path) for level in LEVELS if (path := _runs(levels, level)))
    return format_html(
        '<svg class="strip" viewBox="0 0 {steps} 1" preserveAspectRatio="none" role="img" aria-label="{words}">'
        "<title>{words}</title>{paths}</svg>",
        steps=len(shares),
        words=f"Full for {levels.count('full')} of {known} samples",
        paths=format_html_join("", '<path class="{}" d="{}"/>', paths),
    )


def _level(share: float) -> str:
    if share >= FULL:
        return "full"
    if share >= MUCH:
        return "much"
    return "some" if share > 0 else ""


def _runs(levels: Sequence[str | None], level: str) -> str:
    """Draw one rectangle for each sequence of steps of this level, so that the SVG of a quiet strip is short."""
    parts, place = [], 0
    for one, steps in groupby(levels):
        length = len(list(steps))
        if one == level:
            parts.append(f"M{place} 0h{length}v1h-{length}z")
        place += length
    return "".join(parts)


def curve(values: Sequence[float | None], words: str = "") -> SafeString:
    """Draw the area below these values, one for each step; "" if none is above 0.

    words: text for screen readers
    """
    most = max((value for value in values if value is not None), default=0)
    if not most:
        return SafeString()
    heights = [CURVE_HEIGHT - round((value or 0) / most * CURVE_HEIGHT, 1) for value in values]
    tops = "".join(f"V{height:g}h1" for height in heights)
    return format_html(
        '<svg class="curve" viewBox="0 0 {} {height}" preserveAspectRatio="none" {}>'
        '<path d="M0 {height}{}V{height}z"/></svg>',
        len(values),
        format_html('role="img" aria-label="{}"', words) if words else SafeString('aria-hidden="true"'),
        tops,
        height=CURVE_HEIGHT,
    )
