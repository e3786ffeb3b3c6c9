"""Look how often wait targets were kept lately."""

from dataclasses import dataclass

from jobs.reading.statistics import Kept
from jobs.store.rows import rows

WINDOWS = (5, 30, 60, 360)  # minutes


@dataclass(frozen=True)
class TargetLook:
    """The attempts that ended lately in a queue with a wait target.

    seconds: the target.
    kept: by the minutes of a window. One that is missing had no attempt with a target.
    """

    queue: str
    seconds: float
    kept: dict[int, Kept]


def look_targets() -> list[TargetLook]:
    """Return the queues that have a target and in which anything ended lately under one, by name."""
    found: dict[str, TargetLook] = {}
    for queue, seconds, minutes, targeted, in_time in rows("health_targets", windows=list(WINDOWS)):
        found.setdefault(queue, TargetLook(queue, seconds, {})).kept[minutes] = Kept(targeted, in_time)
    return list(found.values())
