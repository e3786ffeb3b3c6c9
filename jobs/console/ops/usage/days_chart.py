"""Draw the worker-seconds of each day, as SVG. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from jobs.console.ops.shared.ended_chart import HEIGHT, WIDTH, round_top
from jobs.reading.usage import AttemptGroup, Usage

DAY = timedelta(days=1)
MOST_DAYS = 100  # more would be narrower than a finger or a pointer needs


@dataclass(frozen=True)
class DaysChart:
    """The worker-seconds of the days of a period.

    bars: a bar for each day, which opens its usage by tenant
    top: the number at the top of the scale
    moments: the first day, the one in the middle and the last one
    steps: the number of days
    """

    bars: SafeString
    top: int
    moments: list[str]
    steps: int

    @property
    def half(self) -> int:
        return self.top // 2


def days_chart(usage: Usage, tenant: str) -> DaysChart | None:
    """Draw the usage of each day; None if its lines are not by day, or the period is too short or too long.

    tenant: the slug of the tenant whose usage it is; "" for all tenants
    """
    count = (usage.ends - usage.starts).days
    by_day = _by_day(usage.lines)
    if not by_day or not 1 < count <= MOST_DAYS:
        return None
    top, width, bars = round_top(int(max(seconds for seconds, _ in by_day.values())) + 1), WIDTH / count, []
    for day, (seconds, attempts) in sorted(by_day.items()):
        place, height = (day - usage.starts).days, seconds / top * HEIGHT
        address = f"?from={day}&to={day + DAY}&by={'type' if tenant else 'tenant'}&tenant={quote(tenant)}"
        told = f"{day}: {seconds:,.0f} worker-seconds, {attempts:,} attempts"
        box = f"{(place + 0.1) * width:.4g}", f"{HEIGHT - height:.4g}", f"{width * 0.8:.4g}", f"{height:.4g}"
        bars.append((address, place, told, *box))
    return DaysChart(
        format_html_join(
            "",
            '<a href="{}" data-n="{}" tabindex="-1"><title>{}</title>'
            '<rect class="good" x="{}" y="{}" width="{}" height="{}"/></a>',
            bars,
        ),
        top,
        [f"{usage.starts + part * DAY:%d %b}" for part in (0, count // 2, count - 1)],
        count,
    )


def _by_day(lines: Iterable[AttemptGroup]) -> dict[date, tuple[float, int]]:
    """Return the worker-seconds and the attempts of each day; empty if the lines are not by day."""
    days: dict[date, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for line in lines:
        if line.day is not None:
            seconds, attempts = days[line.day]
            days[line.day] = seconds + line.worker_seconds, attempts + line.attempts
    return days
