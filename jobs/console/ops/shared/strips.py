"""Draw strips and curves of use, as SVG. Pure."""

from collections.abc import Sequence
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

LEVELS = ("some", "much", "full")  # levels of use
MUCH, FULL = 0.5, 0.95  # shares from which a level begins; "some": above nothing
CURVE_HEIGHT = 20


def strip(shares: Sequence[float | None]) -> SafeString:
    """Draw a strip of these shares (0 to 1), a path for each level; "" if no share is known.

    shares: one for each step; None: unknown
    """
    levels = [None if share is None else _level(share) for share in shares]
    known = len(levels) - levels.count(None)
    if not known:
        return SafeString()
    paths = ((level, path) for level in LEVELS if (path := _rectangles(levels, level)))
    return format_html(
        '<svg class="strip" viewBox="0 0 {steps} 1" preserveAspectRatio="none" role="img" aria-label="{words}">'
        "<title>{words}</title>{paths}</svg>",
        steps=len(shares),
        words=f"Full for {levels.count('full')} of {known} samples",
        paths=format_html_join("", '<path class="{}" d="{}"/>', paths),
    )


def _level(share: float) -> str:
    if share >= FULL:
        return "full"
    if share >= MUCH:
        return "much"
    return "some" if share > 0 else ""


def _rectangles(levels: Sequence[str | None], level: str) -> str:
    """Draw one rectangle for each sequence of steps of this level, so that the SVG of a quiet strip is short."""
    parts, place = [], 0
    for group, steps in groupby(levels):
        length = len(list(steps))
        if group == level:
            parts.append(f"M{place} 0h{length}v1h-{length}z")
        place += length
    return "".join(parts)


def curve(values: Sequence[float | None], words: str = "") -> SafeString:
    """Draw the area below these values, one for each step; "" if none is above 0.

    words: text for screen readers
    """
    most = max((value for value in values if value is not None), default=0)
    if not most:
        return SafeString()
    heights = [CURVE_HEIGHT - round((value or 0) / most * CURVE_HEIGHT, 1) for value in values]
    tops = "".join(f"V{height:g}h1" for height in heights)
    return format_html(
        '<svg class="curve" viewBox="0 0 {} {height}" preserveAspectRatio="none" {}>'
        '<path d="M0 {height}{}V{height}z"/></svg>',
        len(values),
        format_html('role="img" aria-label="{}"', words) if words else SafeString('aria-hidden="true"'),
        tops,
        height=CURVE_HEIGHT,
    )
