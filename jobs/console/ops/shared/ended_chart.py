"""Draw the charts of ended attempts and of their waits, once for all viewers: templates take 5 ms for it. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from jobs.reading.statistics import Times, added
from plumbing.text import duration

WIDTH, HEIGHT = 600.0, 100.0  # of a chart
OUTCOMES = {"success": "good", "cancelled": "calm", "retry": "again", "crash": "again", "error": "bad", "dead": "bad"}
LATER = "later"  # the other outcomes: the job goes on without a failure, since its body or a deploy put it off
KINDS = {  # from below
    **{"good": "succeeded", LATER: "put off", "calm": "cancelled"},
    **{"again": "failed and retried", "bad": "failed for good"},
}
FAILED = ("again", "bad")
MANY_FAILED = 0.05  # of the attempts, for failures to stand out
DAY = timedelta(days=1)
# Seconds, on the logarithmic scale of waits: an outlier does not flatten the other waits.
LABELS = ("0.1 s", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d", "1 a")
WAITS = dict(zip((0.1, 1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000), LABELS, strict=True))
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
class Ghost:
    """An earlier time in the same chart: SVG paths of thin lines.

    words: that time, such as "the day before"
    attempts: the number of attempts in it
    """

    words: str
    attempts: int
    ended: str
    p95: str
    times: Times


@dataclass(frozen=True)
class Chart:
    """A chart of ended attempts and of their waits.

    bars: a bar for each step, linked to a search for its jobs
    counts: the number of attempts by kind, one of KINDS
    top: the number at the top of the scale of the bars
    p50, p95: SVG paths of the waits, with gaps where nothing ended
    waits: the tooltip of each step
    scale: y and label of each line on the scale of waits
    times: the percentiles of all waits
    moments: the times at the left, in the middle and at the right
    ghost: the chart of an earlier time; None if nothing ended then
    since, step, steps: the begin, the length of a step, and the number of steps
    """

    bars: SafeString
    counts: Mapping[str, int]
    top: int
    p50: str
    p95: str
    waits: SafeString
    scale: list[tuple[float, str]]
    times: Times
    moments: list[str]
    ghost: Ghost | None
    since: datetime
    step: timedelta
    steps: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def legend(self) -> list[tuple[str, int, str]]:
        """Return each kind of attempts that there were, with their number and what it means."""
        return [(kind, self.counts[kind], words) for kind, words in KINDS.items() if self.counts.get(kind)]

    @property
    def half(self) -> int:
        return self.top // 2


def chart(
    ended: Iterable[EndedInStep],
    since: datetime,
    step: timedelta,
    count: int,
    address: str = "?q=",
    *,
    before: Iterable[EndedInStep] = (),
    back: timedelta = DAY,
) -> Chart:
    """Draw a chart of `count` steps that begin at `since`.

    address: the address of the search for jobs, without the words for a step
    before: what ended in an earlier time, which is drawn as a ghost
    back: how much earlier that was
    """
    by_step, earlier = _by_step(ended, since, step, count), _by_step(before, since - back, step, count)
    sums, sums_before = ([_sums(in_step) for in_step in steps] for steps in (by_step, earlier))
    top = round_top(max(sum(numbers.values()) for numbers in (*sums, *sums_before)))
    times, times_before = ([_times(in_step) for in_step in steps] for steps in (by_step, earlier))
    longest = max((time.p95 or 0.0 for time in (*times, *times_before)), default=0.0)
    most = next((seconds for seconds in WAITS if seconds >= max(longest, 1)), max(WAITS))
    long = step * count > DAY
    ghost = Ghost(
        "the day before" if back == DAY else "the week before",
        sum(sum(numbers.values()) for numbers in sums_before),
        path([sum(numbers.values()) / top for numbers in sums_before]),
        path([_height(time.p95, most) for time in times_before]),
        _times(attempts for in_step in earlier for attempts in in_step),
    )
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
        counts=sum(sums, Counter()),
        top=top,
        p50=path([_height(time.p50, most) for time in times]),
        p95=path([_height(time.p95, most) for time in times]),
        waits=format_html_join(
            "",
            '<g data-n="{}"><title>{}</title></g>',
            ((place, _waits(since + place * step, time)) for place, time in enumerate(times) if time.p95 is not None),
        ),
        scale=_scale(most),
        times=_times(attempts for in_step in by_step for attempts in in_step),
        moments=[f"{since + part * step * count:{'%d %b %H:%M' if long else '%H:%M'}}" for part in (0, 0.5, 1)],
        ghost=ghost if ghost.attempts else None,
        since=since,
        step=step,
        steps=count,
    )


def _by_step(ended: Iterable[EndedInStep], since: datetime, step: timedelta, count: int) -> list[list[EndedInStep]]:
    steps: list[list[EndedInStep]] = [[] for _ in range(count)]
    for attempts in ended:
        place = (attempts.at - since) // step
        if 0 <= place < count:
            steps[place].append(attempts)
    return steps


def _times(ended: Iterable[EndedInStep]) -> Times:
    return Times.from_buckets(added(attempts.wait_buckets for attempts in ended))


def _sums(ended: Iterable[EndedInStep]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for attempts in ended:
        sums[OUTCOMES.get(attempts.outcome, LATER)] += attempts.attempts
    return sums


def is_failure(outcome: str) -> bool:
    """Return whether an attempt with this outcome failed, be it that its job runs again."""
    return OUTCOMES.get(outcome) in FAILED


def round_top(most: int) -> int:
    """Return the least of 2, 4, 10, 20, 40, 100 ... that is not below `most`: its half is a whole number."""
    power = 1
    while power * 10 < most:
        power *= 10
    return next(power * digit for digit in (2, 4, 10) if power * digit >= most)


def _boxes(place: int, count: int, numbers: Mapping[str, int], top: int) -> SafeString:
    """Draw the bar of a step; "" if nothing ended."""
    width = WIDTH / count
    x, boxes, y = f"{(place + 0.1) * width:.4g}", [], HEIGHT
    for kind in KINDS:
        if numbers.get(kind):
            height = numbers[kind] / top * HEIGHT
            y -= height
            boxes.append((kind, x, f"{round(y, 1):g}", f"{width * 0.8:.4g}", f"{round(height, 1):g}"))
    return format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', boxes)


def _label(at: datetime, numbers: Mapping[str, int]) -> str:
    told = (f"{numbers[kind]:,} {words}" for kind, words in KINDS.items() if numbers.get(kind))
    return f"{at:%H:%M}: {', '.join(told)}"


def _search(at: datetime, step: timedelta) -> str:
    return f"ended_since:{at:%Y-%m-%dT%H:%M}+ended_until:{at + step:%Y-%m-%dT%H:%M}"


def _waits(at: datetime, time: Times) -> str:
    return f"{at:%H:%M}: half waited at most {duration(time.p50 or 0)}, 95 of 100 at most {duration(time.p95 or 0)}"


def _height(seconds: float | None, most: float) -> float | None:
    """Return the height of a wait on its scale, from 0 to 1."""
    return None if seconds is None else log(max(seconds, LEAST) / LEAST) / log(most / LEAST)


def _scale(most: float) -> list[tuple[float, str]]:
    """Return y and label of the lines on the scale of waits, from the top, as many as have room."""
    lines: list[tuple[float, str]] = []
    for seconds, label in reversed(WAITS.items()):
        y = HEIGHT * (1 - (_height(seconds, most) or 0))
        if seconds <= most and (not lines or y - lines[-1][0] >= APART):
            lines.append((round(y, 1), label))
    return lines


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
