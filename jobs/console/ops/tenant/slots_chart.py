"""Draw the slots in use of a tenant, by the hour, as SVG. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 600.0, 50.0
SECONDS = 3600  # of an hour


@dataclass(frozen=True)
class SlotsInHour:
    """The work in the slots of a tenant in an hour.

    seconds: those that processes worked
    most: the most slots in use
    """

    seconds: float
    most: int


@dataclass(frozen=True)
class SlotsChart:
    """The slots in use, by the hour.

    bars: the most that was in use, and the average
    top: the number at the top of the scale
    limit: the height of the line of the slots that the tenant has now
    most: the most of all hours
    moments: the times at the left, in the middle and at the right
    """

    bars: SafeString
    top: int
    limit: float
    most: int
    moments: list[str]


def slots_chart(hours: Sequence[tuple[datetime, SlotsInHour | None]], slots: int) -> SlotsChart:
    """Draw these hours; None: nothing was in use.

    slots: those that the tenant has now
    """
    most = max((work.most for _, work in hours if work), default=0)
    top, width, bars = max(slots, most, 1), WIDTH / len(hours), []
    for place, (hour, work) in enumerate(hours):
        if work is not None:
            mean = min(work.seconds / SECONDS, work.most)
            x = f"{(place + 0.1) * width:.4g}"
            words = f"{hour:%H:%M}: {work.most:,} at most, {mean:.1f} on average"
            bars.append((words, *_box(x, width, work.most, top), *_box(x, width, mean, top)))
    box = '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>'
    return SlotsChart(
        format_html_join(
            "", f"<g><title>{{}}</title>{box.replace('{}', 'later', 1)}{box.replace('{}', 'good', 1)}</g>", bars
        ),
        top,
        round(HEIGHT * (1 - slots / top), 1),
        most,
        [f"{hours[0][0]:%H:%M}", f"{hours[len(hours) // 2][0]:%H:%M}", "now"],
    )


def _box(x: str, width: float, slots: float, top: int) -> tuple[str, str, str, str]:
    height = slots / top * HEIGHT
    return x, f"{HEIGHT - height:.4g}", f"{width * 0.8:.4g}", f"{height:.4g}"
