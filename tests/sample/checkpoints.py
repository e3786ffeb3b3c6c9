"""Jobs that work in units until a file lets them end, and make a checkpoint after each."""

import asyncio
import time
from pathlib import Path

from jobs import current_job, in_thread, job
from tests.sample.light_load import QUEUE
from tests.sample.models import note_run

UNIT = 0.02  # seconds


@job(dedup=False)
def work(*, until: str) -> int:
    """Returns the units that were done, of which each has left a row."""
    run = current_job()
    done = run.cursor or 0
    while not Path(until).exists():
        note_run()
        done += 1
        run.checkpoint(done)
        time.sleep(UNIT)
    return done


@job(dedup=False, queue=QUEUE)
async def work_light(*, until: str) -> int:
    run = current_job()
    done = run.cursor or 0
    while not Path(until).exists():
        await in_thread(note_run)
        done += 1
        await run.acheckpoint(done)
        await asyncio.sleep(UNIT)
    return done
