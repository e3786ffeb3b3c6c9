"""What the pages draw as SVG: bars of ended attempts, lines of waiting times, strips and curves of use. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.reading.statistics import Times, added

WIDTH, HEIGHT = 600.0, 100.0
KINDS = {"success": "good", "error": "bad", "dead": "bad", "crash": "bad"}  # the other outcomes: "calm"
ORDER = ("good", "calm", "bad")  # from below
OTHERS = {"calm": "to be tried again or cancelled", "bad": "badly"}


@dataclass(frozen=True)
class Ended:
    """Attempts that ended in a minute, or in an hour, with one outcome; and how long they had waited."""

    at: datetime
    outcome: str
    attempts: int
    wait_buckets: Sequence[int]


@dataclass(frozen=True)
class Box:
    kind: str
    y: float
    height: float

    def svg(self, x: float, width: float) -> SafeString:
        shape = '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>'
        return format_html(shape, self.kind, *(f"{number:.1f}" for number in (x, self.y, width, self.height)))


@dataclass(frozen=True)
class Bar:
    """label: for the pointer. x, width, and y, height of its boxes: of WIDTH and HEIGHT."""

    x: float
    width: float
    label: str
    boxes: list[Box]

    @property
    def svg(self) -> SafeString:
        return format_html_join("", "{}", ((box.svg(self.x, self.width),) for box in self.boxes))


@dataclass(frozen=True)
class Chart:
    """again: attempts after which the job goes on, or was cancelled. most: the attempts of the highest bar.

    p50, p95: SVG paths with gaps where nothing ended. longest: seconds.
    """

    bars: list[Bar]
    total: int
    failed: int
    again: int
    most: int
    p50: str
    p95: str
    longest: float
    times: Times

    @cached_property
    def svg(self) -> SafeString:
        """The bars, drawn once for all viewers: in a template their 900 values took 5 ms of each refresh."""
        return format_html_join("", "<g><title>{}</title>{}</g>", ((bar.label, bar.svg) for bar in self.bars))


def chart(ended: Iterable[Ended], since: datetime, step: timedelta, count: int) -> Chart:
    """A chart of `count` steps that begin at `since`."""
    by_step: list[list[Ended]] = [[] for _ in range(count)]
    for one in ended:
        place = (one.at - since) // step
        if 0 <= place < count:
            by_step[place].append(one)
    sums = [_sums(step_) for step_ in by_step]
    most = max((sum(of.values()) for of in sums), default=0)
    times = [Times.of(added(one.wait_buckets for one in step_)) for step_ in by_step]
    longest = max((time.p95 for time in times if time.p95 is not None), default=0.0)
    return Chart(
        bars=[_bar(place, count, of, most, since + place * step) for place, of in enumerate(sums) if of],
        total=sum(sum(of.values()) for of in sums),
        failed=sum(of.get("bad", 0) for of in sums),
        again=sum(of.get("calm", 0) for of in sums),
        most=most,
        p50=path([time.p50 for time in times], longest),
        p95=path([time.p95 for time in times], longest),
        longest=longest,
        times=Times.of(added(one.wait_buckets for step_ in by_step for one in step_)),
    )


def _sums(ended: Iterable[Ended]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in ended:
        kind = KINDS.get(one.outcome, "calm")
        found[kind] = found.get(kind, 0) + one.attempts
    return found


def _bar(place: int, count: int, of: dict[str, int], most: int, at: datetime) -> Bar:
    width = WIDTH / count
    boxes, top = [], HEIGHT
    for kind in ORDER:
        if of.get(kind):
            height = of[kind] / most * HEIGHT
            top -= height
            boxes.append(Box(kind, round(top, 1), round(height, 1)))
    other = ", ".join(f"{of[kind]:,} {words}" for kind, words in OTHERS.items() if of.get(kind))
    label = f"{at:%H:%M}: {sum(of.values()):,} ended{other and ', '}{other}"
    return Bar(round(place * width + width * 0.1, 1), round(width * 0.8, 1), label, boxes)


def path(values: Sequence[float | None], most: float) -> str:
    """A line through the middles of the steps, as an SVG path; a lone value is a dash as wide as its step."""
    width, parts, drawing = WIDTH / max(len(values), 1), [], False
    for place, value in enumerate(values):
        if value is None:
            drawing = False
            continue
        y = HEIGHT - (value / most if most else 0) * HEIGHT
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
        if not self.known_steps:
            return ""
        words = f"Full for {self.full_steps} of {self.known_steps} samples"
        levels = ((level, path) for level in ("some", "much", "full") if (path := getattr(self, level)))
        paths = format_html_join("", '<path class="{}" d="{}"/>', levels)
        shape = (
            '<svg class="strip" viewBox="0 0 {steps} 1" preserveAspectRatio="none" role="img" aria-label="{words}">'
            "<title>{words}</title>{paths}</svg>"
        )
        return format_html(shape, steps=self.steps, words=words, paths=paths)


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
