"""Figures on a terminal: a line for each measure, a column for each contender, then the ratios, if we are one."""

from typing import Any

from benchmarks.bars import OURS, Figures

NAME, CELL, GAP = 32, 9, 2  # characters of the first column, of each other at least, and before a longer name


def show(figures: Figures, verdicts: list[dict[str, Any]]) -> None:
    """Print the figures, the ratio of ours to each of the others, and the verdict on each bar."""
    names = list(dict.fromkeys(name for line in figures.values() for name in line))
    others = [name for name in names if name != OURS] if OURS in names else []
    heads = [*names, *(f"/ {name}" for name in others)]
    widths = [max(CELL, len(head) + GAP) for head in heads]
    _line("", heads, widths)
    for what, line in figures.items():
        ratios = [_number(_ratio(line, other)) for other in others]
        _line(what, [*(_number(line.get(name)) for name in names), *ratios], widths)
    for verdict in verdicts:
        mark = "GOAL" if verdict.get("reached") else "PASS" if verdict["passed"] else "MISS"
        print(f"  {mark}  {verdict['bar']:<49}{_number(verdict['value']):>8}  {verdict['wanted']}")  # noqa: T201


def _line(name: str, cells: list[str], widths: list[int]) -> None:
    row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    print(f"  {name:<{NAME}}{row.rstrip()}", flush=True)  # noqa: T201


def _ratio(line: dict[str, float], other: str) -> float | None:
    return line[OURS] / line[other] if line.get(other) and OURS in line else None


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004
