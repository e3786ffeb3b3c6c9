"""A process of a light worker: its event loop, the wire to the feeder, and the thread that sees a blocked loop."""

import asyncio
import os
import selectors
import signal
import sys
import threading
import time
import traceback
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Any

from asgiref.sync import SyncToAsync
from billiard import pool as billiards
from celery import signals

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.attempt.captured_output import listen_by_context
from jobs.engine.attempt.threads import is_of_the_project
from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import DatabaseThreads, send_all_rows
from jobs.engine.light.environment import Environment
from jobs.engine.light.host import LightProcess
from jobs.engine.light.loop import SharedLoop
from jobs.engine.light.rest import OtherThreads
from jobs.engine.light.seats import LATE, TICK, Seats
from jobs.engine.light.threads import BodyThreads
from jobs.engine.process import runtime
from jobs.engine.process.runtime import Runtime
from jobs.worker.children.child import STOPS
from jobs.worker.children.time_limit import TimeIsUp
from jobs.worker.light import LightPool
from jobs.worker.light.wire import Wire, WireCut
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.wakeup import wakeup


class _Nothing(deque[object]):
    """The callbacks of a loop that has ended: it takes no more of them."""

    def append(self, callback: object) -> None:
        """Leave it out. The rest of the round, which counts on it, ends with an IndexError, and so does the loop."""


class LightChild:
    """This process. It is made after the fork, and serves until its parent ends it."""

    def __init__(self, pool: LightPool, index: int) -> None:
        self._listener, self._rounds, self._index = pool.listener, pool.rounds, index
        self._database = DatabaseThreads(settings.JOBS_LIGHT_DATABASE_THREADS)
        # For what a body asks without `await`, such as its tenant: the loop waits for that, and not for other bodies.
        SyncToAsync.single_thread_executor = DatabaseThreads(1)  # type: ignore[assignment]
        self._reporter = ThreadPoolExecutor(1, thread_name_prefix="reporter")
        bodies = BodyThreads() if pool.threads else None
        self._process = LightProcess(WORKER_ID, submit=self._reporter.submit, bodies=bodies, time_is_up=TimeIsUp)
        self._ended: list[tuple[Any, ...]] = []
        self._pid, self._loop, self._wire = os.getpid(), SharedLoop(), self._listener.call()
        self._environment = Environment()
        listen_by_context()
        send_all_rows()
        runtime.start(Runtime(relay=wakeup.request))
        os.register_at_fork(after_in_child=self._become_a_bodys_process)
        self._loop.call_soon(self._serve)
        threading.Thread(target=self._go_round, name="loop", daemon=True).start()

    def _go_round(self) -> None:
        """Run the loop for ever, although asyncio ends it for SystemExit of a task, or a body may stop it."""
        asyncio.set_event_loop(self._loop)
        while True:
            with suppress(BaseException):
                self._loop.run_forever()
            if os.getpid() != self._pid:
                os._exit(1)  # a process that a body forked has awaited: the seats are not its own
            telemetry.noticed("loop stopped, and goes on", pid=self._pid)

    def _become_a_bodys_process(self) -> None:
        """Run nothing of the loop in a process that a body forks, and let the parent see the end of this process."""
        self._loop.stop()
        self._loop._ready = _Nothing()  # type: ignore[attr-defined]  # the tasks of others run in the process itself
        self._wire.close()
        self._watch_wire.close()

    def _serve(self) -> None:
        self._loop.set_default_executor(OtherThreads(settings.JOBS_LIGHT_DATABASE_THREADS))
        self._process.loop_thread = threading.get_ident()
        self._seats = Seats(
            self._process,
            self._database,
            tick=self._tick,
            ended=self._note_end,
            stuck=lambda attempt: self._send("stuck", attempt.key, attempt.ends),
        )
        self._send("seats", os.getpid(), self._index)
        self._loop.add_reader(self._wire, self._read)
        self._watch_wire = self._listener.call()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def _tick(self) -> None:
        self._rounds.note(self._index)
        self._environment.warn_if_changed()

    def _read(self) -> None:
        try:
            messages = self._wire.receive()
        except WireCut:
            os._exit(0)  # the parent is gone, and this process is about to follow
        for name, said in messages:
            if name == "run":
                self._seats.begin(said)
            elif name == "cancel":
                self._seats.cancel(said)
            elif name == "ask back":
                self._seats.ask_back(said)
            elif name == "drain":
                self._process.drains = True

    def _note_end(self, attempt: Attempt) -> None:
        outcome = attempt.outcome
        settled = outcome.error is not None or outcome.has_ended
        facts = None if settled else (outcome.stats, outcome.result_ttl, outcome.result_bytes, outcome.units.sums())
        if not self._ended:
            self._loop.call_soon(self._tell_ends)
        self._ended.append((*attempt.key, facts))

    def _tell_ends(self) -> None:
        ended, self._ended = self._ended, []
        self._send("ended", ended)

    def _send(self, *message: Any) -> None:
        if not self._wire.send(*message):
            self._loop.add_writer(self._wire, self._flush)

    def _flush(self) -> None:
        if self._wire.flush():
            self._loop.remove_writer(self._wire)

    def _watch(self) -> None:
        """Tell the parent, on a wire of its own, which body blocks the loop, and where. It sees each block once."""
        wire, told = self._watch_wire, 0.0
        there: tuple[int, int] | None = None  # whose code is on the loop
        since = 0.0  # when it was first seen there, by time.monotonic()
        wire.send("watch", os.getpid(), self._index)
        questions = selectors.DefaultSelector()
        questions.register(wire, selectors.EVENT_READ)
        while True:
            if questions.select(TICK):
                self._tell_stacks(wire)
            if (waited := self._database.waits.take_longest()) > 0:
                wire.send("waited", waited)
            last = self._rounds.last(self._index)
            if time.monotonic() - last < TICK + LATE:
                continue
            attempt = self._seats.now_running()
            key = None if attempt is None else attempt.key
            if last != told or key != there:
                there, since = key, time.monotonic()
            place = _place(sys._current_frames().get(self._process.loop_thread)) if last != told else ""
            grace = settings.JOBS_TIMEOUT_GRACE + since - last  # others may have blocked the loop until this one came
            silent = "" if attempt is None else attempt.silent_beyond(grace)
            if self._rounds.last(self._index) != last:  # it went round meanwhile, and another one is there now
                continue
            if last != told:
                told = last
                self._seats.blame(key or (0, 0))
                wire.send("blocked", last, key, place)
            if silent:
                wire.send("silent", key, silent)

    def _tell_stacks(self, wire: Wire) -> None:
        """Answer operators who wait for the stacks of bodies."""
        try:
            messages = wire.receive()
        except WireCut:
            os._exit(0)  # the parent is gone, and this process is about to follow
        for _, keys in messages:
            for key in keys:
                wire.send("stack", key, *self._seats.stack_of(key))


def _place(frame: FrameType | None) -> str:
    """Return where a thread is: the file, the line and the function; of the project's code, if there is some."""
    frames = traceback.extract_stack(frame)
    own = [place for place in frames if is_of_the_project(place.filename)]
    return "".join(f"{place.filename}:{place.lineno} {place.name}" for place in (own or frames)[-1:])


def serve_here(pool: LightPool, index: int) -> None:
    """Make this process serve its seats. Its parent decides when it ends, not a signal to all processes."""
    _ignore_stops()
    reset = billiards.reset_signals  # type: ignore[attr-defined]  # not in its stubs

    def reset_the_others(**how: bool) -> None:
        """Run next: Billiard's own handlers would end this process."""
        reset(**how)
        _ignore_stops()

    billiards.reset_signals = reset_the_others  # type: ignore[attr-defined]
    LightChild(pool, index)
    signals.worker_process_shutdown.connect(lambda **_: os._exit(0), weak=False)


def _ignore_stops() -> None:
    for number in STOPS:  # not SIG_IGN, which the programs that a body starts would inherit
        signal.signal(number, lambda *_: None)
