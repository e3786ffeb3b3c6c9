"""A caller gets at most half of the threads: the requests of one that wait for a lock stop nobody else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

WHO = {b"authorization", b"cookie"}  # a key, or a session; nobody has checked it yet
Caller = tuple[bytes, ...]


class Shares:
    """All strangers, without key and cookie, are one caller."""

    def __init__(self, threads: int) -> None:
        self._each = (threads + 1) // 2
        self._here = Counter[Caller]()  # requests at work, and those that wait for their turn
        self._turns: dict[Caller, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(self, scope: dict[str, Any]) -> AsyncIterator[None]:
        """Wait until fewer requests of this caller are at work than its share."""
        caller = tuple(value for name, value in scope["headers"] if name in WHO)
        self._here[caller] += 1
        try:
            async with self._turns.setdefault(caller, asyncio.Semaphore(self._each)):
                yield
        finally:
            self._here[caller] -= 1
            if not self._here[caller]:
                del self._here[caller], self._turns[caller]
