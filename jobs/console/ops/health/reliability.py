"""Draw how often forecasts held beside how often they should have: a reliability diagram, as SVG. Pure."""

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

SIDE = 100  # of the square, whose sides are 0 to 100 %
TICKS = (0, 50, 100)


def diagram(points: Sequence[tuple[float, float]]) -> SafeString:
    """Draw the points on a square with its diagonal, on which reliable forecasts lie; "" without points.

    points: the promised share and the share that held, both 0 to 1
    """
    if not points:
        return SafeString()
    places = [(round(SIDE * promised), round(SIDE * (1 - held))) for promised, held in points]
    told = "; ".join(f"{promised:.0%} promised, {held:.0%} held" for promised, held in points).replace("%", " %")
    return format_html(
        '<svg class="reliability" viewBox="-36 -6 152 124" role="img" aria-label="{told}"><title>{told}</title>'
        '<path class="grid" d="M0 0V{side}H{side}M0 {side}L{side} 0"/>{ticks}{misses}{dots}</svg>',
        told=told,
        side=SIDE,
        ticks=format_html_join(
            "",
            '<text x="{0}" y="112" text-anchor="middle">{0}</text><text x="-4" y="{1}" text-anchor="end">{0} %</text>',
            ((tick, SIDE - tick + 3) for tick in TICKS),
        ),
        misses=format_html_join("", '<path class="miss" d="M{} {}V{}"/>', ((x, y, SIDE - x) for x, y in places)),
        dots=format_html_join("", '<circle cx="{}" cy="{}" r="3.5"/>', places),
    )
