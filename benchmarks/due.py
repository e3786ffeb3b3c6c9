"""How long after its due moment a job starts: `python -m embedded run --throwaway -- python -m benchmarks.due`.

Jobs due at scattered moments, one real worker, the embedded engines. The goal is a median under 100 ms.
"""

import os
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles

import django

JOBS = 300
SPREAD = 60.0  # seconds over which they are due
FIRST = 2.0  # seconds until the first is due
PROCESSES = 2
GOAL = 0.100  # seconds, of the median
PATIENCE = 60.0  # seconds for the worker to appear, and for the last job to end


def main() -> None:
    """Measure, print, and exit with status 1 if the goal is missed."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["LOG_LEVEL"] = "WARNING"
    django.setup()

    from django.core.management import call_command

    from embedded import fleet
    from embedded.processes import Processes
    from jobs.models import Worker

    call_command("migrate", verbosity=0)
    with Processes() as processes, tempfile.TemporaryDirectory() as logs:
        processes.start("worker", *fleet.worker(concurrency=PROCESSES), log=Path(logs) / "worker.log")
        _wait(Worker.objects.exists, PATIENCE)
        _submit()
        jobs = _started()
    steps = {
        "due to queued": [job.queued_at - due for job, due in jobs],
        "queued to start": [job.start_time - job.queued_at for job, _ in jobs],
        "due to start": [job.start_time - due for job, due in jobs],
    }
    print(f"{len(jobs)} jobs due over {SPREAD:g} s, one worker with {PROCESSES} processes; milliseconds:")  # noqa: T201
    for step, delays in steps.items():
        seconds = sorted(delay.total_seconds() for delay in delays)
        centiles = quantiles(seconds, n=100)
        figures = {"median": centiles[49], "95 %": centiles[94], "most": seconds[-1]}
        print(f"  {step:<16}", *(f"{name} {figure * 1000:6.1f}  " for name, figure in figures.items()))  # noqa: T201
    sys.exit(centiles[49] >= GOAL)  # the last step is the whole


def _submit() -> None:
    """In one statement, so that the submitting disturbs nothing afterwards."""
    from jobs import submit_many
    from tests.factories import TenantFactory, ThingFactory

    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=10 * PROCESSES))
    draw = random.Random(1)  # noqa: S311 - the same moments in every run
    delays = [FIRST + draw.uniform(0, SPREAD) for _ in range(JOBS)]
    submit_many(thing.async_(delay=delay).echo.request(n) for n, delay in enumerate(delays))


def _started() -> list:
    """Every job with its due moment, which is noted now: the job itself forgets it when it is promoted."""
    from jobs.lifecycle import FINAL
    from jobs.models import Job

    due = dict(Job.objects.values_list("pk", "due_at"))
    time.sleep(FIRST + SPREAD)  # no question of ours in between: the machine is to be idle
    _wait(lambda: not Job.objects.exclude(status__in=FINAL).exists(), PATIENCE)
    return [(job, due[job.pk]) for job in Job.objects.all()]


def _wait(condition, patience: float) -> None:
    give_up = time.monotonic() + patience
    while not condition():
        if time.monotonic() > give_up:
            sys.exit("In vain: nothing moves.")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
