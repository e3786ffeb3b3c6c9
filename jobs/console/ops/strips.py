"""How much was in use, step by step: strips of colour and small curves, as SVG paths. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

SOME, MUCH, FULL = 0.0, 0.5, 0.95  # shares from which a level begins; for SOME, above which
HEIGHT = 20


@dataclass(frozen=True)
class Strip:
    """Paths over `steps` × 1, one for each level. shares: how many of the steps were full, and how many are known."""

    steps: int
    some: str
    much: str
    full: str
    full_steps: int
    known_steps: int

    @cached_property
    def svg(self) -> SafeString | str:
        """The strip, drawn once for all viewers; "" if nothing is known."""
        if not self.known_steps:
            return ""
        words = f"Full for {self.full_steps} of {self.known_steps} samples"
        levels = ((level, path) for level in ("some", "much", "full") if (path := getattr(self, level)))
        paths = format_html_join("", '<path class="{}" d="{}"/>', levels)
        shape = (
            '<svg class="strip" viewBox="0 0 {steps} 1" preserveAspectRatio="none" role="img" aria-label="{words}">'
            "<title>{words}</title>{paths}</svg>"
        )
        return format_html(shape, steps=self.steps, words=words, paths=paths)


def strip(shares: Sequence[float | None]) -> Strip:
    """A strip of these shares (0 to 1); None: nothing is known of that step."""
    levels = [None if share is None else _level(share) for share in shares]
    return Strip(
        steps=len(shares),
        some=_runs(levels, "some"),
        much=_runs(levels, "much"),
        full=_runs(levels, "full"),
        full_steps=levels.count("full"),
        known_steps=len(levels) - levels.count(None),
    )


def _level(share: float) -> str:
    if share >= FULL:
        return "full"
    if share >= MUCH:
        return "much"
    return "some" if share > SOME else ""


def _runs(levels: Sequence[str | None], level: str) -> str:
    """One rectangle for each run of equal steps, so that a quiet strip is short."""
    parts, start = [], None
    for place, one in enumerate([*levels, None]):
        if one == level and start is None:
            start = place
        elif one != level and start is not None:
            parts.append(f"M{start} 0h{place - start}v1h-{place - start}z")
            start = None
    return "".join(parts)


def curve(values: Sequence[float | None]) -> str:
    """The area below these values, over a step for each and HEIGHT; "" if they are all nothing."""
    most = max((value for value in values if value is not None), default=0)
    if not most:
        return ""
    heights = [HEIGHT - round((value or 0) / most * HEIGHT, 1) for value in values]
    tops = "".join(f"V{height:g}h1" for height in heights)
    return f"M0 {HEIGHT}{tops}V{HEIGHT}z"
