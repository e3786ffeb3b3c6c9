"""Note what the body of an attempt starts beside its coroutine, and end it with the body.

These are tasks of the loop, asynchronous generators, database calls, and calls in other threads. A thread that a body
starts by itself is not noted.
"""

import asyncio
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context, ContextVar
from functools import partial
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from jobs import telemetry
from jobs.engine.attempt.coroutines import names_of
from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import in_clean_sessions
from jobs.engine.process.interrupt import CANCEL_PATIENCE

LOOK_AGAIN = 0.01  # seconds
_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)
# The attempts of generators that have begun, by id(): when Python tells that a generator is lost, no other has its id.
_owners: WeakValueDictionary[int, Attempt] = WeakValueDictionary()


def note_body(attempt: Attempt) -> None:
    """Note what starts in the context of this attempt from now on."""
    attempt.context.run(_attempt.set, attempt)


def attempt_here() -> Attempt | None:
    """Return the attempt whose body runs in this context."""
    return _attempt.get()


class OwnTask(asyncio.Task[Any]):
    """A task that the body of another attempt cannot cancel, as by `for task in asyncio.all_tasks()`.

    attempt: whose body has started it; None: the engine itself.
    """

    attempt: Attempt | None = None

    def cancel(self, msg: Any = None) -> bool:
        caller = _attempt.get()
        if caller is not None and caller is not self.attempt:
            telemetry.noticed("a body cannot cancel the tasks of others", job=caller.job.id)
            return False
        return super().cancel(msg)


def make_task(loop: asyncio.AbstractEventLoop, body: Coroutine[Any, Any, Any], **options: Any) -> OwnTask:
    """Make a task, and note it for the attempt whose body starts it, perhaps in an empty context."""
    task, context = OwnTask(body, loop=loop, **options), options.get("context")
    task.attempt = attempt = (context.get(_attempt) if context is not None else None) or _attempt.get()
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


def watch_generators() -> None:
    """Note the asynchronous generators that begin in this thread, which is that of the loop, from now on.

    asyncio itself would close one in the context of whichever body runs when it is collected.
    """
    loop, thread = asyncio.get_running_loop(), threading.get_ident()

    def begins(generator: AsyncGenerator[Any, Any]) -> None:
        if (attempt := _attempt.get()) is not None:
            _owners[id(generator)] = attempt
            attempt.generators = attempt.generators or WeakSet()
            attempt.generators.add(generator)

    def is_lost(generator: AsyncGenerator[Any, Any]) -> None:
        close = partial(_close, loop, generator, _owners.pop(id(generator), None))
        if threading.get_ident() == thread:
            close()
        else:
            loop.call_soon_threadsafe(close)

    sys.set_asyncgen_hooks(begins, is_lost)


def _close(loop: asyncio.AbstractEventLoop, generator: AsyncGenerator[Any, Any], attempt: Attempt | None) -> None:
    """Close a generator, in a task of its attempt."""
    if attempt is None:
        loop.create_task(generator.aclose())
        return
    task = loop.create_task(generator.aclose(), context=attempt.context.copy())
    attempt.tasks.discard(task)
    attempt.closing.add(task)
    task.add_done_callback(attempt.closing.discard)


async def end_rest(attempt: Attempt, stuck: Callable[[Attempt], object]) -> None:
    """Cancel the tasks and the calls that a body has left behind, and close its generators, in its context.

    stuck: called if they do not end in time; then the process must end.
    """
    ending = OwnTask(_end_rest(attempt, stuck), loop=asyncio.get_running_loop())
    while not ending.done():
        with suppress(asyncio.CancelledError):  # the body's own code may have cancelled its task once more
            await asyncio.wait([ending])


async def _end_rest(attempt: Attempt, stuck: Callable[[Attempt], object]) -> None:
    loop, give_up = asyncio.get_running_loop(), time.monotonic() + CANCEL_PATIENCE
    cancelled = set[asyncio.Task[Any]]()
    while attempt.has_rest():
        if new := attempt.tasks - cancelled:  # in its end, a task may start others
            telemetry.noticed("tasks cancelled: their body has ended", job=attempt.job.id, left=names_of(new))
            cancelled |= new
            for task in new:
                task.cancel()
        is_late = time.monotonic() > give_up
        if not attempt.tasks:  # else they may still use the generators
            while attempt.generators:
                _close(loop, attempt.generators.pop(), attempt)
        if is_late or not (attempt.tasks or attempt.closing):  # else they may still ask the database, in their end
            attempt.lane.end()
        if is_late:
            left = names_of(attempt.tasks | attempt.closing) or "a call"
            telemetry.noticed("process drains: what a body has started still runs", job=attempt.job.id, left=left)
            stuck(attempt)
            return
        await asyncio.sleep(LOOK_AGAIN)


def tell(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
    """Log what asyncio tells of a task that failed, perhaps while the body of another attempt runs."""
    attempt: Attempt | None = getattr(told.get("task") or told.get("future"), "attempt", None)
    if attempt is None:
        Context().run(loop.default_exception_handler, told)
    elif not attempt.is_over:
        attempt.context.copy().run(loop.default_exception_handler, told)
    else:
        error = told.get("exception")
        name = type(error).__name__ if error else None
        telemetry.noticed("task of an ended body failed", job=attempt.job.id, error=name)
