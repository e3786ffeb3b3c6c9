"""Another thread may end the feeder's wait for news: the worker drains, or an end was settled alone."""

import threading
from time import monotonic

from jobs.worker.light.processes import Processes
from jobs.worker.light.wire import Listener


def test_a_wake_ends_a_wait_that_has_begun_and_one_that_begins():
    listener = Listener()
    try:
        processes, begun = Processes(listener), monotonic()
        processes.wake()
        processes.hear(30, None)
        waker = threading.Timer(0.05, processes.wake)
        waker.start()
        processes.hear(30, None)
        assert 0.05 <= monotonic() - begun < 30
    finally:
        listener.close()
