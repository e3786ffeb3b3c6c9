"""Give a caller at most half of the threads: if its requests wait for a lock, the other callers are still served."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

WHO = {b"authorization", b"cookie"}  # a key or a session, which is not checked yet
Caller = tuple[bytes, ...]


class Shares:
    """The share of each caller. All requests without key and cookie are those of one caller."""

    def __init__(self, threads: int) -> None:
        self._each = (threads + 1) // 2
        self._present = Counter[Caller]()  # requests at work, and those that wait for their turn
        self._turns: dict[Caller, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def turn(self, scope: dict[str, Any]) -> AsyncIterator[None]:
        """Wait until fewer requests of this caller are at work than its share."""
        caller = tuple(value for name, value in scope["headers"] if name in WHO)
        self._present[caller] += 1
        try:
            async with self._turns.setdefault(caller, asyncio.Semaphore(self._each)):
                yield
        finally:
            self._present[caller] -= 1
            if not self._present[caller]:
                del self._present[caller], self._turns[caller]
