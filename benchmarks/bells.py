"""A body reports its start and its end by a datagram on a Unix socket, for every contender alike (10 us).

Where thousands of bodies run each second, that would be a large part of what is measured, so they are only counted.
"""

import mmap
import os
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.waiting import wait_until

ADDRESS = "BENCH_BELL"  # in the environment of the processes that run bodies
LONGEST = 200  # bytes
TALLY = "tally-"  # and the pid: the name of a file


class Ring(NamedTuple):
    """A report of one body, at a moment of time.time()."""

    moment: float
    words: tuple[str, ...]


_heard: list[Ring] = []


def ring(*words: object) -> None:
    """Report from a body. Waits while the listener is busy, so that no report is lost."""
    _socket().send(" ".join([repr(time.time()), *map(str, words)]).encode())


def tally() -> None:
    """Count a body, in memory that the row reads. Only one thread of a process may call this."""
    _tally()[0] += 1


def tallied() -> int:
    """All bodies that were counted in this row."""
    counts = Path(os.environ[ADDRESS]).parent.glob(f"{TALLY}*")
    return sum(int.from_bytes(path.read_bytes(), sys.byteorder) for path in counts)


def heard() -> list[Ring]:
    """All reports since the last `forget`."""
    return _heard


def forget() -> None:
    """Discard all reports."""
    global _heard  # noqa: PLW0603 - the listener appends to whatever is there
    _heard = []


def wait(count: int, patience: float = 60.0) -> None:
    """Wait for so many reports. Raises AssertionError after `patience` seconds."""
    wait_until(lambda: len(_heard) >= count, f"{count} bodies ring, {len(_heard)} have", patience)


def seconds_in_bodies(begin: float, end: float, numbers: range | None = None) -> Counter[int]:
    """Seconds of bodies between two moments, by tenant, for bodies that ring ("begin" or "end", tenant, n).

    numbers: those of the bodies that count; None: all.
    """
    began: dict[tuple[str, ...], float] = {}
    seconds: Counter[int] = Counter()
    for moment, (event, tenant, n) in heard():
        if numbers is not None and int(n) not in numbers:
            continue
        within = min(max(moment, begin), end)
        if event == "begin":
            began[tenant, n] = within
        else:
            seconds[int(tenant)] += within - began.pop((tenant, n))
    for (tenant, _), moment in began.items():  # cut off by the end
        seconds[int(tenant)] += end - moment
    return seconds


def most_at_once(whose: Callable[[int, int], Hashable | None]) -> int:
    """The most bodies of one owner that ran at the same moment, of all owners, for bodies that ring as above.

    whose: returns the owner for a tenant and n; None: the body does not count.
    """
    running: Counter[Hashable] = Counter()
    most = 0
    for _, (event, tenant, n) in sorted(heard()):
        owner = whose(int(tenant), int(n))
        if owner is not None:
            running[owner] += 1 if event == "begin" else -1
            most = max(most, running[owner])
    return most


@contextmanager
def tower(directory: Path) -> Iterator[None]:
    """Listen in a thread to the reports of this process's children."""
    path = directory / "bell"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        os.environ[ADDRESS] = str(path)
        threading.Thread(target=_listen, args=[listener], daemon=True).start()
        yield


def _listen(listener: socket.socket) -> None:
    while True:
        try:
            moment, *words = listener.recv(LONGEST).decode().split()
        except OSError:  # closed: the row is over
            return
        _heard.append(Ring(float(moment), tuple(words)))


@cache
def _socket() -> socket.socket:
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bell.connect(os.environ[ADDRESS])
    return bell


@cache
def _tally() -> memoryview:
    path = Path(os.environ[ADDRESS]).parent / f"{TALLY}{os.getpid()}"
    path.write_bytes(bytes(8))
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
