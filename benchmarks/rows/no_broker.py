"""no_broker: what `CELERY_BROKER_URL = "postgresql://"` costs beside a broker of one's own, on an idle system.

A busy one needs no messages: a process that ends a job takes the next one. Each broker in a process of its own, since
Celery's app has one.
"""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from statistics import quantiles

import django

from benchmarks import PATIENCE, bells, stage
from benchmarks.bars import Bar, Figures

BROKER = "CELERY_BROKER_URL"
MEDIAN, TAIL = "submit to body, p50 ms", "submit to body, p95 ms"
JOBS, WARM = 100, 10
BARS = [Bar(of=(MEDIAN, "none"), to=(MEDIAN, "Valkey"), at_most=1.5)]


def measure(directory: Path) -> Figures:
    """Both in turn."""
    figures: Figures = {MEDIAN: {}, TAIL: {}}
    for name, url in (("Valkey", os.environ[BROKER]), ("none", "postgresql://")):
        output = directory / f"{name}.json"
        argv = [sys.executable, "-m", "benchmarks.rows.no_broker", str(output)]
        subprocess.run(argv, env={**os.environ, BROKER: url}, check=True, timeout=PATIENCE)
        for what, value in json.loads(output.read_text()).items():
            figures[what][name] = value
    return figures


def main(output: Path) -> None:
    """This project with the broker in the environment."""
    directory = output.with_suffix("")
    directory.mkdir()
    with bells.tower(directory):
        django.setup()
        logging.disable()
        import scheduler_project.celery  # noqa: F401  # the app that carries messages
        from benchmarks import databases
        from benchmarks.contenders.ours import Ours
        from benchmarks.rows.idle import latency

        databases.empty()
        contender = Ours()
        contender.prepare()
        bells.forget()
        with stage.playing(directory, contender.name, contender.worker()):
            contender.begin()
            milliseconds = [latency(contender, n) * 1000 for n in range(WARM + JOBS)][WARM:]
        centiles = quantiles(milliseconds, n=100)
    output.write_text(json.dumps({MEDIAN: centiles[49], TAIL: centiles[94]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
