"""due: the time from a job's due moment to the start of its body, on an otherwise idle system."""

import random
from datetime import datetime, timedelta
from pathlib import Path
from statistics import quantiles

from django.utils import timezone

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from jobs import submit_many
from jobs.models import Worker
from tests.waiting import wait_until

JOBS = 100
FIRST, SPREAD = 2.0, 20.0  # seconds until the first is due, and over which they are scattered
MEDIAN, TAIL, MOST = "due to body, p50 ms", "due to body, p95 ms", "due to body, most, ms"
BARS = [Bar(of=(MEDIAN, "ours"), at_most=100)]


def measure(directory: Path) -> Figures:
    """Use one worker; submit all jobs in one statement, so that submits do not disturb the measurement."""
    ours = Ours()
    ours.prepare(tenants=1, slots=20)
    with stage.playing(directory, ours.name, ours.worker()):
        wait_until(Worker.objects.exists, "the worker registers")
        moments = _moments()
        echo = [ours.things[0].async_(at=moment).echo.request(n) for n, moment in enumerate(moments)]
        submit_many(echo)
        bells.wait(JOBS, patience=FIRST + SPREAD + 30)
    late = [(ring.moment - moments[int(ring.words[0])].timestamp()) * 1000 for ring in bells.heard()]
    centiles = quantiles(late, n=100)
    return {MEDIAN: {"ours": centiles[49]}, TAIL: {"ours": centiles[94]}, MOST: {"ours": max(late)}}


def _moments() -> list[datetime]:
    draw = random.Random(1)  # noqa: S311 - the same in every run
    begin = timezone.now() + timedelta(seconds=FIRST)
    return [begin + timedelta(seconds=draw.uniform(0, SPREAD)) for _ in range(JOBS)]
