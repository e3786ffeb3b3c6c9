"""Draw numbers as bars, as SVG, which needs no style attribute. The numbers stand beside them. Pure."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.reading.standing import StandingState

WHOLE = 2.0  # fair shares that fill a bar


def bar(used: float | None, limit: float | None, kind: str = "") -> SafeString | str:
    """Draw how full something is; "" if a number is missing."""
    if limit is None or used is None:
        return ""
    share = min(used / limit, 1) * 100 if limit else 0.0
    kind = kind or ("full" if used >= limit else "")
    return format_html(
        '<svg class="bar {}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/><rect class="fill" width="{}" height="8"/></svg>',
        kind,
        f"{share:.1f}",
    )


def share_bar(got: float, entitled: float, state: str) -> SafeString:
    """Draw what a tenant got beside its fair share, which is the line in the middle.

    got: in any unit.
    entitled: in the same one, above 0.
    state: that of the tenant; the bar of a starved one asks for attention.
    """
    width = min(got / entitled / WHOLE, 1) * 100
    return format_html(
        '<svg class="bar {}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="8"/><rect class="fill" width="{}" height="8"/>'
        '<path class="fair" d="M{} 0v8"/></svg>',
        "look" if state == StandingState.STARVED else "",
        f"{width:.1f}",
        f"{100 / WHOLE:g}",
    )
