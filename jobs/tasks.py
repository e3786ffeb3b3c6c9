"""Celery's side of the wire: the message, and how it is sent."""

import uuid
from collections.abc import Sequence

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection

from jobs import telemetry, time_limit
from jobs.engine.execute import execute
from jobs.store import Claimed

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
    time_limit.arm(timeout)
    execute(
        job_id,
        attempt,
        worker=WORKER_ID,
        timeout=timeout,
        memory=memory,
        time_is_up=SoftTimeLimitExceeded,
        body_done=time_limit.disarm,
    )


def hand_over(claimed: Sequence[Claimed]) -> None:
    """Send a message for each. A broker out of reach is no error: the jobs are safe, and recover sends again."""
    for sent, job in enumerate(claimed):
        try:
            run_attempt.apply_async(
                (job.id, job.attempt, job.timeout, job.memory),
                task_id=f"{job.id}-{job.attempt}",  # for people who read Celery's log
                queue=job.pool,
                retry=True,
                retry_policy=ONE_RECONNECT,
            )
        except Exception as error:  # whatever the broker's own library raises
            telemetry.noticed("broker out of reach", error=type(error).__name__, unsent=len(claimed) - sent)
            return
