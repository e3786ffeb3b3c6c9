"""Who is next: start-time fair queueing with deficit round robin, as the claim does it (docs/adr/0005).

A lane's time is worker-seconds divided by the weight of its tenant; a queue's, by its own weight. In the order of the
turns, each slot in use counts like so many seconds more.
"""

CREDIT_SECONDS = 1.0  # that a lane or queue can be behind the time of its queue or pool, at most
SLOT_SECONDS = 1.0  # the weight of one slot in use against earlier use
JOBS_OF_A_PASS = 32  # the most of a queue; what a pass reads grows with its square
LANES_OF_A_PASS = 1000  # the most that it visits of a queue
QUEUES_BEYOND_ROOM = 32  # the most that it visits of a pool, beyond one for each free process
SHORTEST_QUANTUM = 0.3  # seconds
USERS_OF_A_FRONT = 32  # that a visit looks at, beside the full ones
MAX_PASSES = 200  # of one dispatch; the next dispatch does the rest
SLICE = 0.1  # seconds, not counting the waits for a core: jobs of a lane may follow in a slot for so long


def at_least(time: float, common_time: float, weight: float) -> float:
    """A time, brought up to the common one but for the credit."""
    least = common_time - CREDIT_SECONDS / weight
    return time if time > least else least


def turn(time: float, in_use: float, weight: float) -> float:
    """The key of the order; in_use: with the jobs before this one in the same pass. The least is next."""
    return time + SLOT_SECONDS * in_use / weight


def quantum(mean_seconds: float) -> float:
    """How far a lane may be ahead of the others, in seconds, and is still served in this round. Follows the work."""
    return max(SHORTEST_QUANTUM, 2 * mean_seconds)


def in_time(time: float, common_time: float, quantum: float, weight: float) -> bool:
    """Whether a lane is served before the round is complete."""
    return time <= common_time + quantum / weight


def circle_place(number: int, head: int | None = None) -> int:
    """Where a lane stands in its circle: at the end; or before all behind that head, after those who came so before."""
    if head is not None and number - (head >> 20) < 1 << 20:
        return ((head >> 20) << 20) + number - (head >> 20)
    return number << 20


def in_ms(now: float) -> int:
    """A ticket: the moment of a claim."""
    return round(now * 1000)


def worked_since(in_use: int, tickets: int, ms: int) -> float:
    """The seconds that jobs have had their slots, whose tickets add up to `tickets`."""
    worked = in_use * ms - tickets
    return worked / 1000.0 if worked > 0 else 0.0
