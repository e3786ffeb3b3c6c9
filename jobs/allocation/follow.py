"""The next job of a lane, in the slot of the one that has ended well (jobs/sql/settling/follow.sql)."""

from jobs.allocation.line import Job, Line
from jobs.allocation.state import Lane, Pool


def follow(lane: Lane, job: Job, pool: Pool) -> Job | None:
    """The job that follows this one in its slot, if any; no count changes. pool: of the process.

    Not known here is the number of the slot: after its tenant has got fewer, jobs do not follow in the higher ones.
    """
    tenant, queue = lane.tenant, lane.queue
    if queue.paused or queue.concurrency is not None or queue.rate_limit is not None or queue.pool is not pool:
        return None
    if tenant.paused or tenant.rate_limit is not None or (tenant.num_slots or 0) < tenant.in_use:
        return None
    following = _first(lane, lane.line) if isinstance(lane.line, Line) else None  # users without limits
    if following is not None:
        following.ticket, following.followed = job.ticket, job.followed + 1
        tenant.uses(job.user, -1)
        tenant.uses(following.user, 1)
    return following


def _first(lane: Lane, line: Line) -> Job | None:
    """Take out the first job, but none before the head of the lane as the last dispatch knew it."""
    arrived = [job for job in lane.arrived if job.place >= lane.head]
    first = min(line.first(1) + arrived, key=lambda job: job.place, default=None)
    if first in arrived:
        lane.arrived.remove(first)
    elif first is not None:
        line.remove(first)
    return first
