"""Read and draw the last 24 hours of webhooks."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.models import WebhookHour

HOURS = 24
HEIGHT = 20


def bars_of_last_day(endpoints: Collection[int], now: datetime) -> Mapping[int, SafeString]:
    """Return a bar for each of the last 24 hours, drawn, by the id of the endpoint; those without any are missing."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    rows = WebhookHour.objects.filter(endpoint_id__in=endpoints, hour__gte=first)
    hours: dict[int, list[tuple[int, int]]] = {}
    for endpoint, hour, delivered, failed in rows.values_list("endpoint_id", "hour", "delivered", "failed"):
        n = min(int((hour - first).total_seconds() // 3600), HOURS - 1)
        hours.setdefault(endpoint, [(0, 0)] * HOURS)[n] = (delivered, failed)
    return {endpoint: _drawn(numbers) for endpoint, numbers in hours.items()}


def _drawn(hours: Sequence[tuple[int, int]]) -> SafeString:
    """Draw delivered messages, and failed tries on top of them."""
    most = max(delivered + failed for delivered, failed in hours) or 1
    shapes = []
    for n, (delivered, failed) in enumerate(hours):
        tall, top = (round(number / most * HEIGHT, 1) for number in (delivered, delivered + failed))
        if delivered:
            shapes.append(("good", f"M{n} {HEIGHT}v-{tall:g}h.8V{HEIGHT}z"))
        if failed:
            shapes.append(("bad", f"M{n} {HEIGHT - tall:g}V{HEIGHT - top:g}h.8V{HEIGHT - tall:g}z"))
    return format_html(
        '<svg class="hours" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>',
        HOURS,
        HEIGHT,
        format_html_join("", '<path class="{}" d="{}"/>', shapes),
    )
