"""The heartbeat of a worker in PostgreSQL: this thread only registers and beats, so that nothing delays it."""

import os
import threading
import time
import uuid
from collections.abc import Callable

from jobs import store, telemetry
from jobs.conf import settings
from jobs.worker.threads.beat_file import BeatFile
from jobs.worker.threads.watchdog import Progress
from jobs.worker.threads.without_database import Database


class Heartbeat:
    """The heartbeat of a worker. It runs in a thread of its parent process until `stop` is set.

    worker: the worker's id
    name: its node name in Celery
    pool: the pool that it serves
    seats: of each of its processes
    kind: of the pool
    threads: whether its bodies without `async` run in threads
    capacity: returns how many attempts it may run at once now; 0 while it drains, so that it gets no more jobs
    database_wait: returns how long a body of a light pool has waited for a database thread, in seconds; None: ordinary
    cut_off: returns whether no message reaches the worker
    registered: called when the worker is registered and may get jobs
    drain: called once, when an operator has asked the worker to stop in good order
    gone: called when the worker was declared gone: others run its jobs, so its processes must end
    """

    def __init__(
        self,
        worker: uuid.UUID,
        name: str,
        pool: str,
        stop: threading.Event,
        *,
        seats: int,
        kind: str,
        threads: bool,
        capacity: Callable[[], int],
        database_wait: Callable[[], float | None],
        cut_off: Callable[[], bool],
        registered: Callable[[], object],
        drain: Callable[[], object],
        gone: Callable[[], object],
    ) -> None:
        self._worker, self._name, self._pool = worker, name, pool
        self._stop = stop
        self._seats, self._kind, self._threads, self._capacity, self._cut_off = seats, kind, threads, capacity, cut_off
        self._database_wait = database_wait
        self._registered = registered
        self._drain: Callable[[], object] | None = drain
        self._gone = gone
        self._now = threading.Event()
        self._database, self._file = Database("worker"), BeatFile()

    def run(self, progress: Progress) -> None:
        """Beat until stopped; then leave."""
        store.keep_sessions(self._worker, "beat", lock_timeout=1, statement_timeout=5)
        while not self._stop.is_set():
            progress.note()
            pause = self._while_database_answers(self._beat)
            self._now.wait(pause)
            self._now.clear()  # before the look at `stop`: a thread that sets `stop` wakes this one afterwards
        self._file.remove()
        self._while_database_answers(self._leave)

    def beat_now(self) -> None:
        """Beat at once, because the capacity has changed, or to leave."""
        self._now.set()

    def _beat(self) -> float:
        begun, capacity = time.monotonic(), self._capacity()
        beat = store.beat(
            self._worker,
            name=self._name,
            pid=os.getpid(),
            pool=self._pool,
            capacity=capacity,
            seats=self._seats,
            kind=self._kind,
            threads=self._threads,
            database_wait=self._database_wait(),
            cut_off=self._cut_off(),
        )
        if beat is None:
            telemetry.noticed("declared gone, stopping", worker=self._name)
            self._gone()
        elif beat.registered:
            telemetry.begun("worker registered", worker=self._name, pool=self._pool, processes=capacity // self._seats)
            self._registered()
        elif beat.drains and self._drain is not None:
            telemetry.noticed("worker was asked to drain", worker=self._name)
            drain, self._drain = self._drain, None
            drain()
        self._file.touch()
        return max(begun + float(settings.JOBS_BEAT_INTERVAL) - time.monotonic(), 0)

    def _leave(self) -> float:
        store.leave(self._worker)
        return 0

    def _while_database_answers(self, step: Callable[[], float]) -> float:
        with self._database:
            return step()
        return min(float(settings.JOBS_BEAT_INTERVAL), 1)
