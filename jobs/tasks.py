"""Celery's side of the wire: the message, and how it is sent."""

import uuid
from collections.abc import Sequence

from celery import shared_task

from jobs import telemetry
from jobs.engine.execute import execute
from jobs.engine.place import Place
from jobs.store import Claimed

WORKER_ID = uuid.uuid4()  # of this Celery worker: chosen in the parent, before its pool forks and its children run jobs
_place: list[Place] = []  # of this process, if it runs jobs
ONE_RECONNECT = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


@shared_task(  # type: ignore[call-overload,untyped-decorator]  # Request is not in its stubs
    name="jobs.run_attempt", Request="jobs.processes.delivery:AttemptRequest"
)
def run_attempt(job_id: int, attempt: int, *_: object) -> None:
    """The message: run this attempt. It may come late, doubled, or never. (Older ones say more.)"""
    try:
        clean = execute(job_id, attempt, *_place)
    except Exception as error:  # an outcome could not be told: this process still holds an attempt
        telemetry.noticed("process ends: an outcome was lost", job=job_id, error=type(error).__name__)
        clean = False
    if not clean:
        raise SystemExit("this process makes room for a new one")


def take_place(place: Place) -> None:
    """This process runs jobs from now on."""
    _place[:] = [place]


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Send a message for each. A broker out of reach is no error: the jobs are safe, and recover sends again."""
    for sent, job in enumerate(claimed):
        try:
            run_attempt.apply_async(
                (job.id, job.attempt),
                task_id=f"{job.id}-{job.attempt}",  # for people who read Celery's log
                queue=job.pool,
                retry=True,
                retry_policy=ONE_RECONNECT,
            )
        except Exception as error:  # whatever the broker's own library raises
            why = "out of memory" if "OOM" in str(error) else type(error).__name__  # it answers, but takes nothing
            telemetry.noticed("broker out of reach", error=why, unsent=len(claimed) - sent)
            return
