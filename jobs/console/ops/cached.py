"""What is read rarely, and kept for all viewers of a web process."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar

from django.db import DatabaseError

KEPT = 30.0  # seconds
MOST = 200  # values of one kind
NEVER = float("-inf")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values by a key, each read again when it is older than `seconds`; one that cannot be read stays."""

    def __init__(self, read: Callable[[Key], Value], before: Value, seconds: float | None = None) -> None:
        self._read, self._before, self._seconds = read, before, seconds
        self._lock = Lock()
        self._values: OrderedDict[Key, tuple[float, Value]] = OrderedDict()

    def get(self, key: Key) -> Value:
        """One thread reads at a time; meanwhile the others get the last value, if there is one."""
        at, value = self._values.get(key, (NEVER, self._before))
        if self._fresh(at) or not self._lock.acquire(blocking=at == NEVER):
            return value
        try:
            at, value = self._values.get(key, (NEVER, self._before))
            if not self._fresh(at):
                with suppress(DatabaseError):
                    value = self._read(key)
                self._values[key] = time.monotonic(), value
                self._values.move_to_end(key)
                if len(self._values) > MOST:
                    self._values.popitem(last=False)
            return value
        finally:
            self._lock.release()

    def _fresh(self, at: float) -> bool:
        return time.monotonic() - at < min(KEPT, self._seconds or KEPT)
