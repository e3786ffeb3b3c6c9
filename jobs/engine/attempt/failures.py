"""Turn an error into texts to store. Its text and its class are user code: reading them may raise anything."""

import traceback
from collections.abc import Callable
from typing import Any

from jobs.authoring.groups import leaves
from jobs.store import Failure
from plumbing.text import storable

CLASS_LENGTH = 200  # characters of the column
ERROR_LENGTH = 2_000  # characters kept of an error
TRACEBACK_LENGTH = 20_000  # characters, the last ones


def as_failure(
    error: BaseException, stats: dict[str, Any] | None = None, after: BaseException | None = None
) -> Failure:
    """Return the parts of an error that are stored; of a group the class and the text of its first error.

    after: the error of the body, if user code raised `error` when it was asked for a decision about that.
    """
    trace = _read("traceback", lambda: "".join(traceback.format_exception(error)))
    if after is not None:
        trace = f"{trace.rstrip()}\nwhen asked for a decision after {_class_of(after)}: {_text_of(after)}\n"
    text = _text_of(error)
    return Failure(_class_of(error), storable(text)[:ERROR_LENGTH], storable(trace)[-TRACEBACK_LENGTH:], stats)


def without_text(error: BaseException, stats: dict[str, Any] | None, why: BaseException) -> Failure:
    """Return the failure of an error whose text cannot be read.

    why: the error that was raised by the attempt to read it.
    """
    return Failure(_class_of(error), f"(its text cannot be read: {_class_of(why)})", stats=stats)


def _class_of(error: BaseException) -> str:
    return storable(type(leaves(error)[0]).__name__)[:CLASS_LENGTH]


def _text_of(error: BaseException) -> str:
    return _read("text", lambda: str(leaves(error)[0]))


def _read(what: str, question: Callable[[], str]) -> str:
    try:
        return question()
    except Exception as broken:
        return f"(its {what} cannot be read: {_class_of(broken)})"
