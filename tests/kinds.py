"""Both kinds of pools in the test's process: jobs run as an ordinary worker runs them, or as a light one does."""

import os
import pickle
import uuid
from collections.abc import Callable, Iterator

from jobs import store
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.unblock import unblock
from jobs.engine.process.host import AttemptHost
from jobs.models import Job, Pool
from jobs.store import Claimed, Started, Success
from tests.clock import call_at
from tests.integration.processes.light_seats import SeatsHere, listened_by_context
from tests.light import trip

SEATS = 20
Key = tuple[int, int]  # of an attempt: its job and its number


class Ordinary:
    """An ordinary process."""

    def __init__(self, host: AttemptHost, sent: list[Claimed]) -> None:
        self.host, self._sent, self._done = host, sent, 0

    def serve(self) -> bool:
        """Run all that may run, one after the other; whether the process may go on."""
        dispatch()
        goes_on = True
        while self._done < len(self._sent):
            claimed = self._sent[self._done]
            self._done += 1
            goes_on = execute(claimed.id, claimed.attempt, self.host)
            dispatch()  # as the parent of a process that has to end
        return goes_on


class Light:
    """A light process, and a feeder's trips for it."""

    def __init__(self, here: SeatsHere) -> None:
        self._here = here

    def serve(self) -> bool:
        """Run all that may run, beside each other; whether the process may go on."""
        running: dict[Key, Started] = {}
        while self._begin(running) or running or unblock():
            self._settle(running)
        return not self._here.stuck

    def _begin(self, running: dict[Key, Started]) -> bool:
        """Start what may start, and put off what was claimed but may not; whether there was either."""
        made = trip(self._here.worker, free=[os.getpid()] * SEATS, claims=True)
        running |= {(job.id, job.attempt): job for job in made.started}
        self._here.begin_all(made.started)
        put_off = [job for job in made.done or () if store.put_off(job.id, job.attempt)]
        return bool(made.started or put_off)

    def _settle(self, running: dict[Key, Started]) -> None:
        """Settle what has ended."""
        ended = [(running.pop(one.key), one.outcome) for one in [*self._here.ended] if one.key in running]
        facts = [
            (job, end.stats, end.result_ttl, end.result_bytes, end.units.sums())
            for job, end in ended
            if end.error is end.ended_at is None
        ]
        trip(self._here.worker, ended=[Success(*pickle.loads(pickle.dumps(end))) for end in facts])


def run_when_due(kind: Ordinary | Light, job_id: int) -> Job:
    """Let its moment come, as the clock would, and run it."""
    call_at(Job.objects.get(pk=job_id).due_at, store.promote)
    kind.serve()
    return Job.objects.get(pk=job_id)


def light_kind(register: Callable[..., uuid.UUID], *, threads: bool = False) -> Iterator[Light]:
    here = SeatsHere(register(concurrency=SEATS, kind=Pool.Kind.LIGHT, seats=SEATS), threads=threads)
    with listened_by_context():
        yield Light(here)
    here.close()
