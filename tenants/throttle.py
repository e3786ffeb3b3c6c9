"""How often somebody may do something: counted here, in this process, so that counting costs nothing and needs nobody.

Several web processes allow so much each.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_KEYS = 10_000  # that are remembered: who has been quiet longest is forgotten first


class Throttle:
    """For each key a bucket of `burst` tokens, which refills by `rate` a second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[Hashable, float] = OrderedDict()  # when its bucket will be full again
        self._lock = threading.Lock()

    def wait(self, key: Hashable, rate: float, burst: float) -> float:
        """Seconds until the key has a token; 0.0: it has one. None is taken."""
        return max(self._full_at.get(key, 0.0) - self._clock() - (burst - 1) / rate, 0.0)

    def take(self, key: Hashable, rate: float, burst: float) -> float:
        """The same, and a token is taken if there is one."""
        with self._lock:
            wait = self.wait(key, rate, burst)
            if not wait:
                self._full_at[key] = max(self._full_at.get(key, 0.0), self._clock()) + 1 / rate
                self._full_at.move_to_end(key)
                if len(self._full_at) > MOST_KEYS:
                    self._full_at.popitem(last=False)
            return wait
