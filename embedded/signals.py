"""What Ctrl-C, `kill` and a closed terminal mean to us, which changes as we go along."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def on_stop(action: Callable[[int], object]) -> None:
    """From now on call `action(number)`; a signal that we were started to ignore (nohup) stays ignored."""

    def received(number: int, _frame: FrameType | None) -> None:
        action(number)

    for number in ASKING_TO_STOP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, received)


def leave(number: int) -> NoReturn:
    """Unwind, so that every `finally` runs; a second Ctrl-C must not cut those short."""
    on_stop(ignore)
    raise SystemExit(128 + number)


def ignore(_number: int) -> None:
    """Already stopping. A handler and not SIG_IGN, which children would inherit."""
