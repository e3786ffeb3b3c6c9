"""Attempts executed in this process: for tests of what becomes of a job, without a worker."""

import uuid
from copy import copy
from dataclasses import replace

from jobs import store
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.process.host import AttemptHost, ProcessHost, TimeLimit
from jobs.models import Job
from jobs.store import Claimed, Started
from tests.clock import call_at

WORKER = uuid.UUID(int=1)


class Alarm(Exception):
    """What interrupts a body whose time is up."""


class Limit(TimeLimit):
    """Notes when it was armed and disarmed."""

    time_is_up = Alarm

    def __init__(self) -> None:
        self.calls: list[str] = []

    def arm(self, job: Started, seconds: float, silence: float | None = None) -> None:
        self.calls.append(f"arm {job.id}")

    def disarm(self) -> None:
        self.calls.append("disarm")


def changed(host: AttemptHost, **parts) -> AttemptHost:
    """The seat with other fields, or with functions in the place of its methods or of those of its process."""
    made, process = copy(host), copy(host.process)
    of_process = {name: part for name, part in parts.items() if hasattr(process, name)}
    vars(process).update(of_process)
    made.process, made.seat = process, replace(made.seat, worker=process.worker)
    vars(made).update({name: part for name, part in parts.items() if name not in of_process})
    return made


def run(sent: list[Claimed], job_id: int, **host) -> Job:
    """Execute the message that was sent last for this job; the job as it is then."""
    claimed = [message for message in sent if message.id == job_id][-1]
    execute(claimed.id, claimed.attempt, changed(AttemptHost(ProcessHost(WORKER), limit=Limit()), **host))
    return Job.objects.get(pk=job_id)


def run_when_due(sent: list[Claimed], job_id: int, **host) -> Job:
    """Let its moment come, as the clock would, and execute it."""
    call_at(Job.objects.get(pk=job_id).due_at, store.promote)
    dispatch()
    return run(sent, job_id, **host)
