"""What a process of a worker's pool does before its first job: it takes its seat at the desk."""

import os
import signal
import threading
from typing import Any

from billiard.process import current_process
from billiard.util import set_pdeathsig  # type: ignore[attr-defined]  # not in its stubs
from celery import signals

from jobs import store, tasks
from jobs.deaths import announce
from jobs.engine import dispatch
from jobs.engine.host import Host
from jobs.processes.bell import bell
from jobs.processes.desk import desk
from jobs.processes.sender import Sender
from jobs.processes.time_limit import Timer
from jobs.processes.watchdog import Progress

LAST_WORDS = 2.0  # seconds for what is still to be sent when the process is replaced

_pool: list[str] = []  # the one that this worker serves; noted in the parent


@signals.celeryd_after_setup.connect
def note_pool(instance: Any, **_: Any) -> None:
    """The children know it from their parent."""
    _pool[:] = instance.app.amqp.queues.consume_from


@signals.worker_process_init.connect
def run_jobs_here(**_: Any) -> None:
    """It dies with its parent, and nothing that its bodies start outlives it. It has a seat, and sessions by its name.

    What the parent's threads do for the parent, it does itself: they were not forked.
    """
    set_pdeathsig(signal.SIGKILL)  # nobody would know of the job it goes on running (Linux)
    os.setpgid(0, 0)
    desk.sit_down(current_process().index)  # type: ignore[attr-defined]  # not in its stubs
    store.keep_sessions(tasks.WORKER_ID, os.getpid())
    _send_beside()
    dispatch.relay_to(bell.ring)  # for what bodies submit
    announce.announce_by(None)
    tasks.run_jobs_here(
        Host(
            tasks.WORKER_ID,
            next(iter(_pool), None),
            limit=Timer(),
            speaking=store.OwnSession().speaking,
            draining=lambda: desk.drains,
        )
    )


def _send_beside() -> None:
    """In a thread: a broker that stands still must not keep a process from the job that it has claimed for itself."""
    sending = Sender()
    thread = threading.Thread(target=sending.run, args=[Progress()], name="sender", daemon=True)
    thread.start()
    dispatch.connect(sending.hand_over)

    def send_the_rest(**_: Any) -> None:
        sending.stop()
        thread.join(LAST_WORDS)

    signals.worker_process_shutdown.connect(send_the_rest, weak=False)
