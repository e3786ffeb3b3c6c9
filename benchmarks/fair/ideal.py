"""What a scheduler could reach that knows the seconds of every tenant, and takes the least served one each time.

It does not know how long a job will be, and it cannot take a place away. So its shares differ, too: Jain's index of
them is the bound for the index of a queue with the same jobs.
"""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence

from .history import Run, jain, seconds


def index(backlogs: Mapping[str, Sequence[float]], places: int, slots: int, begin: float, end: float) -> float:
    """Jain's index of the seconds between two moments. slots: of each tenant; all has been submitted at moment 0."""
    found: list[Run] = []
    next_job = dict.fromkeys(backlogs, 0)
    running: Counter[str] = Counter()
    used, since = dict.fromkeys(backlogs, 0.0), dict.fromkeys(backlogs, 0.0)  # since: the sum of the running starts
    ends: list[tuple[float, str, float]] = []
    now = 0.0
    while now < end:
        while len(ends) < places:
            free = [
                tenant for tenant in backlogs if running[tenant] < slots and next_job[tenant] < len(backlogs[tenant])
            ]
            if not free:
                break
            least = min(free, key=lambda tenant: used[tenant] + running[tenant] * now - since[tenant])
            length = backlogs[least][next_job[least]]
            next_job[least] += 1
            running[least] += 1
            since[least] += now
            found.append(Run(least, len(found), now, now + length))
            heapq.heappush(ends, (now + length, least, now))
        if not ends:
            break
        now, tenant, start = heapq.heappop(ends)
        running[tenant] -= 1
        since[tenant] -= start
        used[tenant] += now - start
    return jain(seconds(found, begin, end, backlogs).values())
