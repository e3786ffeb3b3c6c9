"""What the bodies of a chaos run leave: evidence outside PostgreSQL, and what others must not find."""

import os
import time

from django.apps import apps

from jobs import current_job
from tests.sample.ways import NOTHING, look
from tests.sample.ways import leave as leave_there

UNITS = 10  # of a body that makes checkpoints
ANSWERED_WITHIN = 10.0  # seconds of patience of a job that asks


def tell_evidence(line: str) -> None:
    evidence = os.open(os.environ["CHAOS_EVIDENCE"], os.O_WRONLY | os.O_APPEND)
    os.write(evidence, line.encode())  # one write: whole, also when the process is killed
    os.close(evidence)


def leave_evidence(number: int) -> tuple[int, int]:
    """That this body has started, and when: outside PostgreSQL, which may forget it. Returns what is its own."""
    current = current_job()
    tell_evidence(f"{current.id} {current.attempt} {os.getpid()} {time.time():.3f}\n")
    current.stats.update(number=number, attempt=current.attempt)
    return number, current.attempt


def labour(number: int, seconds: float) -> tuple[int, int]:
    """What a body of a chaos run does; odd numbers listen when they are asked to stop."""
    evidence = leave_evidence(number)
    if seconds:
        time.sleep(seconds)
    if number % 2:
        current_job().check_cancelled()
    return evidence


def book(evidence: tuple[int, int]) -> tuple[int, int]:
    """Write a row in the transaction that ends the job."""
    current = current_job()
    with current.ending(result=evidence):
        apps.get_model("sample", "Run").objects.create(job_id=current.id, attempt=current.attempt, pid=os.getpid())
    return evidence


def meet(job_id: int, attempt: int, left: str) -> None:
    """Tell what others have left in this thread, write a row, and leave something."""
    if (settings := look()) != NOTHING:
        tell_evidence(f"{job_id} {attempt} {os.getpid()} {time.time():.3f} {settings}\n")
    apps.get_model("sample", "Run").objects.create(job_id=job_id, attempt=attempt, pid=os.getpid())
    leave_there(left)
