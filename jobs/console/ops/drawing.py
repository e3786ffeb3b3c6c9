"""Charts and strips as SVG, with what the pointer is told of each step; `charts` computes where everything is."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.authoring.text import duration
from jobs.reading.statistics import Times

if TYPE_CHECKING:
    from jobs.console.ops.charts import Bar, Chart, Strip

WIDTH, HEIGHT = 600.0, 100.0


def bars(chart: "Chart") -> SafeString:
    """Each is a link; the script finds a low one, too, wherever the pointer is above it."""
    return format_html_join(
        "",
        '<a href="{}{}" data-n="{}" tabindex="-1"><title>{}</title>{}</a>',
        ((chart.address, bar.search, bar.place, bar.label, _boxes(bar)) for bar in chart.bars),
    )


def _boxes(bar: "Bar") -> SafeString:
    x, width = f"{bar.x:.4g}", f"{bar.width:.4g}"
    rows = ((kind, x, f"{y:g}", width, f"{height:g}") for kind, y, height in bar.boxes)
    return format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', rows)


def waits(chart: "Chart") -> SafeString:
    said = ((n, _waited(at, time)) for n, at, time in chart.waits)
    return format_html_join("", '<g data-n="{}"><title>{}</title></g>', said)


def _waited(at: datetime, time: Times) -> str:
    return f"{at:%H:%M}: half waited at most {duration(time.p50 or 0)}, 95 of 100 at most {duration(time.p95 or 0)}"


def strip(of: "Strip") -> SafeString | str:
    if not of.known_steps:
        return ""
    words = f"Full for {of.full_steps} of {of.known_steps} samples"
    levels = ((level, path) for level in ("some", "much", "full") if (path := getattr(of, level)))
    paths = format_html_join("", '<path class="{}" d="{}"/>', levels)
    shape = (
        '<svg class="strip" viewBox="0 0 {steps} 1" preserveAspectRatio="none" role="img" aria-label="{words}">'
        "<title>{words}</title>{paths}</svg>"
    )
    return format_html(shape, steps=of.steps, words=words, paths=paths)
