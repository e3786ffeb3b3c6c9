"""The stack of a running body, for operators: files, lines and functions, the innermost first. No values: they may be
secret.

The lines have the form of `faulthandler`, which writes those of an ordinary process.
"""

import asyncio
import gc
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

MOST = 64 * 1024  # characters of an answer
MOST_TASKS = 100  # of one body
# Where the engine calls a body: what is outside of these is the same for all bodies.
CALLERS = (
    ('/engine/attempt/body.py"', " in _call"),
    ('/engine/attempt/coroutines.py"', " in awaited"),
    ('/engine/light/coroutine.py"', " in _call"),
    ('/engine/light/coroutine.py"', " in _call_plain"),
)


def line(file: str, number: int | None, function: str) -> str:
    return f'  File "{file}", line {number or 0} in {function}'


def of_frame(frame: FrameType | None) -> list[str]:
    """Return the lines of a thread."""
    lines = []
    while frame is not None:
        lines.append(line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return lines


def of_task(task: asyncio.Task[Any]) -> list[str]:
    """Return the lines of a task that waits: the coroutines that await each other. Any thread may ask."""
    return [*_awaiting(task.get_coro())][::-1]


def of_tasks(tasks: Iterable[asyncio.Task[Any]]) -> str:
    """Return the stacks of tasks that wait, each with its name. Tasks of which nothing is known are left out."""
    found = [(task.get_name(), until_engine(of_task(task))) for task in [*tasks][:MOST_TASKS]]
    return "\n".join(f"Task {name}\n" + "\n".join(lines) for name, lines in sorted(found) if lines)


def until_engine(lines: Iterable[str]) -> list[str]:
    """Return the lines without those of the engine that has called the body, and of what has called the engine."""
    kept = []
    for one in lines:
        if any(file in one and one.endswith(function) for file, function in CALLERS):
            break
        kept.append(one)
    return kept


def _awaiting(waits: Any) -> Iterator[str]:
    """Yield the lines of a coroutine and of what it awaits, the outermost first."""
    seen = 0
    while waits is not None and seen < MOST_TASKS:
        seen += 1
        for kind in ("cr", "gi", "ag"):  # a coroutine, a generator, an asynchronous generator
            if (code := getattr(waits, f"{kind}_code", None)) is not None:
                frame = getattr(waits, f"{kind}_frame", None)
                yield line(code.co_filename, frame and frame.f_lineno, code.co_name)
                waits = getattr(waits, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)
                break
        else:
            waits = _waiting_in(waits)


def _waiting_in(step: Any) -> Any:
    """Return what a step of an asynchronous generator belongs to; None for a future, or what another library uses.

    Such a step does not tell it, except to the collector of garbage.
    """
    if type(step).__name__ not in ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper"):
        return None
    return next((one for one in gc.get_referents(step) if hasattr(one, "ag_code") or hasattr(one, "cr_code")), None)
