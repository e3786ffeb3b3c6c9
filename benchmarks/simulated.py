"""A simulated fleet: the real statements of many processes, without bodies and broker.

Two programs play all processes. A program starts what was claimed, waits until a job has run for its seconds, ends it
and dispatches. So the seconds of a job are exact, and what a process waits for its next job is what a real one would:
for the end to be written, for the door, and for the start.
"""

import heapq
import multiprocessing
import os
import select
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from benchmarks import databases, fill, finishing
from benchmarks.cpu import Meter
from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.models import Job
from jobs.store import Claimed

PROGRAMS = 2
SLOTS = 20  # of each tenant
WINDOW = 20.0  # seconds
SHORTEST_WARM = 10.0  # seconds of the warm-up, or those of a job
READY = 60.0  # seconds, for the programs' connections and plans

fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Fleet:
    """seconds: of each job."""

    processes: int
    seconds: float
    tenants: int

    @property
    def words(self) -> str:
        return f"{self.processes:,} x {self.seconds:g} s, {self.tenants:,}"

    @property
    def busy(self) -> str:
        """The part of the processes that runs a job, on average."""
        return f"{self.words}: busy"

    @property
    def warm(self) -> float:
        return max(SHORTEST_WARM, self.seconds)

    def figures(self) -> dict[str, float]:
        """busy; ends a second; CPU a job: of the database, and of the programs."""
        databases.empty()
        tenants = fill.tenants(self.tenants, slots=SLOTS)
        ends = self.processes / self.seconds * (self.warm + WINDOW)
        fill.waiting(tenants, max(int(2 * ends), 10 * self.tenants))
        fill.running(tenants, self.processes, worker=finishing.WORKER, over=self.seconds)
        finishing.register(self.processes)
        return self._played()

    def _played(self) -> dict[str, float]:
        running = list(Job.objects.filter(slot__isnull=False).order_by("start_time").values_list("id", "attempt"))
        sums, barrier, belt = fork.Array("d", 2 * PROGRAMS), fork.Barrier(PROGRAMS + 1), Belt()
        connection.close()  # before the fork: a connection has one owner
        programs = [
            fork.Process(target=Program(self, belt, sums, place, running).play, args=[barrier], daemon=True)
            for place in range(PROGRAMS)
        ]
        for program in programs:
            program.start()
        barrier.wait(READY)
        time.sleep(self.warm)
        meter = Meter(os.getpid())
        time.sleep(WINDOW)  # what is measured
        if not all(program.is_alive() for program in programs):
            raise AssertionError("A program of the fleet has died.")
        seconds, ends = sum(sums[::2]), sum(sums[1::2])
        outside, database = meter.read(max(int(ends), 1))
        for program in programs:
            program.kill()
            program.join()
        belt.close()
        figures = {self.busy: seconds / (self.processes * WINDOW), f"{self.words}: ends/s": ends / WINDOW}
        if database is not None:
            figures[f"{self.words}: db ms"] = database
        return figures | {f"{self.words}: program ms": outside}


class Program:
    """One of the programs that play a fleet together. Of the jobs that run already, each has as many."""

    def __init__(self, fleet: Fleet, belt: "Belt", sums: Any, place: int, running: list[tuple[int, int]]) -> None:
        self._fleet, self._belt, self._sums, self._place = fleet, belt, sums, place
        self._mine = [(n, *job) for n, job in enumerate(running) if n % PROGRAMS == place]
        self._ends: list[tuple[float, int, int]] = []

    def play(self, barrier: Any) -> None:
        runtime.change(carrier=self._belt.put)
        dispatch.dispatch()  # for the connection and the plans: no process is free
        barrier.wait(READY)
        self._begin(time.monotonic())
        while True:
            if job := self._belt.take():
                self._start(*job)
            elif (wait := self._ends[0][0] - time.monotonic() if self._ends else READY) > 0:
                self._belt.wait(wait)
            else:
                self._end()

    def _begin(self, now: float) -> None:
        self._window = now + self._fleet.warm, now + self._fleet.warm + WINDOW
        apart = self._fleet.seconds / self._fleet.processes  # seconds between two ends
        for n, job_id, attempt in self._mine:
            self._run(now + n * apart, job_id, attempt)

    def _start(self, job_id: int, attempt: int) -> None:
        if store.start(job_id, attempt, store.Seat.here(finishing.WORKER)) is None:
            raise AssertionError(f"Job {job_id} does not start")
        self._run(time.monotonic() + self._fleet.seconds, job_id, attempt)

    def _run(self, end: float, job_id: int, attempt: int) -> None:
        heapq.heappush(self._ends, (end, job_id, attempt))
        begin, upto = self._window
        self._sums[2 * self._place] += max(min(end, upto) - max(end - self._fleet.seconds, begin), 0.0)

    def _end(self) -> None:
        _, job_id, attempt = heapq.heappop(self._ends)
        store.succeed(job_id, attempt, {}, None)
        begin, upto = self._window
        self._sums[2 * self._place + 1] += begin <= time.monotonic() < upto
        dispatch.dispatch()


class Belt:
    """The claimed jobs on their way to a program, whichever takes them first: a pipe of records of equal length.

    A write of a record, and a read of one, are whole. It never holds more than one for each process: 5,000 fit.
    """

    RECORD = struct.Struct("<qi")  # id, attempt

    def __init__(self) -> None:
        self._exit, self._entrance = os.pipe()
        os.set_blocking(self._exit, False)

    def put(self, claimed: Sequence[Claimed]) -> None:
        for job in claimed:
            os.write(self._entrance, self.RECORD.pack(job.id, job.attempt))

    def take(self) -> tuple[int, int] | None:
        """A job, or None if there is none at the moment."""
        try:
            record = os.read(self._exit, self.RECORD.size)
        except BlockingIOError:
            return None
        job_id, attempt = self.RECORD.unpack(record)
        return job_id, attempt

    def wait(self, seconds: float) -> None:
        """Until there may be a job, at most so long."""
        select.select([self._exit], [], [], seconds)

    def close(self) -> None:
        os.close(self._exit)
        os.close(self._entrance)
