"""Handle Ctrl-C, `kill` and a closed terminal. The reaction changes during a run."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_leaving: int | None = None  # the signal by which we leave


def on_stop(action: Callable[[int], object]) -> None:
    """Call `action(number)` at each signal from now on. A signal that was ignored at the start (nohup) stays ignored.

    If a signal came while a destructor ran, Python lost the exception that its handler raised. It is raised again here.
    """

    def received(number: int, _frame: FrameType | None) -> None:
        action(number)

    for number in ASKING_TO_STOP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, received)
    if _leaving is not None and action is not ignore:
        leave(_leaving)


def leave(number: int) -> NoReturn:
    """Unwind, so that every `finally` runs; a second Ctrl-C must not interrupt them."""
    global _leaving  # noqa: PLW0603 - signals are the process's, too
    _leaving = number
    on_stop(ignore)
    raise SystemExit(128 + number)


def ignore(_number: int) -> None:
    """Do nothing, since we are stopping. This is a handler, not SIG_IGN, which children would inherit."""
