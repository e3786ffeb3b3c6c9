"""Read the stacks that operators have asked for. For operators only: a stack names the code of the whole project."""

from datetime import datetime, timedelta

from jobs.models import Stack
from jobs.store import STACK_LATE

MOST_SHOWN = 3
ASKED = "Asked for. Its worker answers within a second or two."
LATE = (
    f"No answer within {STACK_LATE:.0f} s: its code keeps the interpreter of its process to itself, its worker hangs "
    "or does not reach PostgreSQL, or the attempt is over."
)


def of_job(job_id: int) -> list[Stack]:
    """Return the last questions for stacks of a job, with their answers, the newest first."""
    return [*Stack.objects.filter(job_id=job_id).order_by("-pk")[:MOST_SHOWN]]


def numbered(number: int) -> Stack | None:
    return Stack.objects.filter(pk=number).first()


def said(stack: Stack, now: datetime) -> str:
    """Return why there is no stack, or not yet; "" if there is one.

    now: by the clock of the database.
    """
    if stack.answered_at is not None:
        return stack.note
    return LATE if now > stack.asked_at + timedelta(seconds=STACK_LATE) else ASKED
