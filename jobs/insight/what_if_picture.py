"""Draw the mean waits of lanes before and after a change of limits, as SVG. Pure.

Positions are percentages, so that the dots stay round at each width.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.console.ops.shared.ended_chart import LEAST, WAITS

MARGIN = 3.0  # percent at both ends, so that no dot is cut
APART = 9.0  # percent between two labels of the scale
Line = Mapping[str, Any]  # of the answer's document


@dataclass(frozen=True)
class Picture:
    """Dots for the mean waits, with the real limits and with the other ones.

    scale: the marks of the logarithmic scale
    rows: each line with its drawing
    """

    scale: SafeString
    rows: list[tuple[Line, SafeString]]


def picture(lines: Sequence[Line]) -> Picture:
    """Draw these lines, which have both waits, on one scale."""
    longest = max((mean for line in lines for mean in _means(line) if mean is not None), default=0.0)
    most = next((mark for mark in WAITS if mark >= max(longest, 1)), max(WAITS))
    marks = [(_place(seconds, most), label) for seconds, label in WAITS.items() if seconds <= most]
    grid = format_html_join("", '<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>', ((x,) for x, _ in marks))
    return Picture(_scale(marks), [(line, _drawing(line, most, grid)) for line in lines])


def _means(line: Line) -> tuple[float | None, float | None]:
    return line["replayed"]["mean"], line["changed"]["mean"]


def _place(seconds: float, most: float) -> float:
    return round(MARGIN + (100 - 2 * MARGIN) * log(max(seconds, LEAST) / LEAST) / log(most / LEAST), 1)


def _scale(marks: Sequence[tuple[float, str]]) -> SafeString:
    labels: list[tuple[float, str]] = []
    for x, label in marks:
        if not labels or x - labels[-1][0] >= APART:
            labels.append((x, label))
    texts = format_html_join("", '<text x="{}%" y="12">{}</text>', labels)
    return format_html('<span class="unseen">Mean wait</span><svg class="moved" aria-hidden="true">{}</svg>', texts)


def _drawing(line: Line, most: float, grid: SafeString) -> SafeString:
    was, now = _means(line)
    before, after = _place(was or 0.0, most), 100.0 if now is None else _place(now, most)
    kind = "less" if now is not None and after < before else "longer"
    dot = "" if now is None else format_html('<circle class="{}" cx="{}%" cy="50%" r="5"/>', kind, after)
    return format_html(
        '<svg class="moved" aria-hidden="true">{}<line class="{}" x1="{}%" x2="{}%" y1="50%" y2="50%"/>'
        '<circle class="was" cx="{}%" cy="50%" r="5"/>{}</svg>',
        grid,
        kind,
        before,
        after,
        before,
        dot,
    )
