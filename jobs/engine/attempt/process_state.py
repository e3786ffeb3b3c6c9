"""Undo the changes of a body to its process, so that the next body here, perhaps another tenant's, does not meet them.

`session_reset.py` does this for database sessions, `copy_context` (engine/process/user_code.py) for context variables.
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
from _signal import getsignal  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

# If SIGCHLD is ignored, every subprocess of the next body ends with status 0. If SIGPIPE is not ignored, a lost
# connection ends the process. With other handlers of the last three, a signal that stops all processes of the worker
# ends it at once. SIGALRM belongs to the time limit.
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
    with suppress(OSError):  # the directory was removed
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
    """Set the handler again. Raises ValueError for one that Python did not set, and so cannot set again."""
    if before is None:
        raise ValueError(number)
    signal.signal(number, before)


def _fork_server() -> int | None:
    """Return the pid of the process from which `multiprocessing` forks others; None: there is none.

    From Python 3.14 on it does so by default. The fork server keeps the state with which it began.
    """
    found = sys.modules.get("multiprocessing.forkserver")
    return found._forkserver._forkserver_pid if found else None


def _end_fork_server(_: int | None) -> None:
    """End the fork server, unless processes that a body has kept depend on it."""
    pid = _fork_server()
    if pid is None or multiprocessing.active_children():
        return
    with suppress(OSError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # raises if this is not its pid any more
        os.kill(pid, signal.SIGKILL)
        sys.modules["multiprocessing.forkserver"]._forkserver._stop()


# How each part is read, and how it is put back. The two readings of all parts for a body take 11 us. `signal.getsignal`
# would add 13 us: it first tries to make an enum of each handler that Celery has set.
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
    *((partial(getsignal, number), partial(_put_handler, number)) for number in SIGNALS),
    (_fork_server, _end_fork_server),  # after SIGCHLD: while that is ignored, its end is not noticed
)


@contextmanager
def as_it_was() -> Iterator[list[Exception]]:
    """Put the parts of the process that the block has changed back. Yield the errors of those that cannot be put back.

    After such an error this process must not run another body. Examples: a limit that only a privileged process may
    raise, or a directory that is gone.
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
