"""The seats of a light process, on an event loop in a thread of the test."""

import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from jobs import store
from jobs.engine.attempt import captured_output
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.light import threads
from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import DatabaseThreads, send_all_rows
from jobs.engine.light.host import LightProcess
from jobs.engine.light.loop import SharedLoop
from jobs.engine.light.rest import OtherThreads
from jobs.engine.light.seats import Seats
from jobs.engine.light.threads import BodyThreads
from jobs.models import Job
from jobs.store import Started
from jobs.worker.children.time_limit import TimeIsUp
from tests.waiting import wait_until

THREADS = 3


@contextmanager
def listened_by_context() -> Iterator[None]:
    """As a light process listens, for the length of a test."""
    root, streams = logging.getLogger(), (sys.stdout, sys.stderr)
    before = {*root.handlers}
    captured_output.listen_by_context()
    yield
    for handler in {*root.handlers} - before:
        root.removeHandler(handler)
    sys.stdout, sys.stderr = streams


class SeatsHere:
    """Seats whose ends and complaints are kept.

    threads: whether bodies without `async` run in threads.
    ended, stuck: attempts, in their order.
    """

    def __init__(self, worker: object, *, threads: bool = False) -> None:
        self._settings = {alias: {**connections.settings[alias]} for alias in connections}
        send_all_rows()
        self.worker, self.ended, self.stuck = worker, list[Attempt](), list[Attempt]()
        self.database, self.others = DatabaseThreads(THREADS), OtherThreads(THREADS)
        self.reporter = ThreadPoolExecutor(1)
        bodies = BodyThreads() if threads else None
        self.process = LightProcess(worker, submit=self.reporter.submit, bodies=bodies, time_is_up=TimeIsUp)
        self.loop = SharedLoop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.seats: Seats = self.on_loop(self._make)

    def on_loop(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call in the thread of the loop."""
        answer: Future[Any] = Future()
        self.loop.call_soon_threadsafe(lambda: answer.set_result(call(*args)))
        return answer.result(10)

    def begin(self, *job_ids: int) -> list[Job]:
        """Start these jobs by their rows, and begin them in seats."""
        started = [store.start(job_id, 1, store.Seat.here(self.worker)) for job_id in job_ids]
        self.begin_all(started)
        return started

    def begin_all(self, started: Sequence[Started]) -> None:
        """Begin attempts that have started by their rows."""
        self.on_loop(self.seats.begin, started)

    def outcome(self, job_id: int, number: int = 1) -> Any:
        """Wait until the attempt with this number has ended; its outcome."""

        def ended() -> list[Attempt]:
            return [one for one in self.ended if one.key == (job_id, number)]

        wait_until(ended, "the attempt has ended")
        (attempt,) = ended()
        return attempt.outcome

    def close(self) -> None:
        if self.process.bodies is not None:
            end_threads(self.process.bodies)
        for pool in (self.database._pool, self.others, self.seats._keepers, self.seats._settlers, self.reporter):
            self._close(pool)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        for alias, before in self._settings.items():
            connections.settings[alias].update(before)

    def _run(self) -> None:
        self.loop.set_default_executor(self.others)
        self.loop.run_forever()

    def _make(self) -> Seats:
        self.process.loop_thread = threading.get_ident()
        return Seats(self.process, self.database, tick=lambda: None, ended=self.ended.append, stuck=self.stuck.append)

    def _close(self, threads: ThreadPoolExecutor) -> None:
        """Close the sessions of all its threads, and end them."""
        number = len(threads._threads)
        together = threading.Barrier(number) if number else None

        def close() -> None:
            together.wait(10)
            connections.close_all()
            with self.process.own_session():
                store.session().close()

        for done in [ThreadPoolExecutor.submit(threads, close) for _ in range(number)]:
            done.result(10)
        threads.shutdown()


def end_threads(bodies: BodyThreads) -> None:
    """End the threads that wait for a body, with their sessions."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(threads, "KEPT", 0)
        while bodies._idle:
            bodies.run(threads.ThreadedBody(lambda: None))
        wait_until(lambda: not of_bodies(), "their threads have ended")


def of_bodies() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "body"]


def answer(here: SeatsHere, job_id: int) -> Any:
    """Wait until the attempt has ended well; the value of its body."""
    return value_of(here.outcome(job_id))


def value_of(outcome: Outcome) -> Any:
    """The value of a body that has ended well."""
    assert outcome.error is None, repr(outcome.error)
    return outcome.value
