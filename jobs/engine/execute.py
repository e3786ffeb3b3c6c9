"""Execute what a message brings: its attempt, and as long as time allows, what comes after it, without another message.

1. Start the attempt.
2. Run its body, clean up behind it, keep its result.
3. Settle. The statement that ends a job well starts the next one of its lane (queue and tenant) in the same slot: a
   time slice of QUANTUM seconds, after which it is somebody else's turn. No count changes, so no door is needed.
4. Dispatch: fill the free slots. Of what is claimed for its own pool, the process keeps one job and goes on with 1,
   until SLACK seconds after the message came: then it takes the next message, which may have waited for it.
"""

import time

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.engine import body, hands
from jobs.engine.dispatch import dispatch, dispatch_and_keep
from jobs.engine.host import Host
from jobs.engine.patience import patiently
from jobs.engine.settle import settle
from jobs.store import Claimed, Started

QUANTUM = 0.1  # seconds; whoever waits elsewhere waits at most that much longer
SLACK = 1.0  # seconds


def execute(job_id: int, attempt: int, host: Host) -> bool:
    """Run an attempt, unless it is not waiting to be started (a doubled or late message), and what follows it.

    False if this process must end: a body has left something in it that cannot be cleaned. Raises the database's error
    when an outcome could not be told for a minute; then, too, the process must end, since it still holds that attempt.
    """
    goes_on_until = time.monotonic() + SLACK
    clean = True
    with host.speaking():
        job = _start(job_id, attempt, host)
        while job is not None:
            clean = _run_slice(job, host)
            kept = _dispatch(host, keep=clean and _goes_on(host, goes_on_until))
            job = None if kept is None else _start(kept.id, kept.attempt, host)
    return clean


def _run_slice(job: Started, host: Host) -> bool:
    """Jobs of one lane, one after the other; whether this process is as clean as before."""
    ends_at = time.monotonic() + QUANTUM
    running: Started | None = job
    clean = True
    while running is not None:
        began = time.monotonic()
        outcome = body.run(running, host)
        clean = hands.clean()
        if not clean:
            telemetry.noticed("process ends: a transaction was left open in it", job=running.id)
        body.keep_result(running, outcome)
        # The next one takes about as long as this one, and half of it at least must lie within the slice.
        half = (time.monotonic() - began) / 2
        running = settle(running, outcome, follow=clean and _goes_on(host, ends_at - half))
    return clean


def _goes_on(host: Host, until: float) -> bool:
    return host.pool is not None and time.monotonic() < until and not host.draining()


def _start(job_id: int, attempt: int, host: Host) -> Started | None:
    """None if the message is stale, or the job's type was paused while it was on its way: then it is put off."""

    def start() -> Started | None:
        return store.start(job_id, attempt, host.worker)

    def start_unheard() -> Started | None:
        # In this order: a start waits for one that is still on its way in the server, and a look would not.
        return start() or store.holder(job_id, attempt, host.process)

    job = patiently(start, again=start_unheard)
    if job is None and patiently(lambda: store.put_off(job_id, attempt)):
        _dispatch(host, keep=False)
        return None
    # Again: of a type that was resumed between the two, neither has applied, and this is the job's only message.
    job = job or patiently(start_unheard)
    if job is None:
        telemetry.ignored("start", job_id, attempt)
    return job


def _dispatch(host: Host, *, keep: bool) -> Claimed | None:
    """One that fails is made good by the clock."""
    try:
        if keep and host.pool is not None:
            return dispatch_and_keep(host.pool)
        dispatch()
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("dispatch failed", error=type(error).__name__)
    return None
