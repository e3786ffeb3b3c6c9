"""`await in_thread(function)`: a coroutine lets a function use the database as a whole, with its transactions."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


async def in_thread(
    function: Callable[Arguments, Value], /, *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Value:
    """Call a function in the thread of the body's database sessions; return its value, or raise its error.

    Django refuses `transaction.atomic` and each query in a coroutine itself. A cancel ends the statement that the
    function waits for; the function itself is not interrupted.
    Raises TypeError for an `async def`.
    """
    return await sync_to_async(function, thread_sensitive=True)(*args, **kwargs)
