"""Charts as SVG, readable by day and by night and without scripts: a row for each queue."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, LEFT, RIGHT = 880, 190, 220  # pixels; left for names, right for values
ROW, TOP, BOTTOM, BAR = 26, 44, 34, 12
STEPS = 5  # of the axis of bars
STYLE = """
.paper{fill:#fff}.text{fill:#24292f}.soft{fill:#57606a}.line{stroke:#d0d7de}.own{fill:#0969da;stroke:#0969da}
.other{fill:#6e7781;stroke:#6e7781}text{font:13px system-ui,sans-serif}.title{font-weight:600}
@media(prefers-color-scheme:dark){.paper{fill:#161b22}.text{fill:#e6edf3}.soft{fill:#9198a1}.line{stroke:#3d444d}
.own{fill:#4493f8;stroke:#4493f8}.other{fill:#9198a1;stroke:#9198a1}}"""


class Row(NamedTuple):
    """One queue.

    low: the begin of its line.
    high: the end of its line, or of its bar.
    value: what is written beside it.
    own: whether it stands out.
    """

    name: str
    low: float
    high: float
    value: str
    own: bool


def bars(title: str, rows: Sequence[Row], most: float) -> str:
    """A bar for each row, from 0 to `high`. most: the end of the axis."""
    ticks = [most * n / STEPS for n in range(STEPS + 1)]

    def place(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(value, most) / most

    def mark(row: Row, y: float) -> str:
        width = max(1.0, place(row.high) - LEFT)
        return f'<rect class="{_kind(row)}" x="{LEFT}" y="{y - BAR / 2:g}" width="{width:.1f}" height="{BAR}" rx="2"/>'

    return _chart(title, rows, [(place(tick), f"{tick:g}") for tick in ticks], mark)


def ranges(title: str, unit: str, rows: Sequence[Row], least: float) -> str:
    """A line from `low` to `high` for each row, on a scale where each step is ten times the last. least: its begin."""
    first = math.floor(math.log10(least))
    last = max(first + 1, math.ceil(math.log10(max([row.high for row in rows] + [least]))))

    def place(value: float) -> float:
        part = (math.log10(max(value, 10**first)) - first) / (last - first)
        return LEFT + (WIDTH - LEFT - RIGHT) * part

    def mark(row: Row, y: float) -> str:
        kind, low, high = _kind(row), place(row.low), place(row.high)
        dots = [f'<circle class="{kind}" cx="{x:.1f}" cy="{y:g}" r="{r}"/>' for x, r in ((low, 4), (high, 6))]
        line = f'<line class="{kind}" x1="{low:.1f}" x2="{high:.1f}" y1="{y:g}" y2="{y:g}" stroke-width="4"/>'
        return line + "".join(dots)

    ticks = [(place(10.0**power), f"{10.0**power:g} {unit}") for power in range(first, last + 1)]
    return _chart(title, rows, ticks, mark)


def _chart(title, rows, ticks, mark) -> str:  # type: ignore[no-untyped-def]  # the functions above have the types
    height = TOP + ROW * len(rows) + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text class="text title" x="16" y="26">{escape(title)}</text>',
    ]
    bottom = TOP + ROW * len(rows)
    for x, label in ticks:
        parts.append(f'<line class="line" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="soft" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        weight = " title" if row.own else ""
        parts.append(
            f'<text class="text{weight}" x="{LEFT - 12}" y="{y + 4:g}" text-anchor="end">{escape(row.name)}</text>'
        )
        parts.append(mark(row, y))
        parts.append(f'<text class="text{weight}" x="{WIDTH - RIGHT + 14}" y="{y + 4:g}">{escape(row.value)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _kind(row: Row) -> str:
    return "own" if row.own else "other"
