"""Ask the database for a body, from whichever thread or event loop of it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from asgiref.sync import AsyncToSync, SyncToAsync

Answer = TypeVar("Answer")


def ask(question: Callable[[], Answer]) -> Answer:
    """Ask the database in the session of the body, also from within its event loop, as `await sync_to_async` does."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return question()
    waiting = getattr(AsyncToSync.executors, "current", None) or AsyncToSync.loop_thread_executors.get(loop)
    answer: Future[Answer] = (waiting or SyncToAsync.single_thread_executor).submit(copy_context().run, question)
    return answer.result()
