"""The stacks of running bodies that operators ask for. The workers look for the questions in `running_here`."""

from jobs.store.messages import ring_to_stop
from jobs.store.rows import Applied, rows

STACK_LATE = 10.0  # seconds after which a question is not answered any more


def ask_stack(job_id: int) -> tuple[int, Applied] | None:
    """Ask for the stack of a running job; return the number of the question, and the attempt. None: it does not run."""
    for number, attempt, tenant_id in rows("ask_stack", id=job_id):
        ring_to_stop([job_id])
        return number, Applied(job_id, attempt, tenant_id)
    return None


def answer_stack(job_id: int, attempt: int, text: str, note: str = "") -> None:
    """Answer the open questions for the stack of this attempt.

    note: why there is none.
    """
    rows("answer_stack", id=job_id, attempt=attempt, text=text, note=note)
