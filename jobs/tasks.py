"""Celery's side of the wire: the message, and how it is sent."""

import uuid
from collections.abc import Sequence

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import connection

from jobs import telemetry, time_limit
from jobs.engine.execute import execute
from jobs.store import Applied, Claimed

WORKER_ID = uuid.uuid4()  # of this Celery worker: chosen in the parent, before its pool forks and its children run jobs
ONE_RECONNECT = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


@shared_task(  # type: ignore[call-overload,untyped-decorator]  # Request is not in its stubs
    name="jobs.run_attempt", Request="jobs.attempt_request:AttemptRequest"
)
def run_attempt(job_id: int, attempt: int, timeout: float, memory: int | None) -> None:
    """The message: run this attempt, within `timeout` seconds. It may come late, doubled, or never.

    memory: MiB its process may use; the worker's parent process sees to that.
    """
    connection.close_if_unusable_or_obsolete()
    time_limit.arm()
    execute(
        job_id,
        attempt,
        worker=WORKER_ID,
        timeout=timeout,
        time_is_up=SoftTimeLimitExceeded,
        body_done=time_limit.disarm,
    )


def task_id(job: Claimed | Applied) -> str:
    """Celery's name for an attempt."""
    return f"{job.id}-{job.attempt}"


def end_process(job: Applied) -> None:
    """End the process that runs this attempt. A broker out of reach is no error: the clock asks again."""
    try:
        run_attempt.app.control.revoke(task_id(job), terminate=True, signal="SIGKILL")
    except Exception as error:  # whatever the broker's own library raises
        telemetry.noticed("broker out of reach", error=type(error).__name__, job=job.id)


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Send a message for each. A broker out of reach is no error: the jobs are safe, and recover sends again."""
    for sent, job in enumerate(claimed):
        try:
            run_attempt.apply_async(
                (job.id, job.attempt, job.timeout, job.memory),
                task_id=task_id(job),
                queue=job.pool,
                soft_time_limit=job.timeout,
                time_limit=job.timeout + settings.JOBS_TIMEOUT_GRACE,
                retry=True,
                retry_policy=ONE_RECONNECT,
            )
        except Exception as error:  # whatever the broker's own library raises
            why = "out of memory" if "OOM" in str(error) else type(error).__name__  # it answers, but takes nothing
            telemetry.noticed("broker out of reach", error=why, unsent=len(claimed) - sent)
            return
