"""A worker's presence in PostgreSQL: it registers, beats, and reports attempts whose process died under it."""

import os
import queue
import signal
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine import dispatch, recover
from jobs.store import Failure, Process


@dataclass(frozen=True)
class Ended:
    """An attempt whose process is no more. timed_out_after: seconds of the hard time limit that ended it."""

    job_id: int
    attempt: int
    pid: int
    error_class: str = ""
    error: str = ""
    timed_out_after: float | None = None


# Put by the consumer's thread, which must not wait for PostgreSQL; kept here until PostgreSQL has it. None only wakes.
attempts_ended: queue.SimpleQueue[Ended | None] = queue.SimpleQueue()

EXIT_DECLARED_GONE = 75  # EX_TEMPFAIL: the supervisor starts a new worker, which registers anew


@dataclass(frozen=True)
class Identity:
    """Who this worker is. Chosen before its children are forked, so that they know it too."""

    id: uuid.UUID
    name: str
    pool: str


class Presence:
    """Runs in a thread of the worker's parent process until `stop` is set.

    processes: how many the pool has now (0 while it drains, so that nothing more is handed to it).
    children: the pids of the pool's processes.
    """

    def __init__(
        self,
        identity: Identity,
        stop: threading.Event,
        processes: Callable[[], int],
        children: Callable[[], list[int]],
    ) -> None:
        self._identity = identity
        self._stop = stop
        self._processes = processes
        self._children = children
        self._next_beat = 0.0

    def run(self) -> None:
        """Beat and report until stopped; then leave in good order."""
        while not self._stop.is_set():
            self._while_database_answers(self._step)
        self._while_database_answers(lambda: store.leave(self._identity.id))
        connection.close()

    def beat_now(self) -> None:
        """Beat at once, because the number of processes has changed."""
        self._next_beat = 0.0
        attempts_ended.put(None)

    def _step(self) -> None:
        if time.monotonic() >= self._next_beat:
            self._next_beat = time.monotonic() + settings.JOBS_BEAT_INTERVAL
            self._beat()
        try:
            ended = attempts_ended.get(timeout=max(self._next_beat - time.monotonic(), 0))
        except queue.Empty:
            return
        try:
            self._report(ended)
        except (DatabaseError, InterfaceError):
            attempts_ended.put(ended)
            raise

    def _report(self, ended: Ended | None) -> None:
        if ended is None:
            return
        process = Process(self._identity.id, ended.pid)
        if ended.timed_out_after is not None:
            recover.time_out(ended.job_id, ended.attempt, ended.timed_out_after, process)
        else:
            recover.take_back(ended.job_id, ended.attempt, Failure(ended.error_class, ended.error), process)

    def _beat(self) -> None:
        who = self._identity
        registered = store.beat(who.id, name=who.name, pid=os.getpid(), pool=who.pool, concurrency=self._processes())
        if registered is None:
            self._stop_at_once()
        if registered:
            telemetry.noticed("worker registered", worker=who.name, pool=who.pool, processes=self._processes())
            dispatch.dispatch()

    def _stop_at_once(self) -> None:
        """Declared gone: our jobs are being run elsewhere, so what still runs here must end now."""
        telemetry.noticed("declared gone, stopping", worker=self._identity.name)
        for pid in self._children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os._exit(EXIT_DECLARED_GONE)

    def _while_database_answers(self, step: Callable[[], None]) -> None:
        try:
            step()
        except (DatabaseError, InterfaceError) as error:
            telemetry.noticed("worker without database", error=type(error).__name__)
            connection.close()
            self._stop.wait(1)
