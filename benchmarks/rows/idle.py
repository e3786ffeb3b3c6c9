"""idle: the time from the submitting call to the first line of the body, on an idle system."""

import time
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.contender import Contender
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from benchmarks.contenders.seed import Seed

JOBS, WARM = 100, 10
PACE = 0.05  # seconds from one body to the next submit, so that the last job has ended

MEDIAN, TAIL = "submit to body, p50 ms", "submit to body, p95 ms"
BARS = [Bar(of=(MEDIAN, "ours"), to=(MEDIAN, "Celery"), at_most=2.3)]


def measure(directory: Path) -> Figures:
    """Each contender in turn."""
    figures: Figures = {MEDIAN: {}, TAIL: {}}
    for contender in (Ours(), Plain(), Seed()):
        contender.prepare()
        bells.forget()
        with stage.playing(directory, contender.name, contender.worker()):
            contender.begin()
            milliseconds = [latency(contender, n) * 1000 for n in range(WARM + JOBS)][WARM:]
        centiles = quantiles(milliseconds, n=100)
        figures[MEDIAN][contender.name], figures[TAIL][contender.name] = centiles[49], centiles[94]
    return figures


def latency(contender: Contender, n: int) -> float:
    """The latency in seconds, by the clock of the machine."""
    time.sleep(PACE)
    submitted = time.time()
    contender.submit(n)
    bells.wait(n + 1)
    return bells.heard()[n].moment - submitted
