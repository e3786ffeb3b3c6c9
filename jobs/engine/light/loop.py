"""The event loop of a light process, which is that of all its seats: a body cannot change it for the others."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from jobs.engine.light.rest import attempt_here


class SharedLoop(asyncio.SelectorEventLoop):
    """Refuses what a body asks for all others. RuntimeError names the remedy."""

    def set_default_executor(self, executor: ThreadPoolExecutor) -> None:  # type: ignore[override]
        _refuse("threads", "run_in_executor(pool, function) with a pool of your own")
        super().set_default_executor(executor)

    async def shutdown_default_executor(self, *timeout: Any) -> None:
        _refuse("threads", "a pool of your own")
        await super().shutdown_default_executor(*timeout)

    def set_task_factory(self, factory: Any) -> None:
        _refuse("tasks", "create_task")
        super().set_task_factory(factory)

    def set_exception_handler(self, handler: Any) -> None:
        _refuse("errors", "await your tasks")
        super().set_exception_handler(handler)


def _refuse(what: str, remedy: str) -> None:
    """Raise RuntimeError if a body asks."""
    if attempt_here() is not None:
        raise RuntimeError(
            f"The event loop of a light pool, with its {what}, is that of all its jobs. Instead: {remedy}."
        )
