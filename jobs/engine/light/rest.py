"""Note what the body of an attempt starts beside its coroutine: tasks of the loop, and calls in threads.

Each is noted for the attempt, so that it can be ended with the body. A thread that a body starts by itself is not.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any

from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import in_clean_sessions

_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def note_body(attempt: Attempt) -> None:
    """Note what starts in the context of this attempt from now on."""
    attempt.context.run(_attempt.set, attempt)


def make_task(loop: asyncio.AbstractEventLoop, body: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
    """Make a task, and note it for the attempt whose body starts it, perhaps in an empty context."""
    task: asyncio.Task[Any] = asyncio.Task(body, loop=loop, **options)
    context = options.get("context")
    attempt = (context.get(_attempt) if context is not None else None) or _attempt.get()
    if attempt is not None:
        attempt.tasks.add(task)
        task.add_done_callback(attempt.tasks.discard)
    return task


class OtherThreads(ThreadPoolExecutor):
    """The threads of `asyncio.to_thread`. A cancel does not end a call that runs there, so each is noted."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        call = super().submit(in_clean_sessions, partial(function, *args, **kwargs))
        attempt = _attempt.get()
        if attempt is not None:
            attempt.calls.add(call)
            call.add_done_callback(attempt.calls.discard)
        return call
