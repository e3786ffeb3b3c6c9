"""Serve requests: views run in permanent threads, and waiting requests stay in the event loop.

Django's own ASGI handler starts a thread for every request, which costs more than most of our views (docs/adr/0013).
A view that has to wait, or to report events, returns a StreamingHttpResponse of an asynchronous iterator: its thread
is free at once, and thousands of requests may wait.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestAborted, RequestDataTooBig
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from jobs.http.codes import ProblemCode
from scheduler_project import errors, health
from scheduler_project.shares import Shares

Scope = dict[str, Any]
GONE = {"type": "http.disconnect"}  # Django then drops what it has read
BODY_SECONDS = 30.0  # until it has arrived: the largest at 0.7 Mbit/s


class ThreadedHandler(ASGIHandler):
    """Django's handler with permanent threads for views. Each thread keeps a database connection open."""

    def __init__(self, threads: int) -> None:
        super(ASGIHandler, self).__init__()
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="view")
        self._probes = ThreadPoolExecutor(1, thread_name_prefix="ready")  # so that probes wait for no view
        self._shares = Shares(threads)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":  # tells the server that "lifespan" is not supported
            raise ValueError(f"This handler serves only HTTP, not {scope['type']}.")
        prefix = get_script_prefix(scope)
        path = scope["path"].removeprefix(prefix)
        scope = scope | {"path": prefix + path}  # whether or not the proxy has removed the prefix
        if path == health.ALIVE:  # answered even if every thread is busy
            await self.send_response(health.alive(), send)
            return
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            set_script_prefix(prefix)
            await self.send_response(errors.two_lengths(path), send)
            return
        try:
            body = await self.read_body_within(scope, receive, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        except RequestAborted:
            return
        except (RequestDataTooBig, TimeoutError) as error:
            set_script_prefix(prefix)
            refused = errors.too_large if isinstance(error, RequestDataTooBig) else errors.too_slow
            await self.send_response(refused(path), send)
            return
        in_thread = asyncio.get_running_loop().run_in_executor
        if path == health.READY:
            await self.send_response(await in_thread(self._probes, self._view, scope, body, path), send)
            return
        async with self._shares.turn(scope):
            response = await in_thread(self._threads, self._view, scope, body, path)
        if not isinstance(response, StreamingHttpResponse):
            await self.send_response(response, send)
            return
        try:
            await self._stream(response, receive, send)
        finally:
            await in_thread(self._threads, response.close)

    async def read_body_within(self, scope: Scope, receive: Any, limit: int) -> IO[bytes]:
        """Read the body. Raises TimeoutError, or RequestDataTooBig at once: else a stranger could fill the disk."""
        for name, value in scope["headers"]:
            if name == b"content-length" and int(value) > limit:  # the server has checked that it is a number
                raise RequestDataTooBig
        ends = asyncio.get_running_loop().time() + BODY_SECONDS
        taken = 0
        error: type[Exception] = RequestAborted

        async def bounded() -> Any:
            nonlocal taken, error
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                error = TimeoutError
                return GONE
            taken += len(message.get("body", b""))
            if taken > limit:
                error = RequestDataTooBig
            return message if taken <= limit else GONE

        try:
            return await self.read_body(bounded)
        except RequestAborted:
            raise error from None

    def _view(self, scope: Scope, body: IO[bytes], path: str) -> HttpResponseBase:
        """Return the complete response, or its head and an asynchronous iterator of its body."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            request_started.send(sender=self.__class__, scope=scope)
            request, _ = self.create_request(scope, body)
            response = (
                self.get_response(request)
                if request
                else errors.refused(path, ProblemCode.MALFORMED_REQUEST, "The request is malformed.")
            )
        if not isinstance(response, StreamingHttpResponse):
            response.close()  # in this thread, whose connections it closes; the content stays
        elif not response.is_async:
            response.streaming_content = _at_once(b"".join(response))  # a static file
        return response

    async def _stream(self, response: StreamingHttpResponse, receive: Any, send: Any) -> None:
        """Send the parts as they come, until the client disconnects."""
        try:
            async with asyncio.TaskGroup() as tasks:
                disconnect = tasks.create_task(self.listen_for_disconnect(receive))
                await self.send_response(response, send)
                disconnect.cancel()
        except* RequestAborted:
            pass


async def _at_once(whole: bytes) -> AsyncIterator[bytes]:
    yield whole
