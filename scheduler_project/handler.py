"""How requests are served: a view runs in a thread that stays, and what waits stays in the event loop.

Django's own ASGI handler makes a thread for every request, which costs more than most of our views (docs/adr/0013).
A view that has to wait, or to tell what happens, returns a StreamingHttpResponse of an asynchronous iterator: its
thread is free at once, and thousands may wait.
"""

import asyncio
import select
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestAborted, RequestDataTooBig
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import connections
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from scheduler_project import errors, health

Scope = dict[str, Any]


class ThreadedHandler(ASGIHandler):
    """Django's, with so many threads for the views; each has a database connection of its own, kept open."""

    def __init__(self, threads: int) -> None:
        super(ASGIHandler, self).__init__()
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="view")

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":  # a server that asks for "lifespan" is told so that there is none
            raise ValueError(f"Only HTTP is served here, not {scope['type']}.")
        if scope["path"] == health.ALIVE:  # also when every thread is busy
            await self.send_response(health.alive(), send)
            return
        try:
            body = await self.read_body_within(scope, receive, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        except RequestAborted:
            return
        except RequestDataTooBig:
            await self.send_response(errors.too_large(scope["path"]), send)
            return
        in_thread = asyncio.get_running_loop().run_in_executor
        response = await in_thread(self._threads, self._view, scope, body)
        if not isinstance(response, StreamingHttpResponse):
            await self.send_response(response, send)
            return
        try:
            await self._stream(response, receive, send)
        finally:
            await in_thread(self._threads, response.close)

    async def read_body_within(self, scope: Scope, receive: Any, most: int) -> IO[bytes]:
        """Raises RequestDataTooBig as soon as that is known: a stranger could else fill the disk."""
        for name, value in scope["headers"]:
            if name == b"content-length" and int(value) > most:  # the server has checked that it is a number
                raise RequestDataTooBig
        taken = 0

        async def counted() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}  # Django then drops what it has

        try:
            return await self.read_body(counted)
        except RequestAborted:
            if taken > most:
                raise RequestDataTooBig from None
            raise

    def _view(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """The response: whole, or its head and an asynchronous iterator of its body."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            drop_cut_connections()
            request_started.send(sender=self.__class__, scope=scope)
            request, _ = self.create_request(scope, body)
            response = self.get_response(request) if request else errors.unreadable(scope["path"])
        if not isinstance(response, StreamingHttpResponse):
            response.close()  # here, in the thread whose connections it sees to; the content stays
        elif not response.is_async:
            response.streaming_content = _at_once(b"".join(response))  # a static file
        return response

    async def _stream(self, response: StreamingHttpResponse, receive: Any, send: Any) -> None:
        """Send the parts as they come, as long as the client is there."""
        try:
            async with asyncio.TaskGroup() as both:
                disconnect = both.create_task(self.listen_for_disconnect(receive))
                await self.send_response(response, send)
                disconnect.cancel()
        except* RequestAborted:
            pass


async def _at_once(whole: bytes) -> AsyncIterator[bytes]:
    yield whole


def drop_cut_connections() -> None:
    """Close this thread's connections that the server has ended, say for a restart: it says so, and we can read it.

    Looked at before each request, instead of CONN_HEALTH_CHECKS, which would ask the server.
    """
    for connection in connections.all(initialized_only=True):
        raw = connection.connection
        if raw is not None and (raw.closed or select.select([raw.fileno()], [], [], 0)[0]):
            connection.close()
