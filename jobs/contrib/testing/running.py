"""Run the submitted jobs: with the statements of the engine, and with this process as the worker."""

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import connection
from django.utils import timezone

from jobs import store
from jobs.allocation.order import MAX_PASSES
from jobs.contrib.testing.assertions import checked
from jobs.contrib.testing.attempt import Attempt, execute
from jobs.contrib.testing.hand_backs import SeatOfTest
from jobs.contrib.testing.time import FrozenTime, following, freeze_time
from jobs.engine.attempt.sync_thread import sync_thread
from jobs.engine.door.budgets import hold_or_release
from jobs.engine.door.unblock import unblock
from jobs.engine.process import runtime
from jobs.engine.process.host import ProcessHost
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.engine.submitting.proxy import Call
from jobs.lifecycle import Status
from jobs.models import Queue
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT, Claimed

BATCH = 1000  # jobs promoted at a time


def drain(*, later: bool = False, schedules: bool = False, raising: bool = True, most: int = 1000) -> list[Attempt]:
    """Run all jobs that may run now, and those that they submit; return the attempts in order.

    One worker serves each pool, with one process. Limits, pauses, priorities, retries and identical jobs work as ever.
    later: move the time on, without waiting, until the delayed jobs and the retries have run, too.
    schedules: submit the due jobs of schedules, declared ones included.
    raising: at the end, raise the error of the first job that ended as error or dead.
    Raises AssertionError after `most` attempts: then jobs submit each other without end.
    """
    made: list[Attempt] = []
    standing = freeze_time() if later and not isinstance(timezone.now, FrozenTime) else nullcontext()
    with standing, _worker() as worker:
        if schedules:
            declare()
            run_due()
        while (attempt := worker.step()) or (later and worker.wait()):
            made += [attempt] if attempt else []
            if len(made) + worker.waits > most:
                raise AssertionError(f"{most} attempts did not drain the jobs: do they submit each other without end?")
    if raising:
        _raise_first(made)
    return made


def run(call: Call[...], /, *args: Any, **kwargs: Any) -> Any:
    """Submit a call, run the waiting jobs until its job has ended, and return the job's result.

    The arguments and the result go through JSON. Raises the job's error, and InvalidRequest as every submit does.
    Raises AssertionError if the job did not run, or has not ended, with the gate that holds it.
    """
    job_id = checked(call)(*args, **kwargs)
    last: Attempt | None = None
    with _worker() as worker:
        while last is None and (attempt := worker.step()):
            goes_on = attempt.status in (
                Status.CREATED,
                Status.BLOCKED,
            )  # it has given its slot back, or waits for an event
            last = attempt if attempt.job_id == job_id and not goes_on else None
        worker.finish()
    if last is None:
        held = explain(job_id, tenant_id=EVERY_TENANT)
        raise AssertionError(f"job {job_id} has not ended: {held.sentence if held else 'it is gone'}")
    if last.error is not None:
        raise last.error
    return json.loads(json.dumps(last.value))


def _raise_first(made: list[Attempt]) -> None:
    failed = [attempt for attempt in made if attempt.failed]
    for attempt in failed[:1]:
        if attempt.error is not None:
            more = f"; {len(failed)} of {len(made)} attempts ended so" if len(failed) > 1 else ""
            attempt.error.add_note(f"job {attempt.job_id} ended as {attempt.status} in drain(){more}")
            raise attempt.error


class _Worker:
    """The worker of a drain. This process stands for one process of each pool."""

    def __init__(self) -> None:
        self.waits = 0
        pools = Queue.objects.values_list("pool", flat=True).distinct()
        self._hosts = {pool: SeatOfTest(ProcessHost(uuid.uuid4())) for pool in pools}
        self._claimed: list[Claimed] = []
        self._beat()

    def step(self) -> Attempt | None:
        """Make the next attempt; None if no job may run now."""
        while self._claimed or self._claim():
            message = self._claimed.pop(0)
            attempt = execute(message, self._hosts[message.pool])
            if attempt is not None:
                return attempt
        return None

    def finish(self) -> None:
        """Run the jobs that were claimed for the other pools, since no other worker does."""
        while self._claimed:
            message = self._claimed.pop(0)
            execute(message, self._hosts[message.pool])

    def wait(self) -> bool:
        """Move the time on to the next moment; return False if nothing is due later."""
        seconds = store.next_moment()
        if seconds is None or seconds <= 0 or not isinstance(timezone.now, FrozenTime):
            return False
        timezone.now.move(seconds)
        self.waits += 1
        self._beat()
        return True

    def leave(self) -> None:
        for host in self._hosts.values():
            store.leave(host.process.worker)

    def _beat(self) -> None:
        for pool, host in self._hosts.items():
            name, worker = f"jobs.contrib.testing@{pool}", host.process.worker
            store.beat(worker, name=name, pid=os.getpid(), pool=pool, capacity=1)

    def _claim(self) -> bool:
        for move in (store.lapse, store.promote):
            while len(move(BATCH)) == BATCH:
                pass
        locked: set[str] = set()
        for _ in range(MAX_PASSES):
            claim = store.claim_within() if connection.in_atomic_block else store.claim(in_line=False, locked=locked)
            locked |= claim.locked
            self._claimed = list(claim)
            unblocked = claim.ends and unblock()
            if claim.spent:
                unblocked = hold_or_release() or unblocked
            if self._claimed or not (claim.more or unblocked):
                break
        return bool(self._claimed)


@contextmanager
def _worker() -> Iterator[_Worker]:
    """Open the worker. Meanwhile no other code dispatches in this process, and no message leaves it."""
    with runtime.changed(carrier=None, relay=lambda: None), following(), sync_thread():
        worker = _Worker()
        try:
            yield worker
        finally:
            worker.leave()
