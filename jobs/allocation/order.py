"""Who is next: start-time fair queueing with deficit round robin, as the claim does it (docs/adr/0005).

A lane's time is worker-seconds divided by the weight of its tenant; a queue's, by its own weight. In the order of the
turns, each slot in use counts like so many seconds more.
"""

from collections.abc import Sequence

from jobs.allocation import room
from jobs.allocation.nouns import Job, Lane, Queue

CREDIT_SECONDS = 1.0  # that a lane or queue can be behind the time of its queue or pool, at most
SLOT_SECONDS = 1.0  # the weight of one slot in use against earlier use
JOBS_OF_A_PASS = 32  # the most of a queue; what a pass reads grows with its square
SHORTEST_QUANTUM = 0.3  # seconds
SPARES = 8  # further jobs of a front, to replace those that others have locked
USERS_OF_A_FRONT = 32  # that a visit looks at, beside the full ones


def at_least(time: float, common_time: float, weight: float) -> float:
    """A time, brought up to the common one but for the credit."""
    return max(time, common_time - CREDIT_SECONDS / weight)


def turn(time: float, in_use: float, weight: float) -> float:
    """The key of the order; in_use: with the jobs before this one in the same pass. The least is next."""
    return time + SLOT_SECONDS * in_use / weight


def quantum(queue: Queue) -> float:
    """How far a lane may be ahead of the others, in seconds, and is still served in this round. Follows the work."""
    return max(SHORTEST_QUANTUM, 2 * queue.mean_seconds)


def time_of(lane: Lane) -> float:
    """The lane's virtual time, with what its jobs in slots have worked."""
    weight = lane.tenant.weight
    return at_least(lane.virtual_time + lane.seconds / weight, lane.queue.lane_time, weight)


def in_time(lane: Lane) -> bool:
    """Whether the lane is served before the round is complete."""
    return time_of(lane) <= lane.queue.lane_time + quantum(lane.queue) / lane.tenant.weight


def front(lane: Lane, wanted: int) -> tuple[list[Job], int]:
    """The first jobs of a lane that may start, then spares; and how many of them may go.

    If the tenant limits its users, they take turns, from the one after the last visit's on.
    """
    tenant = lane.tenant
    if wanted <= 0:
        return [], 0
    if tenant.user_slots is None:
        return list(lane.jobs[: wanted + SPARES]), wanted
    firsts: list[Job] = []
    spares: list[Job] = []
    for user in _users(lane):
        free = int(min(room.of_user(user, tenant.user_slots, tenant.users), wanted))
        own = [job for job in lane.jobs if job.user == user][: free + SPARES] if free else []
        firsts += own[:free]
        spares += own[free:]
    by_place = sorted(firsts, key=_place)[: wanted + SPARES] + sorted(spares, key=_place)[:SPARES]
    return by_place, min(len(firsts), wanted)


def _users(lane: Lane) -> Sequence[str]:
    """The users whose turn it is. If users have no slots, only the jobs without a user go."""
    if not lane.tenant.user_slots:
        return [""]
    users = sorted({job.user for job in lane.jobs})
    after = [user for user in users if user > lane.last_user]
    circle = after + [user for user in users if user <= lane.last_user]
    return circle[: USERS_OF_A_FRONT + len(lane.tenant.users or {})]


def _place(job: Job) -> int:
    return job.place
