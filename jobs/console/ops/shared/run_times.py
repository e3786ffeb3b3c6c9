"""Draw the histogram of run times. Pure.

The buckets of the statistics grow by half each, so they are equally wide on a logarithmic scale. The coordinates are
percentages: so the labels stay letters, whatever the width of the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from jobs.console.ops.shared.ended_chart import OUTCOMES, is_failure, round_top
from jobs.reading.statistics import BOUNDS, BUCKETS, Times, added
from plumbing.text import duration

ORDER = ("good", "calm", "bad")  # of the kinds of attempts, from below
LEAST = 12  # buckets that are drawn: one bar alone would fill the width
LABELS = {0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 36_000: "10 h"}
SHORT = 0.1  # seconds: a shorter time is shown in milliseconds
MARGIN = 4.0  # percent at both ends, in which a label would be cut


@dataclass(frozen=True)
class RunTimes:
    """A histogram of run times.

    bars: a bar for each bucket, as SVG
    marks: the lines of half, and of 95 of 100, as SVG
    labels: the scale below it, as SVG
    top: the number of attempts at the top of the scale at the left
    p50, p95: the times in words
    """

    bars: SafeString
    marks: SafeString
    labels: SafeString
    top: int
    p50: str
    p95: str

    @property
    def half(self) -> int:
        return self.top // 2


def histogram(buckets: Mapping[str, Sequence[int]]) -> RunTimes | None:
    """Draw the run times of attempts; None if there are none.

    buckets: the histogram of the attempts of each outcome
    """
    together = added(buckets.values())
    used = [place for place, attempts in enumerate(together) if attempts]
    times = Times.from_buckets(together)
    if times.p50 is None or times.p95 is None:
        return None
    count = min(max(used[-1] - used[0] + 3, LEAST), BUCKETS)
    first = max(min(used[0] - 1, BUCKETS - count), 0)
    kinds = {kind: added(row for outcome, row in buckets.items() if _kind(outcome) == kind) for kind in ORDER}
    top = round_top(max(together))
    bars = ((_words(place, kinds), _boxes(place - first, count, kinds, place, top)) for place in used)
    marks = {"p50": times.p50, "p95": times.p95}
    labels = ((_percent(seconds, first, count), label) for seconds, label in LABELS.items())
    return RunTimes(
        bars=format_html_join("", "<g><title>{}</title>{}</g>", bars),
        marks=format_html_join(
            "",
            '<line class="{}" x1="{}%" x2="{}%" y2="100%"/>',
            ((name, *[f"{_percent(seconds, first, count):.1f}"] * 2) for name, seconds in marks.items()),
        ),
        labels=format_html_join(
            "",
            '<text x="{}%" y="12">{}</text>',
            ((f"{x:.1f}", label) for x, label in labels if MARGIN <= x <= 100 - MARGIN),
        ),
        top=top,
        p50=in_words(times.p50),
        p95=in_words(times.p95),
    )


def in_words(seconds: float | None) -> str:
    """Return a run time, which may be much shorter than a wait: "12 ms", "4 min"; "–" for none."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.0f} ms" if seconds < SHORT else duration(seconds)


def _kind(outcome: str) -> str:
    if is_failure(outcome):
        return "bad"
    return "good" if OUTCOMES.get(outcome) == "good" else "calm"


def _percent(seconds: float, first: int, count: int) -> float:
    """Return where a time lies in the drawn buckets. BOUNDS[n] is where bucket n ends."""
    place = log(max(seconds, BOUNDS[0]) / BOUNDS[0]) / log(BOUNDS[1] / BOUNDS[0]) + 1
    return (place - first) / count * 100


def _boxes(place: int, count: int, kinds: Mapping[str, Sequence[int]], bucket: int, top: int) -> SafeString:
    """Draw the bar of a bucket."""
    boxes, y = [], 100.0
    for kind in ORDER:
        if attempts := kinds[kind][bucket]:
            height = attempts / top * 100
            y -= height
            boxes.append(
                (kind, f"{(place + 0.08) / count * 100:.2f}", f"{y:.1f}", f"{84 / count:.2f}", f"{height:.1f}")
            )
    return format_html_join("", '<rect class="{}" x="{}%" y="{}%" width="{}%" height="{}%"/>', boxes)


def _words(bucket: int, kinds: Mapping[str, Sequence[int]]) -> str:
    """Return what the pointer shows over a bar: "0.1 s to 0.2 s: 1,204 attempts, 3 failed"."""
    ends = [in_words(BOUNDS[place]) for place in (bucket - 1, bucket) if 0 <= place < len(BOUNDS)]
    range_ = " to ".join(ends) if len(ends) > 1 else f"{'below' if bucket == 0 else 'from'} {ends[0]}"
    attempts, failed = sum(row[bucket] for row in kinds.values()), kinds["bad"][bucket]
    return f"{range_}: {attempts:,} attempt{'s'[: attempts != 1]}{f', {failed:,} failed' if failed else ''}"
