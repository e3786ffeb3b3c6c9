"""Put back what a body changed of its process, so that the next body here, which may be another tenant's, finds it as
it was.

`session_reset.py` does this for database sessions, `copy_context` (engine/body.py) for context variables.
"""

import asyncio
import gc
import locale
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

# If SIGCHLD is ignored, every subprocess of the next body ends with status 0; if SIGPIPE is not, a lost connection ends
# the process, and so does a signal to all processes of the worker that should stop. SIGALRM is the time limit's own.
SIGNALS = (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)


def _environment() -> dict[bytes, bytes]:
    copied: dict[bytes, bytes] = os.environ._data.copy()  # type: ignore[attr-defined]  # 0.4 us; environ.copy() 27
    return copied


def _put_environment(before: dict[bytes, bytes]) -> None:
    for name in os.environb.keys() - before.keys():
        del os.environb[name]
    os.environb.update(before)
    time.tzset()  # TZ may be one of them


def _directory() -> str | None:
    with suppress(OSError):  # somebody has removed it
        return os.getcwd()  # noqa: PTH109 - Path.cwd() takes ten times as long
    return None


def _put_directory(before: str | None) -> None:
    if before is not None:
        os.chdir(before)


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _put_streams(before: tuple[Any, Any]) -> None:
    sys.stdout, sys.stderr = before


def _put_temporary(before: str | None) -> None:
    tempfile.tempdir = before


def _put_handler(number: signal.Signals, before: Any) -> None:
    if before is not None:  # None: not of Python
        signal.signal(number, before)


def _fork_server() -> int | None:
    """Of which `multiprocessing` forks processes, as is its way from Python 3.14 on: it keeps what it began with."""
    found = sys.modules.get("multiprocessing.forkserver")
    return found._forkserver._forkserver_pid if found else None


def _end_fork_server(_: int | None) -> None:
    """Unless processes that a body has kept depend on it."""
    pid = _fork_server()
    if pid is None or multiprocessing.active_children():
        return
    with suppress(OSError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # or else its number may be another's by now
        os.kill(pid, signal.SIGKILL)
        sys.modules["multiprocessing.forkserver"]._forkserver._stop()


# What is read, and how it is put back. Both readings of a body take 18 us.
_PARTS: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    *((partial(resource.getrlimit, limit), partial(resource.setrlimit, limit)) for limit in LIMITS),
    (asyncio._get_running_loop, asyncio._set_running_loop),  # while one runs, Django refuses every query
    (_environment, _put_environment),
    (_directory, _put_directory),
    (_umask, os.umask),
    (partial(locale.setlocale, locale.LC_ALL), partial(locale.setlocale, locale.LC_ALL)),
    (socket.getdefaulttimeout, socket.setdefaulttimeout),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    (lambda: logging.root.manager.disable, logging.disable),
    (lambda: (sys.stdout, sys.stderr), _put_streams),
    (lambda: tempfile.tempdir, _put_temporary),
    (partial(signal.pthread_sigmask, signal.SIG_BLOCK, ()), partial(signal.pthread_sigmask, signal.SIG_SETMASK)),
    *((partial(signal.getsignal, number), partial(_put_handler, number)) for number in SIGNALS),
    (_fork_server, _end_fork_server),  # after SIGCHLD, without which nobody hears of its end
)


@contextmanager
def as_it_was() -> Iterator[list[Exception]]:
    """Put back afterwards what differs then. Yields the refusals: with one, this process must not run another body.

    So it is with a limit that only a privileged process may raise, or a directory that is gone.
    """
    refusals: list[Exception] = []
    before = [read() for read, _ in _PARTS]
    try:
        yield refusals
    finally:
        for (read, put), value in zip(_PARTS, before, strict=True):
            if read() != value:
                try:
                    put(value)
                except (OSError, ValueError) as refusal:
                    refusals.append(refusal)
