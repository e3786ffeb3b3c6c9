"""Draw the charts of ended attempts and of their waits. Pure.

The bars are SVG with tooltips, drawn once for all viewers: in a template the 900 values of a chart took 5 ms of
each refresh.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from jobs.reading.statistics import Times, added
from plumbing.text import duration

WIDTH, HEIGHT = 600.0, 100.0  # of a chart
KINDS = {"success": "good", "error": "bad", "dead": "bad", "crash": "bad"}  # the other outcomes: "calm"
ORDER = ("good", "calm", "bad")  # from below
OTHERS = {"calm": "to run again or cancelled", "bad": "failed or crashed"}
MANY_FAILED = 0.05  # of the attempts, for failures to stand out
DAY = timedelta(days=1)
# Seconds, on the logarithmic scale of waits: an outlier does not flatten the other waits.
LABELS = ("0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d", "1 a")
MARKS = dict(zip((0.1, 1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000), LABELS, strict=True))
LEAST, APART = 0.1, 20.0  # seconds at the bottom of that scale; the height between two of its labels


@dataclass(frozen=True)
class EndedInStep:
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


def chart(ended: Iterable[EndedInStep], since: datetime, step: timedelta, count: int, address: str = "?q=") -> Chart:
    """Draw a chart of `count` steps that begin at `since`.

    address: the address of the search for jobs, without the words for a step
    """
    by_step: list[list[EndedInStep]] = [[] for _ in range(count)]
    for attempts in ended:
        place = (attempts.at - since) // step
        if 0 <= place < count:
            by_step[place].append(attempts)
    sums = [_sums(in_step) for in_step in by_step]
    top = round_top(max((sum(numbers.values()) for numbers in sums), default=0))
    times = [Times.from_buckets(added(attempts.wait_buckets for attempts in in_step)) for in_step in by_step]
    longest = max((time.p95 for time in times if time.p95 is not None), default=0.0)
    most = next((mark for mark in MARKS if mark >= max(longest, 1)), max(MARKS))
    long = step * count > DAY
    return Chart(
        bars=format_html_join(
            "",
            '<a href="{}{}" data-n="{}" tabindex="-1"><title>{}</title>{}</a>',
            (
                (address, _search(since + place * step, step), place, _label(since + place * step, numbers), boxes)
                for place, numbers in enumerate(sums)
                if (boxes := _boxes(place, count, numbers, top))
            ),
        ),
        total=sum(sum(numbers.values()) for numbers in sums),
        failed=sum(numbers.get("bad", 0) for numbers in sums),
        again=sum(numbers.get("calm", 0) for numbers in sums),
        top=top,
        p50=path([_height(time.p50, most) for time in times]),
        p95=path([_height(time.p95, most) for time in times]),
        waits=format_html_join(
            "",
            '<g data-n="{}"><title>{}</title></g>',
            ((place, _waits(since + place * step, time)) for place, time in enumerate(times) if time.p95 is not None),
        ),
        marks=_marks(most),
        times=Times.from_buckets(added(attempts.wait_buckets for in_step in by_step for attempts in in_step)),
        moments=[f"{since + part * step * count:{'%d %b %H:%M' if long else '%H:%M'}}" for part in (0, 0.5, 1)],
        steps=count,
    )


def _sums(ended: Iterable[EndedInStep]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for attempts in ended:
        kind = KINDS.get(attempts.outcome, "calm")
        sums[kind] = sums.get(kind, 0) + attempts.attempts
    return sums


def is_failure(outcome: str) -> bool:
    """Return whether an attempt with this outcome failed, be it that its job runs again."""
    return KINDS.get(outcome, outcome) in ("bad", "retry")


def round_top(most: int) -> int:
    """Return the least of 2, 4, 10, 20, 40, 100 ... that is not below `most`: its half is a whole number."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(power * digit for digit in (2, 4, 10) if power * digit >= most)


def _boxes(place: int, count: int, numbers: dict[str, int], top: int) -> SafeString:
    """Draw the bar of a step; "" if nothing ended.

    The script finds a low bar, too, when the pointer is somewhere above it.
    """
    width = WIDTH / count
    x, boxes, y = f"{(place + 0.1) * width:.4g}", [], HEIGHT
    for kind in ORDER:
        if numbers.get(kind):
            height = numbers[kind] / top * HEIGHT
            y -= height
            boxes.append((kind, x, f"{round(y, 1):g}", f"{width * 0.8:.4g}", f"{round(height, 1):g}"))
    return format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', boxes)


def _label(at: datetime, numbers: dict[str, int]) -> str:
    other = ", ".join(f"{numbers[kind]:,} {words}" for kind, words in OTHERS.items() if numbers.get(kind))
    return f"{at:%H:%M}: {sum(numbers.values()):,} ended{other and ', '}{other}"


def _search(at: datetime, step: timedelta) -> str:
    return f"ended_since:{at:%Y-%m-%dT%H:%M}+ended_until:{at + step:%Y-%m-%dT%H:%M}"


def _waits(at: datetime, time: Times) -> str:
    return f"{at:%H:%M}: half waited at most {duration(time.p50 or 0)}, 95 of 100 at most {duration(time.p95 or 0)}"


def _height(seconds: float | None, most: float) -> float | None:
    """Return the height of a wait on the scale of waits, from 0 to 1."""
    return None if seconds is None else log(max(seconds, LEAST) / LEAST) / log(most / LEAST)


def _marks(most: float) -> list[tuple[float, str]]:
    """Return y and label of the marks on the scale of waits, from the top, as many as have room."""
    marks: list[tuple[float, str]] = []
    for mark, label in reversed(MARKS.items()):
        y = HEIGHT * (1 - (_height(mark, most) or 0))
        if mark <= most and (not marks or y - marks[-1][0] >= APART):
            marks.append((round(y, 1), label))
    return marks


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
