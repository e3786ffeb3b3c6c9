"""Several runs of the same scenarios, put together: each figure is a median, and an order holds if all runs have it.

Of what must not happen, as a start beyond a limit, the worst run counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from statistics import median
from typing import Any

from .figures import FIGURES
from .scene import Figures

SAME = ("cores", "python", "postgresql", "scale")  # what runs must have in common


@dataclass(frozen=True)
class Failure:
    """A queue without figures in a scenario, in so many of its runs."""

    peer: str
    reason: str
    not_offered: bool
    times: int


class Several:
    """The results of runs, each as `python -m benchmarks.fair` wrote it. Raises ValueError if they differ in kind."""

    def __init__(self, results: Sequence[dict[str, Any]]) -> None:
        self.results = results
        self.first = results[0]
        self.scenarios: dict[str, str] = {}
        self.peers: dict[str, Any] = {}
        for result in results:
            for what in SAME:
                if result[what] != self.first[what]:
                    raise ValueError(f"The runs differ in {what}: {self.first[what]} and {result[what]}.")
            for name, words in result["scenarios"].items():
                if self.scenarios.setdefault(name, words) != words:
                    raise ValueError(f"The runs differ in the scenario {name}.")
            for peer, about in result["peers"].items():
                if "not_installed" in self.peers.get(peer, {"not_installed": ""}):
                    self.peers[peer] = about

    def times(self, scenario: str) -> int:
        """How many runs have this scenario."""
        return sum(scenario in result["scenarios"] for result in self.results)

    def each(self, scenario: str) -> list[dict[str, Figures]]:
        """The figures by queue, of each run that has the scenario."""
        return [
            {run["peer"]: run["figures"] for run in result["runs"] if run["scenario"] == scenario and not run["failed"]}
            for result in self.results
            if scenario in result["scenarios"]
        ]

    def figures(self, scenario: str) -> dict[str, Figures]:
        """The figures by queue, of all runs together."""
        each = self.each(scenario)
        peers = {peer for told in each for peer in told}
        return {peer: _together([told[peer] for told in each if peer in told]) for peer in peers}

    def failures(self, scenario: str) -> list[Failure]:
        """The queues that did not play it in a run."""
        found: dict[str, Failure] = {}
        for result in self.results:
            for run in result["runs"]:
                if run["scenario"] == scenario and run["failed"]:
                    times = found[run["peer"]].times + 1 if run["peer"] in found else 1
                    found[run["peer"]] = Failure(run["peer"], run["failed"], run["not_offered"], times)
        return list(found.values())

    def with_peer(self, scenario: str, peer: str) -> list[dict[str, Figures]]:
        """`each` of the runs that tried this queue, also if it failed."""
        tried = [
            any(run["peer"] == peer and run["scenario"] == scenario for run in result["runs"])
            for result in self.results
            if scenario in result["scenarios"]
        ]
        return list(compress(self.each(scenario), tried))


def _together(told: list[Figures]) -> Figures:
    """One value for each figure; None if it never came in one of the runs."""
    found: Figures = {}
    for name in told[0]:
        values = [figures.get(name) for figures in told]
        there = [value for value in values if value is not None]
        found[name] = _one(name, there) if len(there) == len(values) else None
    if "most" in found:
        worst = max(told, key=lambda figures: (figures["most"] or 0) - (figures["limit"] or 0))
        found["most"], found["limit"] = worst["most"], worst["limit"]
    return found


def _one(name: str, values: list[float]) -> float:
    figure = FIGURES.get(name)
    return max(values) if figure and figure.worst else median(values)
