"""The stack of the body of an ordinary process, by a signal of its own.

The process writes it into a file that it shares with its parent. First `faulthandler` does, in C, whatever holds the
interpreter; then Python's own handler does, once the main thread runs code again: it adds the tasks that wait in the
event loop of a coroutine. A body that hangs in C never comes to that; what is in the file by then is the answer.
"""

import asyncio
import faulthandler
import os
import signal
import tempfile
import time
from _signal import getsignal  # type: ignore[import-not-found]  # in 0.1 us; that of `signal` takes 4
from contextlib import suppress
from pathlib import Path
from types import FrameType

from jobs.engine.process.stacks import MOST, of_tasks, until_engine

# Bodies and libraries have handlers of their own for the others.
SIGNAL: int = signal.SIGRTMAX - 1 if hasattr(signal, "SIGRTMAX") else signal.SIGUSR2
PATIENCE, LOOK_AGAIN = 1.0, 0.01  # seconds
END = "\n--\n"
NO_ANSWER = f"Its process gave no answer within {PATIENCE:g} s."

# Made before the pool forks: all processes of a worker share the file, and the place where they write.
with tempfile.TemporaryFile() as _made:
    _file = os.dup(_made.fileno())  # a number, which stays open while the process lives


def listen() -> None:
    """Let this thread answer from now on, the main one. Also after a body has taken the signal for itself."""
    if getsignal(SIGNAL) is not _tell_tasks:
        faulthandler.unregister(SIGNAL)  # else it believes that it still listens
        signal.signal(SIGNAL, _tell_tasks)
        faulthandler.register(SIGNAL, file=_file, all_threads=False, chain=True)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [SIGNAL])


def leave_to_main_thread() -> None:
    """Let the threads that are started from now on not answer: their stack is not that of the body."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])


def ask(pid: int) -> str:
    """Return the stack of the main thread of that process; "" if it does not answer within PATIENCE seconds.

    For one thread of the parent: the file has one answer at a time.
    """
    os.ftruncate(_file, 0)
    os.lseek(_file, 0, os.SEEK_SET)
    if not _listens(pid):  # the signal would end it
        return ""
    with suppress(ProcessLookupError):
        os.kill(pid, SIGNAL)
    until = time.monotonic() + PATIENCE
    while END not in (text := _written()) and time.monotonic() < until:
        time.sleep(LOOK_AGAIN)
    return _in_order(text)


def _written() -> str:
    return os.pread(_file, MOST, 0).decode(errors="replace")


def _in_order(text: str) -> str:
    """Return first the tasks, if there are some: the thread then only waits for them."""
    of_thread, _, tasks = text.partition(END)[0].partition("\n\n")
    thread = "\n".join(until_engine(line for line in of_thread.splitlines() if line.startswith("  ")))
    return "\n".join(part for part in (tasks.strip("\n"), thread) if part)


def _tell_tasks(_signal: int, _frame: FrameType | None) -> None:
    """Add the tasks of the body. What this raises would be raised in the body."""
    loop = asyncio._get_running_loop()
    tasks = "" if loop is None else of_tasks(asyncio.all_tasks(loop) - {asyncio.current_task(loop)})
    with suppress(OSError):
        os.write(_file, f"\n\n{tasks[: MOST // 2]}{END}".encode())


def _listens(pid: int) -> bool:
    """Return whether a process handles the signal: a program into which a body has turned it may not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it is gone, or this is no Linux
        return not Path("/proc/self/status").exists()
    caught = next((row for row in status.splitlines() if row.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (SIGNAL - 1) & 1)
