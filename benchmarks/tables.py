"""Figures on a terminal of 80 columns: a line for each measure, a column for each contender, then the ratios."""

from typing import Any

from benchmarks.bars import Figures

OURS = "ours"
NAME, CELL = 32, 9  # characters of the first column, and of each other


def show(figures: Figures, verdicts: list[dict[str, Any]]) -> None:
    """Print the figures, the ratio of ours to each of the others, and the verdict on each bar."""
    names = list(dict.fromkeys(name for line in figures.values() for name in line))
    others = [name for name in names if name != OURS]
    _line("", [*names, *(f"/ {name}" for name in others)])
    for what, line in figures.items():
        ratios = [_number(_ratio(line, other)) for other in others]
        _line(what, [*(_number(line.get(name)) for name in names), *ratios])
    for verdict in verdicts:
        mark = "PASS" if verdict["passed"] else "MISS"
        print(f"  {mark}  {verdict['bar']:<49}{_number(verdict['value']):>8}  {verdict['wanted']}")  # noqa: T201


def _line(name: str, cells: list[str]) -> None:
    print(f"  {name:<{NAME}}" + "".join(f"{cell:>{CELL}}" for cell in cells).rstrip(), flush=True)  # noqa: T201


def _ratio(line: dict[str, float], other: str) -> float | None:
    return line[OURS] / line[other] if line.get(other) and OURS in line else None


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004
