"""Read values once for all viewers of a web process, and keep them: the present (2 s), conditions (10 s), the past.

One rule for all: a value is read again when it is too old and a caller asks for it. One thread reads; meanwhile the
others get the last value, and wait only if there is none. A value that cannot be read stays, and gets old. With
`waits`, callers wait instead of getting an old value.

Each read has a serial number. What was made of the same reads need not be made again: see `serials`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

from django.db import Error

CONDITIONS_SECONDS = 10.0  # for which what is wrong is kept
PAST_SECONDS = 30.0  # for which the recorder's numbers are kept
MAX_VALUES = 200  # of one function
MAX_REST = 10.0  # seconds
NEVER = float("-inf")
Key = ParamSpec("Key")
Value = TypeVar("Value")
_serials = count()
_noted: ContextVar[list[int] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[None]:
    """Note which reads the values are of that this context gets."""
    token = _noted.set([])
    try:
        yield
    finally:
        _noted.reset(token)


def serials() -> tuple[int, ...]:
    """Return the serial numbers of the reads that were noted until now."""
    return tuple(_noted.get() or ())


@dataclass(frozen=True)
class _Kept(Generic[Value]):
    """A kept value. The moments are monotonic.

    tried_at: when the last read ended.
    read_at: when the value was read, or when a caller first asked for it.
    rest: the least seconds until the next read.
    failed: whether the last read failed.
    serial: the number of the last read.
    """

    value: Value
    tried_at: float
    read_at: float
    rest: float = 0.0
    failed: bool = False
    serial: int = field(default_factory=_serials.__next__)


class Cached(Generic[Key, Value]):
    """A function whose values are kept by its arguments, each for `seconds`.

    before: the value if the first read fails.
    rest: a value is kept at least this many times as long as its read took, at most MAX_REST seconds.
    waits: no caller gets an older value. All wait for the thread that reads. If its read fails, they get `before`, and
    a later caller reads again.
    """

    def __init__(
        self, read: Callable[Key, Value], *, before: Value, seconds: float, rest: float = 0.0, waits: bool = False
    ) -> None:
        self.read: Callable[..., Value] = read
        self.before, self.seconds, self.rest, self.waits = before, seconds, rest, waits
        self.lock = Lock()
        self._kept: OrderedDict[Any, _Kept[Value]] = OrderedDict()

    def __call__(self, *key: Key.args, **_: Key.kwargs) -> Value:
        """Return the value, at most `seconds` old, or the last one. Raises errors that are not the database's."""
        kept = self._current(key)
        if (noted := _noted.get()) is not None:
            noted.append(kept.serial)
        return kept.value

    def _current(self, key: Any) -> _Kept[Value]:
        asked_at, kept = time.monotonic(), self._kept.get(key)
        if self._is_fresh(kept, asked_at) or not self.lock.acquire(blocking=kept is None or self.waits):
            assert kept is not None  # noqa: S101 - for the type checker
            return kept
        try:
            kept = self._kept.get(key)
            if not self._is_fresh(kept, asked_at):
                kept = self._kept[key] = self._read(key, kept)
                self._kept.move_to_end(key)
                if len(self._kept) > MAX_VALUES:
                    self._kept.popitem(last=False)
            assert kept is not None  # noqa: S101 - for the type checker
            return kept
        finally:
            self.lock.release()

    def forget(self) -> None:
        """Read again at the next call, since a request has just changed something."""
        for key, kept in [*self._kept.items()]:
            self._kept[key] = replace(kept, tried_at=NEVER, rest=0.0)

    def last(self, *key: Key.args, **_: Key.kwargs) -> Value:
        """Return the last value, however old."""
        return self._kept[key].value if key in self._kept else self.before

    def age(self, *key: Key.args, **_: Key.kwargs) -> float | None:
        """Return the seconds since the value was read, if the last read failed; else None."""
        kept = self._kept.get(key)
        return time.monotonic() - kept.read_at if kept is not None and kept.failed else None

    def _is_fresh(self, kept: _Kept[Value] | None, asked_at: float) -> bool:
        if kept is None:
            return False
        if self.waits and kept.failed:  # the callers that waited for this read do not repeat it one by one
            return kept.tried_at >= asked_at
        return time.monotonic() - kept.tried_at < max(self.seconds, kept.rest)

    def _read(self, key: Any, kept: _Kept[Value] | None) -> _Kept[Value]:
        begin, token = time.monotonic(), _noted.set(None)  # what the function reads itself is a part of the value
        try:
            value = self.read(*key)
        except Error:
            value, read_at = (self.before, begin) if kept is None or self.waits else (kept.value, kept.read_at)
            return _Kept(value, time.monotonic(), read_at, failed=True)
        finally:
            _noted.reset(token)
        end = time.monotonic()
        return _Kept(value, end, end, rest=min(self.rest * (end - begin), MAX_REST))


def cached(seconds: float, *, before: Any, waits: bool = False) -> Callable[[Callable[Key, Value]], Cached[Key, Value]]:
    """Keep the values of a function for `seconds`.

    before, waits: as in Cached.
    """
    return lambda read: Cached(read, before=before, seconds=seconds, waits=waits)
