"""Rate limits per key, counted in the memory of this process: fast, and without other services.

Each of several web processes allows the full rate.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_KEYS = 10_000  # the most keys remembered; the least recently used is forgotten first


class Throttle:
    """A bucket of `burst` tokens for each key, refilled with `rate` tokens per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[Hashable, float] = OrderedDict()  # when the key's bucket is full again
        self._lock = threading.Lock()

    def wait(self, key: Hashable, rate: float, burst: float) -> float:
        """Return the seconds until the key has a token; 0.0: it has one. Takes no token."""
        return max(self._full_at.get(key, 0.0) - self._clock() - (burst - 1) / rate, 0.0)

    def take(self, key: Hashable, rate: float, burst: float) -> float:
        """Take a token if the key has one. Return the seconds until it has one; 0.0: a token was taken."""
        with self._lock:
            wait = self.wait(key, rate, burst)
            if not wait:
                self._full_at[key] = max(self._full_at.get(key, 0.0), self._clock()) + 1 / rate
                self._full_at.move_to_end(key)
                if len(self._full_at) > MOST_KEYS:
                    self._full_at.popitem(last=False)
            return wait
