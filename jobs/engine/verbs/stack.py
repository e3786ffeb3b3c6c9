"""Ask for the stack of a running body: its worker answers within a second or two. For operators only."""

from django.db import transaction

from jobs import store
from jobs.engine.verbs.audit import note_job


def ask_for_stack(job_id: int) -> int | None:
    """Ask, and return the number of the question, for `reading.stacks`; None if the job does not run."""
    with transaction.atomic():
        asked = store.ask_stack(job_id)
        if asked is None:
            return None
        number, job = asked
        note_job("asked for its stack", job.id, job.tenant_id)
        return number
