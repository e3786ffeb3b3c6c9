"""Watch the event loops of the processes from outside: while a body blocks its loop, nothing of that process can act.

Each loop notes its rounds in shared memory. One that is late is named in the log, with the body that blocks it and
where, if a thread of the process could tell. When the time of that body is up, the process is ended: the attempts of
the other seats are taken back, and that is no crash of theirs.
"""

import threading
from collections.abc import Callable, Mapping
from time import monotonic

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.light.seats import TICK
from jobs.engine.upkeep.recover import Kill
from jobs.worker.children import kills
from jobs.worker.light.processes import Key, LightProcess
from jobs.worker.light.rounds import Rounds
from jobs.worker.threads.watchdog import Progress

LOOK_INTERVAL = 0.05  # seconds
LATE = 0.25  # seconds beyond TICK after which a loop counts as blocked


class Loops:
    """Runs in a thread of the parent until `stop` is set."""

    def __init__(
        self, rounds: Rounds, processes: Callable[[], Mapping[int, LightProcess]], stop: threading.Event
    ) -> None:
        """Make the watch. processes: returns the present ones, by pid."""
        self._rounds, self._processes, self._stop = rounds, processes, stop
        self._blocked: dict[int, float] = {}  # since when, by pid
        self._told: set[int] = set()  # pids whose culprit is in the log

    def run(self, progress: Progress) -> None:
        """Watch until stopped."""
        while not self._stop.wait(LOOK_INTERVAL):
            progress.note()
            for process in [*self._processes().values()]:
                self._look(process)

    def _look(self, process: LightProcess) -> None:
        last, now = self._rounds.last(process.index), monotonic()
        if now - last < TICK + LATE:
            self._goes_round(process, now)
            return
        if process.pid not in self._blocked:
            self._blocked[process.pid] = last
            telemetry.noticed("loop blocked", pid=process.pid, seats=len(process.held))
        if process.blocked is not None and process.pid not in self._told:
            self._told.add(process.pid)
            (job_id, attempt), stack = process.blocked[0] or (None, None), process.blocked[1]
            telemetry.noticed("loop blocked by", pid=process.pid, job=job_id, attempt=attempt, at=_last_line(stack))
        self._end_if_late(process, now)

    def _goes_round(self, process: LightProcess, now: float) -> None:
        since = self._blocked.pop(process.pid, None)
        if since is not None:
            self._told.discard(process.pid)
            process.blocked = None
            telemetry.noticed("loop goes round again", pid=process.pid, seconds=round(now - since, 1))

    def _end_if_late(self, process: LightProcess, now: float) -> None:
        """End the process if the body that blocks it is past its limit; if nobody knows it, if one of all is."""
        blamed = process.blocked[0] if process.blocked else None
        suspects = [blamed] if blamed else [*process.held]
        late = [key for key in suspects if _is_late(process, key, now)]
        if late and not any(kills.is_killed(process.pid, *key) for key in late):
            job_id, attempt = late[0]
            telemetry.noticed("process ended: its loop is blocked", pid=process.pid, job=job_id, attempt=attempt)
            kills.kill(Kill(process.pid, job_id, attempt, None))


def _is_late(process: LightProcess, key: Key, now: float) -> bool:
    held = process.held.get(key)
    return held is not None and now > held.since + held.job.timeout + settings.JOBS_TIMEOUT_GRACE


def _last_line(stack: str) -> str:
    """Return the place of the last frame of a stack, such as `File "x.py", line 3, in body`."""
    places = [line.strip() for line in stack.splitlines() if line.lstrip().startswith("File ")]
    return places[-1] if places else ""
