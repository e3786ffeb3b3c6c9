"""The feeder of a light worker: one thread of its parent, which settles, claims and starts for all seats.

One turn is one round trip, a `Trip` (store/trips.py): it settles what has ended, claims for the seats that are free,
and starts what it has claimed. While a trip is under way the next batch gathers (group commit).

What the seats hold changes in this thread alone, between two trips. Failures are settled by the processes themselves:
they ask code of the project's own, which may take its time.
"""

import math
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError

from jobs import store, telemetry
from jobs.engine.door import dispatch
from jobs.engine.door.repairs import recount_books
from jobs.engine.process.patience import DATABASE_PATIENCE
from jobs.store import OwnSession, Started, Success, Trip
from jobs.worker.light import LightPool
from jobs.worker.light.alone import Alone
from jobs.worker.light.bell import Bell
from jobs.worker.light.calls import CallsInHand
from jobs.worker.light.departures import Departures
from jobs.worker.light.ends import EndInHand, Ends
from jobs.worker.light.lookout import Lookout
from jobs.worker.light.passes import Passes
from jobs.worker.light.processes import Blocked, Key, Processes, RemoteProcess
from jobs.worker.light.suspects import Suspects
from jobs.worker.light.wire import Sent
from jobs.worker.threads.watchdog import Progress

LOOK_INTERVAL = 1.0  # seconds
PAUSE = 0.1  # seconds after a trip that failed


class Feeder:
    """Runs in a thread of the parent until `stop` is set."""

    def __init__(
        self,
        worker: uuid.UUID,
        name: str,
        pool: LightPool,
        *,
        stop: threading.Event,
        drains: Callable[[], bool],
        grow: Callable[[], object],
        end: Callable[[RemoteProcess], object],
        died: Callable[[int, Sequence[Key]], object],
    ) -> None:
        """Make the feeder.

        name: of the pool.
        drains: returns whether the worker takes no more jobs.
        grow: adds a process to its pool.
        end: ends a process, whose seats are empty or hold only attempts that do not end.
        died: reports that a process has ended, when its last ends are settled: its pid, and what its seats held.
        """
        self._worker, self._pool, self._seats = worker, name, pool.seats
        self._stop, self._drains = stop, drains
        self.processes = Processes(pool.listener)
        self.idle = threading.Event()  # the worker drains, and no seat holds anything
        self._departures = Departures(self.processes, end, died)
        self._ends, self._passes = Ends(), Passes(name)
        self._bell, self._lookout = Bell(name), Lookout(worker, self.processes)
        self._alone = Alone(self.processes.wake)
        self._suspects = Suspects(self.processes, pool, grow)
        self._calls = CallsInHand(pool.called, self._alone, self._suspects)
        self._paused_until, self._away_since = 0.0, math.inf
        self._database_wait = 0.0

    def database_wait(self) -> float:
        """Return the longest that a body has waited for a database thread since the last call, in seconds."""
        longest, self._database_wait = self._database_wait, 0.0
        return longest

    def is_given_up(self) -> bool:
        """Return whether PostgreSQL has not answered for so long that a worker that stops need not wait for it."""
        return monotonic() - self._away_since > DATABASE_PATIENCE

    def wake(self) -> None:
        """Look again: the worker drains, or there is a message. Any thread may call this."""
        self.processes.wake()

    def run(self, progress: Progress) -> None:
        """Feed the seats until stopped."""
        store.keep_sessions(self._worker, "feeder", lock_timeout=5)
        with OwnSession().speaking():
            while not self._stop.is_set():
                progress.note()
                self._hear()
                if monotonic() >= self._paused_until:
                    self._speak(progress)
                self._departures.look(lambda process: self._ends.of(process) or process in self._alone.in_hand.values())
                self._note_idle()
            self._bell.close()
            store.session().close()

    def _hear(self) -> None:
        """Wait for news, at most until the next turn is due, and take it."""
        for process, message in self.processes.hear(self._pause(), self._bell.file()):
            if message is None:
                self._departures.note(process)
            else:
                self._take(process, message)
        work, stop = self._bell.rung()
        if work:
            self._passes.ask()
        if stop:
            self._lookout.hurry()
        if self._alone.has_freed():
            self._passes.ask()
        self._alone.put_off(self._suspects.add(self._alone.suspects()))
        self._suspects.keep_process()
        if self._drains():
            self.processes.tell_to_drain()

    def _take(self, process: RemoteProcess, message: Sent) -> None:
        match message:
            case ("ended", ended):
                for job_id, attempt, success in ended:
                    self._take_end(process, (job_id, attempt), success)
            case ("stuck", key, why):
                process.leave()
                process.stuck[key] = why
            case ("blocked", since, key, place):
                process.blocked = Blocked(since, key, place)
            case ("silent", key, why):
                process.stuck[key] = why
                self._departures.end_at_once(process)
            case ("stack", key, text, note):
                self._lookout.note_stack(key, text, note)
            case ("waited", seconds):
                self._database_wait = max(self._database_wait, seconds)

    def _take_end(self, process: RemoteProcess, key: Key, success: Sent | None) -> None:
        """Take an end in hand. What the process has settled itself is over, and a pass fills its slot."""
        held = process.held.get(key)
        if held is None:  # it was taken back meanwhile
            return
        if success is None:
            del process.held[key]
            self._passes.ask()
            if self._drains():
                dispatch.request()  # others may start the job, and have its slot
        else:
            self._ends.note(process, held, Success(held.job, *success))

    def _pause(self) -> float:
        """Return the seconds until something is due, if no news comes."""
        now, until_look = monotonic(), self._lookout.until_next(LOOK_INTERVAL)
        if now < self._paused_until:
            return self._paused_until - now
        if self._is_due():
            return 0.0
        return max(min(until_look, self._ends.gather_until() - now), 0.0) if self._ends else until_look

    def _is_due(self) -> bool:
        """Return whether a turn is due. Arrivals never wait; ends may gather, unless half of the seats have ended."""
        processes = self.processes.by_pid.values()
        if self._ends:
            held = sum(len(process.held) for process in processes)
            if monotonic() >= self._ends.gather_until() or 2 * len(self._ends) >= held or self._drains():
                return True
        if self._drains():
            return False
        wanted = self._calls or self._passes.asked
        free = bool(wanted) and any(process.free(self._seats) for process in processes)
        return free or self._suspects.next() is not None

    def _speak(self, progress: Progress) -> None:
        """Look and make a turn if they are due. While the database is away, all is kept in hand."""
        try:
            if self._lookout.until_next(LOOK_INTERVAL) == 0:
                progress.asking(self._look)
            if self._is_due() and not self._lookout.lost:  # else seats may hold what no trip has told
                progress.asking(self._turn)
            self._away_since = math.inf
        except (DatabaseError, InterfaceError) as error:
            self._paused_until = monotonic() + PAUSE
            self._away_since = min(self._away_since, monotonic())
            store.session().close()
            telemetry.noticed("feeder has no answer", error=type(error).__name__)

    def _look(self) -> None:
        found = self._lookout.look(self._alone.in_hand, self._departures.pids())
        for process, jobs in found.begin.items():
            process.run(jobs, {})
        for process, keys in found.cancel.items():
            process.wire.send("cancel", keys)
        for process, keys in found.asked.items():
            process.ask_for_stacks(keys)
        for process in self.processes.by_pid.values():
            process.ask_back(found.back.get(process.pid, {}))
        for pid in found.dead:
            self._departures.report(pid, ())  # what a trip has started there has never begun
        self._suspects.note_in_hand()
        if self._lookout.lost:
            self._paused_until = monotonic() + PAUSE
        self._passes.ask()

    def _note_idle(self) -> None:
        busy = self._ends or self._alone.in_hand or self._departures or self._lookout.lost
        if self._drains() and not busy and not any(process.held for process in self.processes.by_pid.values()):
            self.idle.set()

    # --- a turn

    def _turn(self) -> None:
        """Make one trip, and give its answer to the seats."""
        drains = self._drains()
        ends = self._ends.take(store.MOST, go_on=not drains)
        free = [] if drains else self._free_seats(ends)
        called = self._calls.take(free, drains=drains)
        goes_on = sum(end.success.goes_on for end in ends)
        claims = len(called.seats) > len(called.keys) and (self._passes.asked or goes_on < len(ends))
        options = self._passes.options() if claims else {}
        successes = [end.success for end in ends]
        options |= {"called": called.keys, "free": called.seats, "suspects": called.suspects}
        trip = Trip(self._worker, self._pool, ended=successes, claims=claims, **options)
        try:
            trip.make()
        except (DatabaseError, InterfaceError) as error:
            self._lookout.lost = True
            self._calls.put_back(called)
            self._take_refusal(trip, ends, error)
            raise
        self._take_settled(trip, ends)
        self._run(trip, ends)
        self._passes.take(trip)
        claimed = [(job.id, job.attempt) for job in trip.done or () if job.pool == self._pool]
        self._calls.note(called, claimed, {(job.id, job.attempt) for job in trip.started})
        if goes_on > len(trip.followed):
            self._passes.ask()
        if ends and not claims:
            dispatch.request()  # the slots are free for other pools, and other workers

    def _free_seats(self, ends: Sequence[EndInHand]) -> list[int]:
        """Return the processes of the free seats, one for each seat; first those that have the most of them."""
        free = {pid: process.free(self._seats) for pid, process in self.processes.by_pid.items()}
        for end in ends:
            if end.process.pid in free and end.process.is_open and not end.success.goes_on:
                free[end.process.pid] += 1
        seats = sorted(((nth, pid) for pid, number in free.items() for nth in range(number)), reverse=True)
        return [pid for _, pid in seats[: store.MOST]]

    def _take_settled(self, trip: Trip, ends: Sequence[EndInHand]) -> None:
        """Let go of what is settled. The other rows are locked, are no longer ours, or were settled by a lost trip.

        A claim or a trip of others may lock a row for a moment; so they come once more with the next trip.
        """
        settled = trip.settled or frozenset()
        for end in ends:
            if end.key in settled:
                end.process.held.pop(end.key, None)
        left = [end for end in ends if end.key not in settled]
        self._ends.put_back([replace(end, missed=True) for end in left if not end.missed])
        self._alone.settle([end for end in left if end.missed])

    def _take_refusal(self, trip: Trip, ends: Sequence[EndInHand], error: Exception) -> None:
        """Keep the ends of a trip without an answer. Settle them one by one if PostgreSQL refuses one of them."""
        if isinstance(error, IntegrityError):
            recount_books()
        if trip.settled is not None:
            self._take_settled(trip, ends)
        elif isinstance(error, DataError):
            self._alone.settle(ends)
        else:
            self._ends.put_back(ends)

    def _run(self, trip: Trip, ends: Sequence[EndInHand]) -> None:
        """Give the attempts that have started to their processes. A look finds those of a process that died since."""
        self._lookout.note([*trip.started, *trip.followed.values()])
        slices = {end.key: end.held.slice_since for end in ends}
        follows = {(job.id, job.attempt): slices[before] for before, job in trip.followed.items()}
        by_pid: dict[int | None, list[Started]] = {}
        for job in [*trip.followed.values(), *trip.started]:
            by_pid.setdefault(job.holder.pid, []).append(job)
        for pid, jobs in by_pid.items():
            if process := self.processes.by_pid.get(pid or 0):
                process.run(jobs, follows)
