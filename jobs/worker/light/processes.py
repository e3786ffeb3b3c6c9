"""The processes of a light worker, as the feeder in their parent sees them: their wires, and what their seats hold."""

import os
import selectors
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from jobs.lifecycle import HandBack
from jobs.store import Started
from jobs.worker.light.wire import Listener, Sent, Wire, WireCut

Key = tuple[int, int]  # of an attempt: its job and its number


@dataclass(eq=False)
class HeldAttempt:
    """An attempt in a seat.

    since: when its seat got it, by time.monotonic().
    slice_since: when the first job got the slot in which this one follows.
    """

    job: Started
    since: float
    slice_since: float


@dataclass(frozen=True)
class Blocked:
    """A message from a process: its loop is blocked.

    since: the last round of the loop, by time.monotonic(), which tells one block from another.
    key: the attempt that blocks it; None: not known.
    place: where, in its code.
    """

    since: float
    key: Key | None
    place: str


@dataclass(eq=False)
class RemoteProcess:
    """A process, and what its seats hold: from the answer that started an attempt to the one that settled it.

    watch: the wire of the thread that watches its loop; None: that has not called yet.
    blocked: what it has told last of a blocked loop, perhaps of one that goes round again; None: nothing.
    stuck: attempts that did not end although they were cancelled, or left what does not end; and why they were.
    is_blocked: whether its loop stands still, by the thread that watches it.
    leaves: since when it gets no more jobs, by time.monotonic(); None: it does.
    is_apart: whether it is kept for suspects, one at a time.
    asked: the attempts whose slots it was asked for, and why.
    drains: whether it knows that its worker stops.
    """

    pid: int
    index: int
    wire: Wire
    watch: Wire | None = None
    held: dict[Key, HeldAttempt] = field(default_factory=dict)
    blocked: Blocked | None = None
    stuck: dict[Key, str] = field(default_factory=dict)
    is_blocked: bool = False
    leaves: float | None = None
    is_apart: bool = False
    asked: Mapping[Key, HandBack] = field(default_factory=dict)
    drains: bool = False

    @property
    def is_open(self) -> bool:
        """Return whether its free seats are for all jobs."""
        return self.leaves is None and not self.is_apart

    def free(self, seats: int) -> int:
        """Return how many of its seats may get an attempt."""
        return max(seats - len(self.held), 0) if self.is_open and not self.is_blocked else 0

    def run(self, jobs: list[Started], follows: dict[Key, float]) -> None:
        """Give it attempts that have started.

        follows: when the slice began in which an attempt follows, by attempt.
        """
        now = monotonic()
        for job in jobs:
            self.held[job.id, job.attempt] = HeldAttempt(job, now, follows.get((job.id, job.attempt), now))
        self.wire.send("run", jobs)

    def ask_for_stacks(self, keys: list[Key]) -> None:
        """Ask the thread that watches the loop, since the loop may be blocked. The next look asks again."""
        if self.watch is not None:
            self.watch.send("stacks", keys)

    def ask_back(self, wanted: Mapping[Key, HandBack]) -> None:
        """Ask for the slots of these attempts, each at its next checkpoint, and for no others any more."""
        keys = wanted.keys() | self.asked.keys()
        if changed := {key: wanted.get(key) for key in keys if wanted.get(key) != self.asked.get(key)}:
            self.wire.send("ask back", changed)
        self.asked = wanted

    def leave(self) -> None:
        """Give it no more jobs: it is ended when its seats are empty."""
        self.leaves = self.leaves or monotonic()


class Processes:
    """The processes that have called. Only the feeder's thread changes them; another one may read `by_pid`."""

    def __init__(self, listener: Listener) -> None:
        self.by_pid: dict[int, RemoteProcess] = {}
        self._listener = listener
        self._select = selectors.DefaultSelector()
        self._select.register(listener, selectors.EVENT_READ, self._accept)
        self._woken_end, self._wake_end = os.pipe()
        os.set_blocking(self._wake_end, False)
        os.set_blocking(self._woken_end, False)
        self._select.register(self._woken_end, selectors.EVENT_READ, self._forget_wakes)
        self._bell: int | None = None
        self._heard: list[tuple[RemoteProcess, Sent | None]] = []

    def wake(self) -> None:
        """End a wait, from another thread."""
        with suppress(OSError):  # it is full, so the wait ends anyway
            os.write(self._wake_end, b"!")

    def tell_to_drain(self) -> None:
        """Tell each process, once, that the worker stops: bodies that make checkpoints give their slots back."""
        for process in self.by_pid.values():
            if not process.drains:
                process.drains = True
                process.wire.send("drain", ())

    def hear(self, seconds: float, bell: int | None) -> list[tuple[RemoteProcess, Sent | None]]:
        """Wait at most so long; return the messages that have arrived, each with its process. None: it has ended.

        bell: a further file, whose news ends the wait.
        """
        self._watch_bell(bell)
        unsent = [process for process in self.by_pid.values() if not process.wire.flush()]
        for key, _ in self._select.select(min(seconds, 0.01) if unsent else seconds):
            if key.data is not None:
                key.data()
        heard, self._heard = self._heard, []
        return heard

    def _watch_bell(self, bell: int | None) -> None:
        if bell == self._bell:
            return
        if self._bell is not None:
            with suppress(KeyError, ValueError, OSError):
                self._select.unregister(self._bell)
        if bell is not None:
            self._select.register(bell, selectors.EVENT_READ, None)
        self._bell = bell

    def _forget_wakes(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken_end, 65536)

    def _accept(self) -> None:
        while (wire := self._listener.accept()) is not None:
            self._select.register(wire, selectors.EVENT_READ, WireCaller(self, wire))

    def take(self, caller: "WireCaller", messages: Iterable[Sent]) -> None:
        """Take the messages of a wire; its first one says whose it is."""
        for message in messages:
            name, *said = message
            if name == "seats":
                pid, index = said
                caller.process = self.by_pid[pid] = RemoteProcess(pid, index, caller.wire)
            elif name == "watch":
                caller.watches = said[0]
                if (watched := self.by_pid.get(caller.watches)) is not None:
                    watched.watch = caller.wire
            elif (process := caller.process or self.by_pid.get(caller.watches)) is not None:
                self._heard.append((process, message))

    def drop(self, caller: "WireCaller") -> None:
        """Forget a wire that was cut; the end of its seats' wire is the end of a process."""
        self._select.unregister(caller.wire)
        caller.wire.close()
        if caller.process is not None:
            caller.process.leave()  # nothing follows in it
            self.by_pid.pop(caller.process.pid, None)
            self._heard.append((caller.process, None))


@dataclass(eq=False)
class WireCaller:
    """A wire and whose it is: of the seats of a process, or of its thread that watches the loop."""

    processes: Processes
    wire: Wire
    process: RemoteProcess | None = None
    watches: Any = None

    def __call__(self) -> None:
        try:
            messages = self.wire.receive()
        except WireCut:
            self.processes.drop(self)
        else:
            self.processes.take(self, messages)
