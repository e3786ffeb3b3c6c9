"""The cores of the machine, as a thread of this process meets them."""

from pathlib import Path

# Linux, Documentation/scheduler/sched-stats.rst: ns on a core, ns ready to run without one, number of times on one.
TOLD = Path("/proc/thread-self/schedstat")
NANOSECOND = 1e-9


def waited_for_core() -> float:
    """The seconds for which this thread was ready to run and no core was free, in its life; 0 if nobody counts them."""
    try:
        _, waited, _ = map(int, TOLD.read_bytes().split())  # opened each time: a body may close any file
    except (OSError, ValueError):
        return 0.0
    return waited * NANOSECOND
