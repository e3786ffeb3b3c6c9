"""Run the body of an `async def` on an event loop of its own, in the thread of the body.

The ORM calls that it awaits run in the SyncThread, in the sessions of the body. `async_to_sync` would do it the other
way round, with the loop in a thread of its own for each attempt. There no signal can reach it: at the time limit
the exception would end the wait for the loop, and leave the coroutine running.
"""

import asyncio
import os
from collections.abc import Awaitable, Coroutine, Iterable
from functools import partial
from typing import Any, TypeVar

from asgiref.sync import AsyncToSync, SyncToAsync, ThreadSensitiveContext
from django.core.exceptions import SynchronousOnlyOperation

from jobs import telemetry
from jobs.engine.process.host import AttemptHost
from jobs.engine.process.interrupt import CANCEL_PATIENCE

Value = TypeVar("Value")

REMEDY = "In a coroutine: await the ORM's own twins (aget, asave), and `in_thread(function)` for a transaction."
_kept: list[object] = []  # tasks that did not end: if they were collected, their `finally` would run in other code


def run(body: Coroutine[Any, Any, Value], job_id: int, host: AttemptHost, left: list[str]) -> Value:
    """Run the body to its end, and cancel the tasks that it leaves behind. Return its value, or raise its error.

    The time limit cancels the body: it raises CancelledError where the body waits.
    left: gets the names of the tasks that did not end in time; then this process must end.
    """
    process, loop = os.getpid(), asyncio.new_event_loop()
    task = loop.create_task(_in_sessions_of_the_body(body), name="the body")
    with host.limit.cancelling(loop, partial(_cancel, task, host)):
        try:
            return loop.run_until_complete(task)
        finally:
            if os.getpid() == process:  # a process that the body forked shares what the loop waits with
                left.append("an event loop")  # unless it ends here
                try:
                    left[:] = loop.run_until_complete(_end_tasks(job_id, task))
                finally:
                    loop.set_exception_handler(partial(_tell_late, job_id))
                    loop.close()


def _cancel(task: asyncio.Task[Any], host: AttemptHost) -> None:
    task.cancel()
    host.process.cancel_calls()


async def awaited(body: Awaitable[Value]) -> Value:
    """Await a body; if Django refuses a query in it, name the remedy."""
    try:
        return await body
    except SynchronousOnlyOperation as error:
        if "In a coroutine" not in str(error):
            error.args = (f"{error} {REMEDY}",)
        raise


async def _in_sessions_of_the_body(body: Awaitable[Value]) -> Value:
    """Await a body; its ORM calls go to the SyncThread, even if another loop waits for this thread, as in a test."""
    AsyncToSync.executors.current = None
    context = ThreadSensitiveContext()
    SyncToAsync.thread_sensitive_context.set(context)
    SyncToAsync.context_to_thread_executor[context] = SyncToAsync.single_thread_executor
    return await awaited(body)


async def _end_tasks(job_id: int, body: asyncio.Task[Any]) -> list[str]:
    """Cancel what still runs in this loop; return the names of the tasks that do not end, and log what was cancelled.

    The body itself still runs if a signal has interrupted the loop.
    """
    loop = asyncio.get_running_loop()
    give_up = loop.time() + CANCEL_PATIENCE
    cancelled: set[asyncio.Task[Any]] = set()
    while running := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in running - cancelled:
            task.cancel()
        cancelled |= running
        if loop.time() > give_up:
            break
        await asyncio.wait(running, timeout=max(give_up - loop.time(), 0))
    if of_the_body := cancelled - {body}:
        telemetry.noticed("tasks cancelled: their body has ended", job=job_id, left=names_of(of_the_body))
    _kept.extend(running)
    try:
        async with asyncio.timeout_at(give_up):
            await loop.shutdown_asyncgens()
    except TimeoutError:
        return ["an asynchronous generator"]
    return [names_of(running)] if running else []


def names_of(tasks: Iterable[asyncio.Task[Any]]) -> str:
    """Return the names of tasks for the log, each with its function."""
    named = sorted((task.get_name(), getattr(task.get_coro(), "__qualname__", "")) for task in tasks)
    return ", ".join(f"{name} ({function})" if function else name for name, function in named)


def _tell_late(job_id: int, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what asyncio tells about an ended loop, perhaps while the next body runs, with the job that the loop had."""
    error = context.get("exception")
    telemetry.noticed("task of an ended body failed", job=job_id, error=type(error).__name__ if error else None)
