"""Listen to a body: keep the end of what it logs and prints, for job types with `@job(log=True)`."""

import io
import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from typing import Any

from plumbing.text import storable

MAX_BYTES = 64 * 1024  # of an attempt's log
CUT = "… what came before is not kept\n"
PAUSE = 2.0  # seconds, at least, between two times that a log which grows is stored
BYTES_A_SECOND = 8 * 1024  # that one attempt stores while it runs, at most: a full log each 8 s
NOT_ITS_OWN = ("jobs", "celery.redirected")  # the scheduler's own lines; printed text, which is kept already


class Tail:
    """The end of a text that grows.

    over: set once the body has ended: from then on only the end of its attempt stores the text.
    """

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most, self._size = most, 0
        self._parts: deque[str] = deque()
        self._is_cut = False
        self._lock = threading.RLock()
        self._storing = threading.Lock()
        self._added = self._stored = 0  # characters
        self._due = 0.0  # when to store it again, by time.monotonic()
        self.over = threading.Event()

    def add(self, text: str) -> None:
        with self._lock:  # the body may have threads
            if len(text) > self._most:
                text, self._is_cut = text[-self._most :], True
            self._parts.append(text)
            self._size += len(text)
            self._added += len(text)
            while self._size - len(self._parts[0]) > self._most:  # what is left has enough characters
                self._size -= len(self._parts.popleft())
                self._is_cut = True

    def text(self) -> str:
        """Return the last `most` bytes of the text; the line CUT comes before them if something was cut."""
        with self._lock:
            whole = storable("".join(self._parts)).encode()
        if len(whole) > self._most:
            self._is_cut = True
        return (CUT if self._is_cut else "") + whole[-self._most :].decode(errors="ignore")

    def is_due(self) -> bool:
        """Return whether the text is to be stored, while the body runs."""
        return self._added > self._stored and time.monotonic() >= self._due

    def store(self, keep: Callable[[str], object], *, over: bool = False) -> None:
        """Call `keep` with the text, if it has grown since the last time. Two threads do it one after the other.

        over: the body has ended. Before, the text is stored when it is due.
        """
        if over:
            self.over.set()
        with self._storing:
            if self._added > self._stored if over else self.is_due() and not self.over.is_set():
                added, text = self._added, self.text()
                self._due = time.monotonic() + max(PAUSE, len(text) / BYTES_A_SECOND)
                keep(text)
                self._stored = added


class _Lines(logging.Handler):
    """Adds the records of all loggers but NOT_ITS_OWN to the tail, if there is one."""

    def __init__(self, tail: Callable[[], Tail | None]) -> None:
        super().__init__()
        self._tail = tail
        formatter = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S")
        formatter.converter = time.gmtime
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        tail = self._tail()
        if tail is None or record.name in NOT_ITS_OWN:
            return
        try:
            tail.add(f"{self.format(record)}\n")
        except Exception:  # a record that cannot be formatted, as with every handler
            self.handleError(record)


class _Tee:
    """A stream whose text is added to the tail, too, if there is one."""

    def __init__(self, stream: Any, tail: Callable[[], Tail | None]) -> None:
        self._stream, self._tail = stream, tail

    def write(self, text: str) -> Any:
        if (tail := self._tail()) is not None:
            tail.add(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def listening() -> Iterator[Tail]:
    """Keep the end of what is logged and printed in this process during the block."""
    tail = Tail()
    handler = _Lines(lambda: tail)
    logging.getLogger().addHandler(handler)
    try:
        out, err = _tees(lambda: tail)
        with redirect_stdout(out), redirect_stderr(err):
            yield tail
    finally:
        logging.getLogger().removeHandler(handler)


_tail_here: ContextVar[Tail | None] = ContextVar("tail", default=None)


@contextmanager
def listening_here() -> Iterator[Tail]:
    """Keep the end of what is logged and printed in this context, if this process does `listen_by_context`."""
    tail = Tail()
    token = _tail_here.set(tail)
    try:
        yield tail
    finally:
        _tail_here.reset(token)


def listen_by_context() -> None:
    """Keep, from now on, what is logged and printed in this process for the context in which that happens.

    For a process with many attempts at once, each in a context of its own, which its tasks and its threads copy.
    """
    logging.getLogger().addHandler(_Lines(_tail_here.get))
    sys.stdout, sys.stderr = _tees(_tail_here.get)


def _tees(tail: Callable[[], Tail | None]) -> tuple[Any, Any]:
    out, err = (_Tee(stream or io.StringIO(), tail) for stream in (sys.stdout, sys.stderr))  # None: of a daemon
    return out, err
