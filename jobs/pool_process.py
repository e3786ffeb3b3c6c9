"""What a process of a worker's pool does before its first job: it takes its place."""

import os
import signal
from typing import Any

from billiard.process import current_process
from billiard.util import set_pdeathsig  # type: ignore[attr-defined]  # not in its stubs
from celery import signals

from jobs import store, tasks
from jobs.bell import bell
from jobs.desk import desk
from jobs.engine import deaths, dispatch
from jobs.engine.place import Place
from jobs.time_limit import Timer

_pool: list[str] = []  # the one that this worker serves; noted in the parent


@signals.celeryd_after_setup.connect
def note_pool(instance: Any, **_: Any) -> None:
    """The children know it from their parent."""
    _pool[:] = instance.app.amqp.queues.consume_from


@signals.worker_process_init.connect
def take_place(**_: Any) -> None:
    """It dies with its parent, and nothing that its bodies start outlives it. It has a seat, and sessions by its name.

    What the parent's threads do for the parent, it does itself: they were not forked.
    """
    set_pdeathsig(signal.SIGKILL)  # nobody would know of the job it goes on running (Linux)
    os.setpgid(0, 0)
    desk.sit_down(current_process().index)  # type: ignore[attr-defined]  # not in its stubs
    store.keep_sessions(tasks.WORKER_ID, os.getpid())
    dispatch.connect(tasks.hand_over)
    dispatch.relay_to(bell.ring)  # for what bodies submit
    deaths.announce_by(None)
    tasks.take_place(
        Place(
            tasks.WORKER_ID,
            next(iter(_pool), None),
            limit=Timer(),
            speaking=store.OwnSession().speaking,
            draining=lambda: desk.drains,
        )
    )
