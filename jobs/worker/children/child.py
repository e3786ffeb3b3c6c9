"""Prepare a process of a worker's pool before its first job: it takes its seat at the desk."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from billiard.common import terminate_handler_fired  # type: ignore[attr-defined]  # not in its stubs
from billiard.process import current_process
from billiard.util import set_pdeathsig  # type: ignore[attr-defined]  # not in its stubs
from celery import signals

from jobs import store
from jobs.engine import dispatch
from jobs.engine.deaths import announce
from jobs.engine.host import Host
from jobs.worker import message
from jobs.worker.children.cores import waited_for_core
from jobs.worker.children.peak import Peak
from jobs.worker.children.running_table import desk
from jobs.worker.children.time_limit import Timer
from jobs.worker.threads.sender import Sender
from jobs.worker.threads.wakeup import bell
from jobs.worker.threads.watchdog import Progress

LAST_WORDS = 2.0  # seconds to send the remaining messages when the process is replaced

_pool: list[str] = []  # the pool that this worker serves; set in the parent


@signals.celeryd_after_setup.connect
def note_pool(instance: Any, **_: Any) -> None:
    """Record the pool in the parent, for its children."""
    _pool[:] = instance.app.amqp.queues.consume_from


@signals.worker_process_init.connect
def run_jobs_here(**_: Any) -> None:
    """Prepare the process: it dies with its parent, ends what its bodies start, has a seat and sessions of its name.

    It does itself what the parent's threads do for the parent: threads are not forked.
    """
    set_pdeathsig(signal.SIGKILL)  # otherwise it would run its job unknown to everybody (Linux)
    os.setpgid(0, 0)
    desk.sit_down(current_process().index)  # type: ignore[attr-defined]  # not in its stubs
    store.name_sessions(message.WORKER_ID, os.getpid())
    last_words = _send_beside()
    dispatch.relay_to(bell.ring)  # for the submits of bodies
    announce.announce_by(None)
    message.run_jobs_here(
        Host(
            message.WORKER_ID,
            next(iter(_pool), None),
            seat=desk,
            limit=Timer(),
            peak=Peak(),
            waited_for_core=waited_for_core,
            speaking=store.OwnSession().speaking,
            draining=lambda: desk.drains,
            told_to_exit=terminate_handler_fired,
            last_words=last_words,
        )
    )


def _send_beside() -> Callable[[], None]:
    """Send messages in a thread: a broker that hangs must not keep the process from the job it kept for itself.

    Returns what sends the rest. Otherwise the jobs that the process claimed last would wait until their messages count
    as lost: JOBS_HAND_OVER_TIMEOUT.
    """
    sending = Sender()
    thread = threading.Thread(target=sending.run, args=[Progress()], name="sender", daemon=True)
    thread.start()
    dispatch.connect(sending.hand_over)

    def send_the_rest(**_: Any) -> None:
        sending.stop()
        thread.join(LAST_WORDS)

    signals.worker_process_shutdown.connect(send_the_rest, weak=False)
    return send_the_rest
