"""The commands with which an operator opens a gate."""

from jobs.models import JobRow
from jobs.reading.explain.explanation import Gate

TENANT = "manage.py tenants slots {tenant}"
QUEUE = "manage.py queues"
WORKER = "celery -A APP worker -Q {pool}"  # the module of the project's Celery app is known to its workers alone
REMEDIES = {
    Gate.HELD: "manage.py jobs resume {source_type} {source_method}",
    Gate.TENANT_PAUSED: f"{TENANT} --resume",
    Gate.NO_SLOTS: f"{TENANT} --set N",
    Gate.SLOTS_FULL: f"{TENANT} --set N",
    Gate.QUEUE_PAUSED: f"{QUEUE} resume {{queue}}",
    Gate.QUEUE_FULL: f"{QUEUE} set {{queue}} --concurrency N",
    Gate.QUEUE_RATE: f"{QUEUE} set {{queue}} --rate JOBS/SECONDS",
    Gate.TENANT_RATE: f"{TENANT} --rate JOBS/SECONDS",
    Gate.USER_FULL: f"{TENANT} --user-slots N",
    Gate.NO_WORKER: WORKER,
    Gate.POOL_FULL: f"start more workers: {WORKER}",
}


def remedy(gate: Gate, job: JobRow) -> str | None:
    """The command with the job's own names filled in; None if no command opens the gate. Capitals are for its user."""
    if gate not in REMEDIES:
        return None
    named = {"tenant": job.tenant.jobs_slug, "queue": job.queue.name, "pool": job.queue.pool}
    return REMEDIES[gate].format(**named, source_type=job.source_type, source_method=job.source_method)
