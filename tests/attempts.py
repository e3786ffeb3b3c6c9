"""Attempts executed in this process: for tests of what becomes of a job, without a worker."""

import uuid

from jobs import store
from jobs.engine.dispatch import dispatch
from jobs.engine.execute import execute
from jobs.models import Job
from jobs.store import Claimed

WORKER = uuid.UUID(int=1)


def run(sent: list[Claimed], job_id: int, **options) -> Job:
    """Execute the message that was sent last for this job; the job as it is then."""
    claimed = [message for message in sent if message.id == job_id][-1]
    execute(claimed.id, claimed.attempt, **{"worker": WORKER, "timeout": 5} | options)
    return Job.objects.get(pk=job_id)


def run_when_due(sent: list[Claimed], job_id: int, **options) -> Job:
    """Let its moment come, as the clock would, and execute it."""
    store.promote(now=Job.objects.get(pk=job_id).due_at)
    dispatch()
    return run(sent, job_id, **options)
