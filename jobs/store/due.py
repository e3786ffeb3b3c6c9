"""Jobs that get in line because they are due or their type is resumed, or leave it because their type is paused."""

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.store.rows import Applied, Due, log, moved, rows


def promote(batch: int = 1000) -> list[Due]:
    """scheduled -> created for at most `batch` due jobs; hold those of a paused type."""
    promoted = rows("promote", batch=batch, held_until=HELD_UNTIL)
    due = [
        Due(job_id, attempt, tenant_id, status == Status.CREATED, paused)
        for job_id, attempt, tenant_id, status, paused in promoted
    ]
    for job in due:
        if job.ready or job.held:
            log("hold" if job.held else "promote", job.id, job.attempt, tenant=job.tenant_id)
    return due


def next_moment() -> float | None:
    """Return the seconds until a job is due or a rate limit has a token (negative: late); None: nothing is expected."""
    seconds: float | None = rows("next_moment", held_until=HELD_UNTIL)[0][0]
    return seconds


def hold(source_type: str, source_method: str) -> list[Applied]:
    """created -> scheduled for the waiting jobs of a paused type."""
    held = rows("hold", source_type=source_type, source_method=source_method, held_until=HELD_UNTIL)
    return moved("hold", held)


def hold_spent(batch: int) -> list[Applied]:
    """created -> scheduled for at most so many waiting jobs that spend a budget that is used up."""
    return moved("hold", rows("hold_spent", held_until=HELD_UNTIL, batch=batch))


def release() -> list[Applied]:
    """scheduled -> created for the held jobs whose type is not paused, and whose budgets are not used up."""
    return moved("release", rows("release", held_until=HELD_UNTIL))
