"""light_blocked: a coroutine blocks the event loop of its process for five seconds; sixty others reach their limit.

From its begin until the log tells of it, and whether the log names it; how late the limits of the others are, in its
process and in the other one.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from jobs.models import Job
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 10, 20, 100, 2
OTHERS, LONG, LIMIT = 60, 600.0, 2.0  # coroutines, seconds that they wait, seconds after which their time is up
BLOCKED = 5.0  # seconds
LINE = r"^(\S+)Z WARNING \S+ {}((?: \S+=.*)?)$"

SEEN, TOLD, NAMED = "loop seen blocked after, ms", "its job told after, ms", "the log names the right job"
LATE = "limits late in {}, p99 ms"
SAME, OTHER = "its process", "the other one"

BARS = [
    Bar(of=(SEEN, "ours"), at_most=350, goal=300),
    Bar(of=(NAMED, "ours"), at_least=1),
    Bar(of=(LATE.format(OTHER), "ours"), at_most=150),
]


def measure(directory: Path) -> Figures:
    """The figures of one block."""
    side = Light(TENANTS, SLOTS, SEATS)
    side.prepare()
    bells.forget()
    with stage.crew(directory, side.workers(PROCESSES)):
        ids = side.store("arest", range(OTHERS), timeout=LIMIT, seconds=LONG)
        bells.wait(OTHERS)
        [blocking] = side.store("ablock", range(OTHERS, OTHERS + 1), seconds=BLOCKED)
        wait_until(lambda: len(bells.heard()) >= 2 * (OTHERS + 1), "all have ended")
        wait_until(lambda: "loop goes round again" in _log(directory), "the log tells that it is over")
    moments = {(what, int(n)): moment for moment, (what, _, n) in bells.heard()}
    begun, text = moments["begin", OTHERS], _log(directory)
    told, facts = _line(text, "loop blocked by")
    figures = {SEEN: (_line(text, "loop blocked")[0] - begun) * 1000, TOLD: (told - begun) * 1000}
    figures[NAMED] = f"job={blocking} " in facts
    pids = dict(Job.objects.values_list("pk", "worker_pid"))
    for which, same in ((SAME, True), (OTHER, False)):
        there = [n for n, job_id in enumerate(ids) if (pids[job_id] == pids[blocking]) is same]
        late = [(moments["end", n] - moments["begin", n] - LIMIT) * 1000 for n in there]
        figures[LATE.format(which)] = quantiles(late, n=100, method="inclusive")[98]
    return {what: {"ours": value} for what, value in figures.items()}


def _log(directory: Path) -> str:
    """What all workers have logged."""
    return "".join(path.read_text() for path in directory.glob("*.log"))


def _line(log: str, event: str) -> tuple[float, str]:
    """Return when the log first tells of that event, and its facts."""
    found = re.search(LINE.format(event), log, re.MULTILINE)
    if found is None:
        raise AssertionError(f"The log does not tell: {event}")
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp(), found[2]
