"""How a body says when it starts and ends: a datagram on a Unix socket, the same for every contender (10 us)."""

import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.waiting import wait_until

ADDRESS = "BENCH_BELL"  # in the environment of whoever runs bodies
LONGEST = 200  # bytes


class Ring(NamedTuple):
    """One body's word, at a moment of time.time()."""

    moment: float
    words: tuple[str, ...]


_heard: list[Ring] = []


def ring(*words: object) -> None:
    """From a body. Waits while nobody listens fast enough: nothing is lost."""
    _socket().send(" ".join([repr(time.time()), *map(str, words)]).encode())


def heard() -> list[Ring]:
    """All rings since the last `forget`."""
    return _heard


def forget() -> None:
    """Begin anew."""
    global _heard  # noqa: PLW0603 - the listener appends to whatever is there
    _heard = []


def wait(count: int, patience: float = 60.0) -> None:
    """Until so many rings were heard. Raises AssertionError after `patience` seconds."""
    wait_until(lambda: len(_heard) >= count, f"{count} bodies ring, {len(_heard)} have", patience)


def seconds_in_bodies(begin: float, end: float) -> Counter[int]:
    """Seconds that bodies took between two moments, by tenant; of bodies that ring ("begin" or "end", tenant, n)."""
    began: dict[tuple[str, ...], float] = {}
    seconds: Counter[int] = Counter()
    for moment, (what, tenant, n) in heard():
        within = min(max(moment, begin), end)
        if what == "begin":
            began[tenant, n] = within
        else:
            seconds[int(tenant)] += within - began.pop((tenant, n))
    for (tenant, _), moment in began.items():  # cut off by the end
        seconds[int(tenant)] += end - moment
    return seconds


@contextmanager
def tower(directory: Path) -> Iterator[None]:
    """Listen, in a thread, for what this process' children ring."""
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
