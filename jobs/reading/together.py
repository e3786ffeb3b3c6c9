"""Read for all coroutines that wait in this process, with one statement at a time."""

import asyncio
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection

Key = TypeVar("Key")
Value = TypeVar("Value")


class Together(threading.local, Generic[Key, Value]):
    """A read that many coroutines share: one read answers all that asked while the read before it ran.

    Only the coroutines of one thread share it, since no event loop can answer in another thread. A WSGI server has one
    loop in each thread that waits.

    read: takes the keys, and returns the values that it found. It runs in the one thread that all such reads share, and
    so on one connection.
    every: the least seconds from the start of one read to the next.
    """

    def __init__(self, read: Callable[[Collection[Key]], Mapping[Key, Value]], every: float) -> None:
        self._read, self._every = read, every
        self._waiting: dict[Key, list[asyncio.Future[Value | None]]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._next = 0.0

    async def ask(self, key: Key) -> Value | None:
        """Return the value from a read that begins after this call; None without one. Raises the errors of the read."""
        answer: asyncio.Future[Value | None] = asyncio.get_running_loop().create_future()
        if self._reading is None or self._reading.done():
            self._waiting = {}  # the remaining calls came from an event loop that has ended
            self._reading = asyncio.create_task(self._read_on())
        self._waiting.setdefault(key, []).append(answer)
        return await answer

    async def _read_on(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._next - time.monotonic())  # lets all coroutines ask that are about to
            self._next = time.monotonic() + self._every
            waiting, self._waiting = self._waiting, {}
            values: Mapping[Key, Value] = {}
            failure: Exception | None = None
            try:
                values = await sync_to_async(self._read_fresh)(waiting.keys())
            except Exception as error:  # each caller decides how to handle it
                failure = error
            for key, answers in waiting.items():
                for answer in answers:
                    if answer.done():  # its caller has gone
                        continue
                    if failure is not None:
                        answer.set_exception(failure)
                    else:
                        answer.set_result(values.get(key))

    def _read_fresh(self, keys: Collection[Key]) -> Mapping[Key, Value]:
        if not connection.in_atomic_block:  # in a block, the connection is the caller's
            close_old_connections()  # those that failed at the previous read
        return self._read(keys)
