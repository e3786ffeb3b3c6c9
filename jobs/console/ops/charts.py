"""What the pages draw: bars of ended attempts, lines of waiting times, their scales; strips and curves of use. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from math import log

from django.utils.safestring import SafeString

from jobs.console.ops import drawing
from jobs.console.ops.drawing import HEIGHT, WIDTH
from jobs.reading.statistics import Times, added

KINDS = {"success": "good", "error": "bad", "dead": "bad", "crash": "bad"}  # the other outcomes: "calm"
ORDER = ("good", "calm", "bad")  # from below
OTHERS = {"calm": "to be tried again or cancelled", "bad": "badly"}
DAY = timedelta(days=1)
# Seconds, on the scale of waits: each mark is many times the one before it, so that no outlier flattens all.
LABELS = ("0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d", "1 a")
MARKS = dict(zip((0.1, 1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000), LABELS, strict=True))
LEAST, APART = 0.1, 20.0  # seconds at the bottom of that scale; the height between two of its labels


@dataclass(frozen=True)
class Ended:
    """Attempts that ended in a minute, or in an hour, with one outcome; and how long they had waited."""

    at: datetime
    outcome: str
    attempts: int
    wait_buckets: Sequence[int]


@dataclass(frozen=True)
class Bar:
    """What ended in a step. place: which step. label: in words. search: the words that find its jobs.

    boxes: their kind, y and height; x, width and these: of WIDTH and HEIGHT.
    """

    place: int
    x: float
    width: float
    label: str
    search: str
    boxes: list[tuple[str, float, float]]


@dataclass(frozen=True)
class Chart:
    """again: attempts after which the job goes on, or was cancelled. top: of the scale of the bars.

    p50, p95: SVG paths with gaps where nothing ended. waits: of each step, by its place. marks: y and label of the
    scale of waits. moments: at the left, in the middle, at the right. address: of the search, before a bar's words.
    """

    bars: list[Bar]
    total: int
    failed: int
    again: int
    top: int
    p50: str
    p95: str
    waits: list[tuple[int, datetime, Times]]
    marks: list[tuple[float, str]]
    times: Times
    moments: list[str]
    steps: int
    address: str

    @property
    def half(self) -> int:
        return self.top // 2

    @cached_property
    def svg(self) -> SafeString:
        """The bars, drawn once for all viewers: in a template their 900 values took 5 ms of each refresh."""
        return drawing.bars(self)

    @cached_property
    def waits_svg(self) -> SafeString:
        """What the pointer is told of each step, likewise."""
        return drawing.waits(self)


def chart(ended: Iterable[Ended], since: datetime, step: timedelta, count: int, address: str = "?q=") -> Chart:
    """A chart of `count` steps that begin at `since`. address: of the search for jobs, as far as its own words."""
    by_step: list[list[Ended]] = [[] for _ in range(count)]
    for one in ended:
        place = (one.at - since) // step
        if 0 <= place < count:
            by_step[place].append(one)
    sums = [_sums(step_) for step_ in by_step]
    top = _round(max((sum(of.values()) for of in sums), default=0))
    times = [Times.of(added(one.wait_buckets for one in step_)) for step_ in by_step]
    longest = max((time.p95 for time in times if time.p95 is not None), default=0.0)
    most = next((mark for mark in MARKS if mark >= max(longest, 1)), max(MARKS))
    long = step * count > DAY
    return Chart(
        bars=[
            _bar(place, count, of, top, (since + place * step, since + (place + 1) * step))
            for place, of in enumerate(sums)
            if of
        ],
        total=sum(sum(of.values()) for of in sums),
        failed=sum(of.get("bad", 0) for of in sums),
        again=sum(of.get("calm", 0) for of in sums),
        top=top,
        p50=path([_height(time.p50, most) for time in times]),
        p95=path([_height(time.p95, most) for time in times]),
        waits=[(place, since + place * step, time) for place, time in enumerate(times) if time.p95 is not None],
        marks=_marks(most),
        times=Times.of(added(one.wait_buckets for step_ in by_step for one in step_)),
        moments=[f"{since + part * step * count:{'%d %b %H:%M' if long else '%H:%M'}}" for part in (0, 0.5, 1)],
        steps=count,
        address=address,
    )


def _sums(ended: Iterable[Ended]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in ended:
        kind = KINDS.get(one.outcome, "calm")
        found[kind] = found.get(kind, 0) + one.attempts
    return found


def _round(most: int) -> int:
    """The least of 2, 4, 10, 20, 40, 100 ... that is not below: its half is a whole number."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(power * digit for digit in (2, 4, 10) if power * digit >= most)


def _bar(place: int, count: int, of: dict[str, int], top: int, span: tuple[datetime, datetime]) -> Bar:
    width = WIDTH / count
    boxes, y = [], HEIGHT
    for kind in ORDER:
        if of.get(kind):
            height = of[kind] / top * HEIGHT
            y -= height
            boxes.append((kind, round(y, 1), round(height, 1)))
    other = ", ".join(f"{of[kind]:,} {words}" for kind, words in OTHERS.items() if of.get(kind))
    at, until = span
    label = f"{at:%H:%M}: {sum(of.values()):,} ended{other and ', '}{other}"
    search = f"ended_since:{at:%Y-%m-%dT%H:%M}+ended_until:{until:%Y-%m-%dT%H:%M}"
    return Bar(place, place * width + width * 0.1, width * 0.8, label, search, boxes)


def _height(seconds: float | None, most: float) -> float | None:
    """The share of the height, on the scale of waits."""
    return None if seconds is None else log(max(seconds, LEAST) / LEAST) / log(most / LEAST)


def _marks(most: float) -> list[tuple[float, str]]:
    """The labels of the scale of waits from the top, as many as have room."""
    found: list[tuple[float, str]] = []
    for mark, label in reversed(MARKS.items()):
        y = HEIGHT * (1 - (_height(mark, most) or 0))
        if mark <= most and (not found or y - found[-1][0] >= APART):
            found.append((round(y, 1), label))
    return found


def path(values: Sequence[float | None]) -> str:
    """A line through the middles of the steps, as an SVG path; a lone value is a dash as wide as its step."""
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


SOME, MUCH, FULL = 0.0, 0.5, 0.95  # shares from which a level begins; for SOME, above which
CURVE_HEIGHT = 20


@dataclass(frozen=True)
class Strip:
    """Paths over `steps` × 1, one for each level. shares: how many of the steps were full, and how many are known."""

    steps: int
    some: str
    much: str
    full: str
    full_steps: int
    known_steps: int

    @cached_property
    def svg(self) -> SafeString | str:
        """The strip, drawn once for all viewers; "" if nothing is known."""
        return drawing.strip(self)


def strip(shares: Sequence[float | None]) -> Strip:
    """A strip of these shares (0 to 1); None: nothing is known of that step."""
    levels = [None if share is None else _level(share) for share in shares]
    return Strip(
        steps=len(shares),
        some=_runs(levels, "some"),
        much=_runs(levels, "much"),
        full=_runs(levels, "full"),
        full_steps=levels.count("full"),
        known_steps=len(levels) - levels.count(None),
    )


def _level(share: float) -> str:
    if share >= FULL:
        return "full"
    if share >= MUCH:
        return "much"
    return "some" if share > SOME else ""


def _runs(levels: Sequence[str | None], level: str) -> str:
    """One rectangle for each run of equal steps, so that a quiet strip is short."""
    parts, start = [], None
    for place, one in enumerate([*levels, None]):
        if one == level and start is None:
            start = place
        elif one != level and start is not None:
            parts.append(f"M{start} 0h{place - start}v1h-{place - start}z")
            start = None
    return "".join(parts)


def curve(values: Sequence[float | None]) -> str:
    """The area below these values, over a step for each and CURVE_HEIGHT; "" if they are all nothing."""
    most = max((value for value in values if value is not None), default=0)
    if not most:
        return ""
    heights = [CURVE_HEIGHT - round((value or 0) / most * CURVE_HEIGHT, 1) for value in values]
    tops = "".join(f"V{height:g}h1" for height in heights)
    return f"M0 {CURVE_HEIGHT}{tops}V{CURVE_HEIGHT}z"
