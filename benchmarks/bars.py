"""A bar: the value that a figure, or the ratio of two, must reach. Each row declares its bars as data."""

from dataclasses import dataclass
from typing import Any

Figures = dict[str, dict[str, float]]  # measure with its unit, then contender: {"jobs/s": {"ours": 153.0}}
Figure = tuple[str, str]  # what, whose
OURS = "ours"


@dataclass(frozen=True)
class Bar:
    """The bounds of `of`, divided by `to` if that is given.

    goal: a further bound in the same direction, which need not be reached.
    """

    of: Figure
    to: Figure | None = None
    at_least: float | None = None
    at_most: float | None = None
    goal: float | None = None

    def verdict(self, figures: Figures) -> dict[str, Any]:
        """Its words, the value, and whether it passes, and reaches its goal; a missing figure misses its bar."""
        value = self._value(figures)
        passed = value is not None
        if value is not None and self.at_least is not None:
            passed = value >= self.at_least
        if value is not None and self.at_most is not None:
            passed = passed and value <= self.at_most
        goals = {} if self.goal is None else {"goal": self.goal, "reached": passed and self._reaches(value, self.goal)}
        return {"bar": self.words, "value": value, "wanted": self.wanted, "passed": passed, **goals}

    def _reaches(self, value: float | None, goal: float) -> bool:
        return value is not None and (value >= goal if self.at_least is not None else value <= goal)

    @property
    def words(self) -> str:
        name, side = self.of
        if self.to is None:
            return f"{name}, {side}"
        other_name, other_side = self.to
        if other_name == name:
            return f"{name}: {side} / {other_side}"
        if side == other_side:
            return f"{name} / {other_name}" + (f", {side}" if side != OURS else "")
        return f"{name} / {other_name} ({side} / {other_side})"

    @property
    def wanted(self) -> str:
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:g} to {self.at_most:g}"
        return f">= {self.at_least:,g}" if self.at_least is not None else f"<= {self.at_most:,g}"

    def _value(self, figures: Figures) -> float | None:
        value = _figure_of(figures, self.of)
        if self.to is None or value is None:
            return value
        other = _figure_of(figures, self.to)
        return value / other if other else None


def _figure_of(figures: Figures, figure: Figure) -> float | None:
    name, side = figure
    return figures.get(name, {}).get(side)
