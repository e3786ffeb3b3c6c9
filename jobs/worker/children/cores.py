"""Measure how long a thread of this process waits for a core of the machine."""

import os

# Linux, Documentation/scheduler/sched-stats.rst: ns on a core, ns ready to run without one, number of times on one.
SCHEDSTAT = "/proc/thread-self/schedstat"
MAX_BYTES = 100  # bytes
NANOSECOND = 1e-9


def waited_for_core() -> float:
    """Return for how many seconds of its life this thread was ready and no core was free; 0 if Linux counts none."""
    try:
        file = os.open(SCHEDSTAT, os.O_RDONLY | os.O_CLOEXEC)  # each time: a body may close any file that stays open
        try:
            _, waited, _ = map(int, os.read(file, MAX_BYTES).split())
        finally:
            os.close(file)
    except (OSError, ValueError):
        return 0.0
    return waited * NANOSECOND
