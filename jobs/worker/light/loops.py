"""Watch the event loops of the processes from outside: while a body blocks its loop, nothing of that process can act.

Each loop notes its rounds in shared memory. One that is late is named in the log and in PostgreSQL, with the body that
blocks it and where, if a thread of the process could tell. When the time of that body is up, the process is ended: the
attempts of the other seats are taken back, and that is no crash of theirs.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import monotonic

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine.light.seats import LATE, TICK
from jobs.engine.upkeep.recover import Kill
from jobs.models import BlockedLoop
from jobs.worker.children import kills
from jobs.worker.light.processes import Key, RemoteProcess
from jobs.worker.light.rounds import Rounds
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.watchdog import Progress

LOOK_INTERVAL = 0.05  # seconds
UNKNOWN: tuple[None, None] = (None, None)


@dataclass(eq=False)
class _Block:
    """A loop that is blocked.

    since: when it last went round, by time.monotonic().
    blamed: the attempt whose body blocks it; None: not known.
    row: its row; None: it is not written yet.
    """

    process: RemoteProcess
    since: float
    blamed: Key | None = None
    row: BlockedLoop | None = None


class Loops:
    """Runs in a thread of the parent until `stop` is set. Another thread writes what it sees into PostgreSQL."""

    def __init__(
        self, pool: str, rounds: Rounds, processes: Callable[[], Mapping[int, RemoteProcess]], stop: threading.Event
    ) -> None:
        """Make the watch.

        processes: returns the present ones, by pid.
        """
        self._pool, self._rounds, self._processes, self._stop = pool, rounds, processes, stop
        self._blocks: dict[int, _Block] = {}  # by pid
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="blocked-loops", initializer=_prepare_session)

    def run(self, progress: Progress) -> None:
        """Watch until stopped."""
        while not self._stop.wait(LOOK_INTERVAL):
            progress.note()
            self.look()

    def look(self) -> None:
        """Look once at each loop."""
        now, processes = monotonic(), {**self._processes()}
        for pid in self._blocks.keys() - processes.keys():
            self._end(self._blocks.pop(pid), now)
        for process in processes.values():
            last, block = self._rounds.last(process.index), self._blocks.get(process.pid)
            if now - last >= TICK + LATE:
                self._look_at(block or self._begin(process, last), now)
            elif block is not None:
                self._end(self._blocks.pop(process.pid), now)

    def _begin(self, process: RemoteProcess, last: float) -> _Block:
        process.is_blocked = True
        block = self._blocks[process.pid] = _Block(process, last)
        telemetry.noticed("loop blocked", pid=process.pid, seats=len(process.held))
        return block

    def _look_at(self, block: _Block, now: float) -> None:
        told = block.process.blocked  # perhaps before this thread saw it, or of an earlier block
        if told is not None and told.since == block.since and block.row is None:
            block.blamed, place = told.key, told.place
            job_id, attempt = block.blamed or UNKNOWN
            telemetry.noticed("loop blocked by", pid=block.process.pid, job=job_id, attempt=attempt, at=place)
            seats = len(block.process.held)
            facts = {"worker": WORKER_ID, "pid": block.process.pid, "pool": self._pool, "seats": seats, "place": place}
            block.row = BlockedLoop(**facts, job_id=job_id, attempt=attempt)
            self._writer.submit(_write, block.row)
        self._end_process_if_late(block, now)

    def _end_process_if_late(self, block: _Block, now: float) -> None:
        """End the process if the body that blocks it is past its limit; if nothing is known, if any of them is."""
        process = block.process
        suspects = [block.blamed] if block.blamed else [*process.held]
        late = [key for key in suspects if _is_late(process, key, now)]
        if late and not any(kills.is_killed(process.pid, *key) for key in late):
            job_id, attempt = late[0]
            telemetry.noticed("process ended: its loop is blocked", pid=process.pid, job=job_id, attempt=attempt)
            kills.kill(Kill(process.pid, job_id, attempt, None))

    def _end(self, block: _Block, now: float) -> None:
        block.process.is_blocked = False
        seconds = round(now - block.since, 3)
        telemetry.noticed("loop goes round again", pid=block.process.pid, seconds=seconds)
        if block.row is not None:
            block.row.seconds = seconds
            self._writer.submit(_write, block.row)


def _is_late(process: RemoteProcess, key: Key, now: float) -> bool:
    held = process.held.get(key)
    return held is not None and now > held.since + held.job.timeout + settings.JOBS_TIMEOUT_GRACE


_prepare_session = partial(store.keep_sessions, WORKER_ID, "loops", lock_timeout=1, statement_timeout=5)


def _write(row: BlockedLoop) -> None:
    """Insert the row, or change it."""
    try:
        row.save()
    except (DatabaseError, InterfaceError) as error:  # the log has it
        telemetry.noticed("blocked loop not kept", pid=row.pid, error=type(error).__name__)
    finally:
        connection.close()  # loops are blocked rarely
