"""A client of an ASGI application, without a server between them."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

from scheduler_project.handler import ThreadedHandler

THREADS = 2


@contextmanager
def two_threads() -> Iterator[ThreadedHandler]:
    """A handler with two threads, whose connections are closed afterwards."""
    handler = ThreadedHandler(THREADS)
    yield handler
    together = threading.Barrier(THREADS)
    for _ in range(THREADS):
        handler._threads.submit(lambda: (together.wait(30), connections.close_all()))
    handler._probes.submit(connections.close_all)
    handler._threads.shutdown()
    handler._probes.shutdown()


class Client:
    """One request, by default a GET; `parts` are what was answered so far, `leave()` hangs up."""

    def __init__(
        self, application: Callable[..., Awaitable[None]], url: str, method: str = "GET", **headers: str
    ) -> None:
        path, _, query = url.partition("?")
        self.status, self.parts, self.headers = 0, [], {}
        self._left, self._requested, self.began = asyncio.Event(), False, asyncio.Event()
        named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "root_path": ""}
        scope |= {"headers": [(b"host", b"localhost"), *named], "server": ("localhost", 80)}
        self.task = asyncio.create_task(application(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if not self._requested:
            self._requested = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.headers |= {name.decode(): value.decode() for name, value in message.get("headers", ())}
        if body := message.get("body"):
            self.parts.append(body)
            self.began.set()

    def leave(self) -> None:
        self._left.set()

    async def told(self, text: str) -> str:
        """Wait until the answer has this text; the answer so far."""
        async with asyncio.timeout(30):
            while text not in (so_far := b"".join(self.parts).decode()):
                assert not self.task.done(), so_far
                await asyncio.sleep(0.01)
        return so_far

    async def answer(self) -> str:
        await asyncio.wait_for(self.task, 30)
        return b"".join(self.parts).decode()
