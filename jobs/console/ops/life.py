"""The way of a job through its statuses, as far as its row tells. Pure."""

from dataclasses import dataclass

from jobs.lifecycle import FINAL, Status
from jobs.models import JobRow

WAY = (Status.SCHEDULED, Status.CREATED, Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True)
class Stop:
    """A status: `been` there, `here` now, or neither."""

    name: str
    been: bool
    here: bool


def way(job: JobRow) -> list[Stop]:
    """The statuses before the end, and the end that it came to; "ends" while it has not."""
    started = job.start_time is not None
    claimed = job.attempt > 0
    again = claimed and job.status in (Status.SCHEDULED, Status.CREATED)
    been = {
        Status.BLOCKED: False,
        Status.SCHEDULED: again or job.retries > 0 or job.crashes > 0,
        Status.CREATED: claimed or job.waited_since is not None,
        Status.QUEUED: claimed,
        Status.RUNNING: started,
    }
    stops = [Stop(status, been[status] or job.status == status, job.status == status) for status in _way(job)]
    ended = Status(job.status) in FINAL
    return [*stops, Stop(job.status if ended else "ends", ended, ended)]


def _way(job: JobRow) -> tuple[Status, ...]:
    return (Status.BLOCKED, *WAY) if job.status == Status.BLOCKED else WAY


def like_it(job: JobRow) -> list[tuple[str, str]]:
    """Searches for jobs that are like it: what they have in common, and the words."""
    tenant, kind = f"tenant:{job.tenant.jobs_slug}", f"type:{job.source_type}.{job.source_method}"
    error = job.last_error.partition(":")[0]
    found = [("same type and tenant", f"{tenant} {kind}")]
    if job.source_id is not None:
        found.insert(0, ("same object", f"{tenant} {kind} source:{job.source_id}"))
    if job.user_key:
        found.append(("same user", f"{tenant} user:{job.user_key}"))
    if error:
        found.append(("same error", f"error:{error} {kind}"))
    return [(name, words) for name, words in found if len(words.split()) == words.count(" ") + 1 == words.count(":")]
