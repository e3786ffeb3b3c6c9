"""A client of an ASGI application, without a server between them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


class Client:
    """One request; `parts` are what was answered so far, `leave()` hangs up."""

    def __init__(self, application: Callable[..., Awaitable[None]], url: str, **headers: str) -> None:
        path, _, query = url.partition("?")
        self.status, self.parts = 0, []
        self._left, self._asked, self.began = asyncio.Event(), False, asyncio.Event()
        named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "root_path": ""}
        scope |= {"headers": [(b"host", b"localhost"), *named], "server": ("localhost", 80)}
        self.task = asyncio.create_task(application(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        if body := message.get("body"):
            self.parts.append(body)
            self.began.set()

    def leave(self) -> None:
        self._left.set()

    async def answer(self) -> str:
        await asyncio.wait_for(self.task, 30)
        return b"".join(self.parts).decode()
