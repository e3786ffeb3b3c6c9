"""The remedy for each gate that holds a job: a command, and on the pages a button or a link."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote

from django.http import HttpRequest
from django.urls import reverse

from jobs.allocation.gates import Gate
from jobs.models import JobRow
from plumbing.names import named

TENANT = "manage.py tenants slots {tenant}"
QUEUE = "manage.py queues"
WORKER = "manage.py jobs worker {pool}"
REMEDIES = {
    Gate.HELD: "manage.py jobs resume {source_type}.{source_method}",
    Gate.BUDGET: "manage.py tenants budget {tenant} UNIT=N",
    Gate.TENANT_PAUSED: f"{TENANT} --resume",
    Gate.NO_SLOTS: f"{TENANT} --set N",
    Gate.SLOTS_FULL: f"{TENANT} --set N",
    Gate.LANE_HELD: f"{QUEUE} open {{queue}} --tenant {{tenant}}",
    Gate.LANE_FULL: f"{TENANT} --queue {{queue}}=N",
    Gate.QUEUE_PAUSED: f"{QUEUE} resume {{queue}}",
    Gate.QUEUE_HELD: f"{QUEUE} open {{queue}}",
    Gate.QUEUE_FULL: f"{QUEUE} set {{queue}} --concurrency N",
    Gate.QUEUE_RATE: f"{QUEUE} set {{queue}} --rate JOBS/SECONDS",
    Gate.TENANT_RATE: f"{TENANT} --rate JOBS/SECONDS",
    Gate.USER_FULL: f"{TENANT} --user-slots N",
    Gate.NO_WORKER: WORKER,
    Gate.POOL_FULL: f"start more workers: {WORKER}",
}

OF_TENANT = frozenset({Gate.NO_SLOTS, Gate.SLOTS_FULL, Gate.LANE_FULL, Gate.TENANT_RATE, Gate.USER_FULL, Gate.BUDGET})
OF_HOLDS = frozenset({Gate.LANE_HELD, Gate.QUEUE_HELD})
OF_QUEUE = frozenset({Gate.QUEUE_FULL, Gate.QUEUE_RATE})


def remedy(gate: Gate, job: JobRow) -> str | None:
    """Return the command that opens the gate, with the names of the job filled in; None if no command does.

    The operator replaces the words in capitals.
    """
    if gate not in REMEDIES:
        return None
    named = {"tenant": quote(job.tenant.jobs_slug), "queue": job.queue.name, "pool": job.queue.pool}
    return REMEDIES[gate].format(**named, source_type=job.source_type, source_method=job.source_method)


@dataclass(frozen=True)
class Switch:
    """A button or a link that opens a gate.

    permission: the permission that the operator needs for it
    values: what a button posts to the address; without values it is a link
    """

    label: str
    address: str
    permission: str
    values: Mapping[str, str] = field(default_factory=dict)


def switch_for(request: HttpRequest, gate: Gate, job: JobRow) -> Switch | None:
    """Return the switch of this gate; None if it has none, or if the user lacks the permission for it."""
    switch = _opens(gate, job) if gate in OF_HOLDS else _switch(gate, job)
    return switch if switch is not None and request.user.has_perm(named(switch.permission)) else None


def _opens(gate: Gate, job: JobRow) -> Switch:
    address = reverse("jobs_ops:open-queue", args=[job.queue.name])
    lane = {"tenant": job.tenant.jobs_slug if gate == Gate.LANE_HELD else ""}
    return Switch("Open it now", address, "jobs.change_queue", lane)


def _switch(gate: Gate, job: JobRow) -> Switch | None:
    tenant, queue, job_type = job.tenant, job.queue.name, f"{job.source_type}.{job.source_method}"
    resume = {"paused": "0"}
    match gate:
        case Gate.HELD:
            address = reverse("jobs_ops:resume-type")
            return Switch(f"Resume {job_type}", address, "jobs.delete_pausedjobtype", {"type": job_type})
        case Gate.TENANT_PAUSED:
            address = reverse("jobs_ops:change-tenant", args=[tenant.jobs_slug])
            return Switch(f"Resume {tenant.jobs_name}", address, "tenants.change_tenantqueue", resume)
        case Gate.QUEUE_PAUSED:
            address = reverse("jobs_ops:change-queue", args=[queue])
            return Switch(f"Resume queue {queue}", address, "jobs.change_queue", resume)
        case _ if gate in OF_TENANT:
            address = f"{reverse('jobs_ops:tenant', args=[tenant.jobs_slug])}#limits"
            return Switch(f"Limits of {tenant.jobs_name}", address, "tenants.change_tenantqueue")
        case _ if gate in OF_QUEUE:
            address = f"{reverse('jobs_ops:queues')}?change={queue}#queue-{job.queue_id}"
            return Switch(f"Limits of queue {queue}", address, "jobs.change_queue")
    return None
