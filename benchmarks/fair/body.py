"""The body of every job, whichever queue runs it: it tells the bell its start, sleeps, and tells its end.

Only the standard library: it is imported in the environment of each queue. The body waits until the bell has noted its
end, so a job that the queue starts afterwards never seems to overlap with it.
"""

import asyncio
import os
import socket
import threading
import time
import weakref
from collections import deque

BELL = "BELL"  # in the environment of workers: host:port


class Unsupported(Exception):
    """An adapter raises it in a verb that its queue does not have. The text stands in the results."""


def run(tenant: str, id: int, seconds: float) -> None:
    """Run one job in this thread."""
    bell = _of_thread()
    bell.sendall(_line("start", tenant, id))
    try:
        time.sleep(seconds)
    finally:
        bell.sendall(_line("end", tenant, id))
        if not bell.recv(1):
            raise ConnectionError("The bell has gone.")


async def arun(tenant: str, id: int, seconds: float) -> None:
    """Run one job on this thread's event loop."""
    bell = _LoopBell.of(asyncio.get_running_loop())
    bell.tell(_line("start", tenant, id))
    try:
        await asyncio.sleep(seconds)
    finally:
        await bell.told(_line("end", tenant, id))


def _line(event: str, tenant: str, id: int) -> bytes:
    return f"{event} {tenant} {id} {os.getpid()}\n".encode()


_here = threading.local()
_sockets: "weakref.WeakSet[socket.socket]" = weakref.WeakSet()


def _connected() -> socket.socket:
    host, _, port = os.environ[BELL].rpartition(":")
    made = socket.create_connection((host, int(port)), timeout=30)
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _sockets.add(made)
    return made


def _of_thread() -> socket.socket:
    made: socket.socket | None = getattr(_here, "bell", None)
    if made is None:
        made = _here.bell = _connected()
    return made


class _LoopBell:
    """One connection for all bodies of an event loop. The bell answers in the order of the ends that it got."""

    _made: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopBell]" = weakref.WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = _connected()
        self._waiting: deque[asyncio.Future[None]] = deque()
        loop.add_reader(self._socket, self._answered)

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> "_LoopBell":
        if loop not in cls._made:
            cls._made[loop] = cls(loop)
        return cls._made[loop]

    def tell(self, line: bytes) -> None:
        self._socket.sendall(line)  # a few bytes: the kernel takes them at once

    async def told(self, line: bytes) -> None:
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self.tell(line)
        await answer

    def _answered(self) -> None:
        answers = self._socket.recv(4096, socket.MSG_DONTWAIT)
        if not answers:
            asyncio.get_running_loop().remove_reader(self._socket)
        for _ in answers:
            answer = self._waiting.popleft()
            if not answer.done():  # its body may have been cancelled
                answer.set_result(None)


def _after_fork() -> None:
    """Close what a child inherited: else the bell would not see that the parent has died."""
    for inherited in list(_sockets):
        inherited.close()
    _sockets.clear()
    _here.__dict__.clear()
    _LoopBell._made.clear()


os.register_at_fork(after_in_child=_after_fork)
