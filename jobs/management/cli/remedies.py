"""The commands with which an operator opens a gate."""

from django.conf import settings

from jobs.engine.explain.explanation import Gate
from jobs.models import JobRow

TENANT = "manage.py tenants slots {tenant}"
QUEUE = "manage.py queues"
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
    Gate.NO_WORKER: "celery -A {app} worker -Q {pool}",
    Gate.POOL_FULL: "start more workers: celery -A {app} worker -Q {pool}",
}


def remedy(gate: Gate, job: JobRow) -> str | None:
    """The command with the job's own names filled in; None if no command opens the gate."""
    return (
        None
        if gate not in REMEDIES
        else REMEDIES[gate].format(
            tenant=job.tenant.slug,
            queue=job.queue.name,
            pool=job.queue.pool,
            app=settings.ROOT_URLCONF.partition(".")[0],  # the package of the project, where Celery's app is
            source_type=job.source_type,
            source_method=job.source_method,
        )
    )
