"""The order of the claim: start-time fair queueing with deficit round robin (docs/adr/0005).

A lane's virtual time is worker-seconds divided by the weight of its tenant; a queue's, by its own weight. In the order
of the turns, each slot in use counts as SLOT_SECONDS more.
"""

CREDIT_SECONDS = 1.0  # the most that a lane or queue can be behind the time of its queue or pool
SLOT_SECONDS = 1.0  # the seconds of earlier use that one slot in use counts as
JOBS_OF_A_PASS = 32  # the most that a pass claims of a queue; what it reads grows with the square of this
JOBS_OF_A_FEEDER = 100  # the most that a pass claims of the light pool for whose free seats it is made
LANES_OF_A_PASS = 1000  # the most that a pass visits in a queue
QUEUES_BEYOND_ROOM = 32  # the most queues of a pool that a pass visits, beyond one for each free process
SHORTEST_QUANTUM = 0.3  # seconds
USERS_OF_A_FRONT = 32  # users that a visit looks at, beyond those with slots in use
MAX_PASSES = 200  # the most of one dispatch; the next dispatch does the rest
SLICE = 0.1  # seconds in which jobs of a lane may follow each other in a slot, not counting the waits for a core


def at_least(time: float, common_time: float, weight: float) -> float:
    """Return a virtual time, raised to the common one minus the credit if it is further behind."""
    least = common_time - CREDIT_SECONDS / weight
    return time if time > least else least


def turn(time: float, in_use: float, weight: float) -> float:
    """Return the key of a turn; the least is next.

    time: the virtual time of the lane or queue
    in_use: its slots in use, with the jobs before this one in the same pass
    """
    return time + SLOT_SECONDS * in_use / weight


def quantum(mean_seconds: float) -> float:
    """Return the seconds that a lane may be ahead of the others to be served before the round is complete.

    mean_seconds: the mean charge of an attempt in the queue
    """
    return max(SHORTEST_QUANTUM, 2 * mean_seconds)


def in_time(time: float, common_time: float, quantum: float, weight: float) -> bool:
    """Return whether a lane is served before the round is complete."""
    return time <= common_time + quantum / weight


def circle_place(number: int, head: int | None = None) -> int:
    """Return the position of a lane in its circle: at the end or, with a head, right after the head.

    A lane that was placed after the same head earlier stays before this one.

    number: a new number, which only grows
    """
    if head is not None and number - (head >> 20) < 1 << 20:
        return ((head >> 20) << 20) + number - (head >> 20)
    return number << 20


def in_ms(now: float) -> int:
    """Return the moment of a claim in milliseconds, as a ticket."""
    return round(now * 1000)


def worked_since(in_use: int, tickets: int, ms: int) -> float:
    """Return the seconds that jobs have held their slots, all together.

    in_use: the number of jobs
    tickets: the sum of their tickets
    ms: the moment now, in milliseconds
    """
    worked = in_use * ms - tickets
    return worked / 1000.0 if worked > 0 else 0.0
