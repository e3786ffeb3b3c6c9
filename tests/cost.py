"""What the tests cost: seconds by folder, told at the end of a run; and how many cases each has in a short run.

Time depends on the machine, so no time fails a run: the number of cases does, which `make test` pays for. What a run of
several folders spent, by file and by case, is kept in `durations.txt`, which CI keeps as an artefact. Processors are
what a run of all is short of: the files are in the order of their seconds, and the cases in the order of time.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.thorough import THOROUGH

# Of those that are not `long`. Something is due before one of these grows: a loop, a property, or the mark.
MOST_CASES = {
    "acceptance": 130,
    "architecture": 200,
    "chaos": 30,
    "concurrency": 100,
    "integration": 5900,
    "unit": 1260,
}
KEPT = Path(__file__).parents[1] / "durations.txt"
MOST_KEPT = 50
MARK = pytest.StashKey[float]()
spent: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])  # by folder: cases, seconds, of processors
seconds_of: Counter[str] = Counter()  # by case, with its fixtures
processors_of: Counter[str] = Counter()  # seconds, by case and by file


def folder(node_id: str) -> str:
    """The folder below `tests`, as "unit"."""
    parts = node_id.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def processor_seconds() -> float:
    """Of this process, and of its children that have ended and were waited for; PostgreSQL's are not among them."""
    return sum(os.times()[:4]) + warm.used


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Refuse a short run that has become a long one."""
    cases = Counter(folder(item.nodeid) for item in items if not item.get_closest_marker("long"))
    over = {name: cases[name] for name, limit in MOST_CASES.items() if cases[name] > limit}
    if over and not THOROUGH:
        # Not raised: that would end one of several processes, and nobody would read the reason.
        session.shouldfail = f"more cases in `make test` than tests/cost.py allows: {over}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[MARK] = processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    now = processor_seconds()
    report.processor_seconds, item.stash[MARK] = now - item.stash[MARK], now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if hasattr(report, "processor_seconds"):  # not that of a subtest
        line = spent[folder(report.nodeid)]
        line[0] += report.when == "setup"
        line[1] += report.duration
        line[2] += report.processor_seconds
        seconds_of[report.nodeid] += report.duration
        for name in (report.nodeid, report.nodeid.partition("::")[0]):
            processors_of[name] += report.processor_seconds


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Of a run of one folder pytest's own `--durations` tells more."""
    if len(spent) > 1:
        terminalreporter.section("cost: cases, seconds, seconds of processors without PostgreSQL's")
        for name, (cases, seconds, processors) in sorted(spent.items(), key=lambda line: -line[1][2]):
            terminalreporter.write_line(f"{name:14} {cases:6} {seconds:8.0f} {processors:8.0f}")
        files = [(name, seconds) for name, seconds in processors_of.most_common() if "::" not in name]
        lines = [f"{seconds:15.1f} {name}" for name, seconds in files[:MOST_KEPT]]
        for case, seconds in seconds_of.most_common(MOST_KEPT):
            lines.append(f"{seconds:7.1f} {processors_of[case]:7.1f} {case}")
        KEPT.write_text("seconds, seconds of processors\n" + "\n".join(lines) + "\n")
        terminalreporter.write_line(f"by file, and the slowest cases: {KEPT.name}")
