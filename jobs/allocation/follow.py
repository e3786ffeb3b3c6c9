"""Start the next job of a lane in the slot of one that has succeeded (jobs/sql/settling/follow.sql)."""

from jobs.allocation.line import BookedJob, LineByPlace
from jobs.allocation.state import Lane, Pool


def follow(lane: Lane, job: BookedJob, pool: Pool) -> BookedJob | None:
    """Return the job that follows this one in its slot, or None. The number of slots in use does not change.

    In the database no job follows in a slot whose number is above the tenant's limit, after it has got fewer slots.
    Here slots have no numbers: no job follows while the tenant holds more slots than it has. In both none follows while
    its lane holds more of them than it may, or a job holds its lane or its queue.
    There no job that spends a budget follows, either; here are no budgets.

    pool: the pool of the process
    """
    tenant, queue = lane.tenant, lane.queue
    if queue.holds or lane.holds:
        return None
    if queue.paused or queue.concurrency is not None or queue.rate_limit is not None or queue.pool is not pool:
        return None
    if tenant.paused or tenant.rate_limit is not None or (tenant.num_slots or 0) < tenant.in_use:
        return None
    if lane.slots is not None and lane.slots < lane.in_use:
        return None
    following = (
        _first(lane, lane.line) if isinstance(lane.line, LineByPlace) else None
    )  # None: the tenant limits its users
    if following is not None:
        following.ticket, following.followed = job.ticket, job.followed + 1
        tenant.uses(job.user, -1)
        tenant.uses(following.user, 1)
    return following


def _first(lane: Lane, line: LineByPlace) -> BookedJob | None:
    """Take the first job out of the line or the arrivals, but no arrival before the head as of the last dispatch."""
    arrived = [job for job in lane.arrived if job.place >= lane.head]
    first = min(line.first(1) + arrived, key=lambda job: job.place, default=None)
    if first in arrived:
        lane.arrived.remove(first)
    elif first is not None:
        line.remove(first)
    return first
