"""The threads of a light worker's parent: the feeder, and the watch over the loops of its processes."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic, sleep

from celery import bootsteps
from celery.worker import state

from jobs.conf import settings
from jobs.engine.light.coroutine import CANCEL, LIMIT
from jobs.engine.upkeep.recover import Kill
from jobs.store import Failure
from jobs.worker import light
from jobs.worker.children import kills
from jobs.worker.children.limits import death_of, how
from jobs.worker.children.reaping import status_of
from jobs.worker.light import LightPool
from jobs.worker.light.feeder import Feeder
from jobs.worker.light.loops import Loops
from jobs.worker.light.processes import Key, RemoteProcess
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.watchdog import Run

SOON = 0.01  # seconds
LOOKS = 20  # at a process whose wire was cut, until the kernel says how it has ended
WAIT = 0.5  # seconds
HASTE = 5.0  # seconds for the ends in hand, at a stop in haste

_feeder: Feeder | None = None


def threads(
    pool: LightPool, name: str, stop: threading.Event, drains: Callable[[], bool], grow: Callable[[], object]
) -> list[tuple[str, Run]]:
    """Return the threads of the parent that watch over the seats.

    name: of the pool.
    drains, grow: as for the feeder.
    """
    global _feeder  # noqa: PLW0603 - of this worker
    feeder = _feeder = Feeder(WORKER_ID, name, pool, stop=stop, drains=drains, grow=grow, end=_end, died=_died)
    pool.wake, pool.database_wait = feeder.wake, feeder.database_wait
    return [("feeder", feeder.run), ("loops", Loops(name, pool.rounds, lambda: feeder.processes.by_pid, stop).run)]


class LetSeatsEnd(bootsteps.StartStopStep):
    """The step that waits until the seats are empty, and their ends settled: Celery knows nothing of what they hold."""

    requires = ("celery.worker.components:Pool",)

    def stop(self, worker: object) -> None:
        """Wait for the bodies, at a warm stop."""
        self._wait(lambda feeder: feeder.idle.wait(WAIT) or feeder.is_given_up())

    def terminate(self, worker: object) -> None:
        """Wait for the ends in hand, at a stop in haste, which has ended the processes already."""
        until = monotonic() + HASTE
        self._wait(lambda feeder: feeder.idle.wait(WAIT) or monotonic() > until)

    @staticmethod
    def _wait(is_over: Callable[[Feeder], bool]) -> None:
        pool = light.of_this_worker()
        if pool is None or _feeder is None:
            return
        pool.wake()
        while not is_over(_feeder):
            pass
        pool.listener.close()


def wait_for_seats(seconds: float) -> None:
    """Wait until the seats are empty, at a soft stop; a further signal of Celery's ends that. Without effect: ordinary.

    seconds: at most.
    """
    until = monotonic() + seconds
    while _feeder is not None and monotonic() < until and not state.should_terminate:
        if _feeder.idle.wait(WAIT):
            return


def _end(process: RemoteProcess) -> None:
    """End a process, because of what does not end in it. Those that have ended meanwhile are named for the others."""
    for (job_id, attempt), why in process.stuck.items():
        reason: Failure | str | None = None if why == LIMIT else why
        if why == CANCEL:
            error = f"did not stop within {settings.JOBS_CANCEL_GRACE:.15g} s and was killed"
            reason = Failure("Cancelled", error)
        kills.kill(Kill(process.pid, job_id, attempt, reason))
    kills.end(process.pid)


def _died(pid: int, aboard: Sequence[Key]) -> None:
    """Report that a process has ended, with all that it has started; in a thread, since the feeder must not wait."""
    threading.Thread(target=_report, args=[pid, aboard], name="death", daemon=True).start()


def _report(pid: int, aboard: Sequence[Key]) -> None:
    death = None
    for _ in range(LOOKS):
        status = status_of(pid)
        if (death := death_of(pid) if status is None else how(status)) is not None:
            break
        sleep(SOON)
    ends = kills.stop if state.should_terminate else kills.end  # at a stop in haste Celery ends them, without a message
    ends(pid)
    kills.report(pid, 0, 0, death or "its process has ended", aboard)
