"""The threads that a body starts. Their sessions end with the body; a thread that still runs then ends the process.

Django's sessions belong to threads, and no thread can enumerate those of another. So each session is noted when it
opens.
"""

import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from concurrent.futures import thread as pools
from contextlib import contextmanager, suppress
from traceback import walk_stack
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from asgiref.sync import SyncToAsync
from django.db import connections
from django.db.backends.signals import connection_created

from jobs import store
from jobs.engine.attempt.sync_thread import SyncThread
from jobs.engine.process.interrupt import CANCEL_PATIENCE, interrupt, is_active

LOOK_AGAIN = 0.01  # seconds
OF_PYTHON = (sysconfig.get_path("stdlib"), "<frozen ")
OF_PACKAGES = "-packages/"  # site-packages, dist-packages


class Threads:
    """The threads of bodies, in a process that runs one body at a time. Made in the thread that runs the bodies."""

    def __init__(self) -> None:
        self._mine = connections.all()
        self._opened: WeakKeyDictionary[Any, threading.Thread] = WeakKeyDictionary()  # sessions; it keeps none open
        self._blocks: list[list[Any]] = []  # the open `atomic` blocks of each session, of a dead thread too
        self._lock = threading.Lock()
        self._others: set[threading.Thread] = set()  # threads that no body has started
        self._left: set[threading.Thread] = set()  # threads that earlier bodies have left: they wait
        self._awaited = SyncToAsync.single_thread_executor = SyncThread()
        connection_created.connect(self._note)

    def _note(self, connection: Any, **_: object) -> None:
        if connection not in self._mine and not store.is_of_the_engine(connection):
            with self._lock:
                self._opened[connection] = threading.current_thread()
                self._blocks.append(connection.atomic_blocks)

    @contextmanager
    def of_a_body(self) -> Iterator[None]:
        """Run a body inside the block. If a call that it awaited uses its sessions after it, `end` reports that."""
        self._others = {*threading.enumerate()} - self._left
        try:
            yield
        finally:
            self._awaited.is_idle()

    def cancel_calls(self) -> None:
        """Cancel the statement of a call that a body awaits."""
        self._awaited.interrupt()

    def end(self) -> str:
        """End the sessions of the body's other threads. Return the name of a thread that still runs, or "".

        If one still runs, the process must end: the thread uses the body's data, and its sessions cannot be cleaned.
        """
        if not self._awaited.is_idle():
            self._awaited.keep_the_sessions()
            return "sync_to_async"
        if not self._find_left() and not self._blocks:
            return ""
        for session, _ in self._sessions():
            interrupt(session)
        give_up = time.monotonic() + CANCEL_PATIENCE
        while running := self._running():
            if time.monotonic() > give_up:
                return running
            time.sleep(LOOK_AGAIN)
        for session, _ in self._sessions():
            _close(session)
        self._opened.clear()
        self._blocks.clear()
        return ""

    def _find_left(self) -> set[threading.Thread]:
        self._left = {*threading.enumerate()} - self._others
        return self._left

    def _sessions(self) -> list[tuple[Any, threading.Thread]]:
        with self._lock:
            return list(self._opened.items())

    def _running(self) -> str:
        frames = sys._current_frames()
        busy = [thread for thread in self._find_left() if _runs(thread, frames.get(thread.ident or 0))]
        busy += [thread for session, thread in self._sessions() if is_active(session)]
        if busy:
            return busy[0].name
        return "transaction.atomic" if any(self._blocks) else ""


def _runs(thread: threading.Thread, frame: FrameType | None) -> bool:
    """Return whether a thread runs code of the project, or is about to. If not, it waits in a library."""
    queue = pools._threads_queues.get(thread)  # of a ThreadPoolExecutor
    if isinstance(thread, threading.Timer) or (queue is not None and not queue.empty()):
        return thread.is_alive()
    return any(is_of_the_project(at.f_code.co_filename) for at, _ in walk_stack(frame)) if frame else False


def is_of_the_project(file: str) -> bool:
    return OF_PACKAGES not in file and not file.startswith(OF_PYTHON)


def _close(session: Any) -> None:
    """Close the session of another thread, which has ended or waits."""
    session.inc_thread_sharing()
    try:
        with suppress(Exception):
            session.close()
    finally:
        session.dec_thread_sharing()
