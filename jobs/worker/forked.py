"""Prepare a process that the pool of a worker has just forked, before its first job."""

import multiprocessing.process
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import SyncToAsync
from billiard.process import current_process
from billiard.util import set_pdeathsig  # type: ignore[attr-defined]  # not in its stubs
from celery import signals

from jobs import store
from jobs.engine.attempt import session_reset
from jobs.worker import light
from jobs.worker.children.child import STOPS, run_jobs_here
from jobs.worker.light.child import serve_here
from jobs.worker.message import WORKER_ID

MAIN = multiprocessing.current_process()  # of the parent, which imports this; Celery puts its own in its place


@signals.worker_process_init.connect
def prepare(**_: Any) -> None:
    """Let the process die with its parent, lead a process group, and run jobs: one at a time, or in its seats.

    It starts threads of its own for what threads do in the parent: threads are not forked.
    """
    set_pdeathsig(signal.SIGKILL)  # otherwise it would go on with its job, and no worker would know (Linux)
    os.setpgid(0, 0)
    pid, index = os.getpid(), current_process().index  # type: ignore[attr-defined]  # not in its stubs
    store.name_sessions(WORKER_ID, pid)
    _let_bodies_have_processes()
    if (seats := light.of_this_worker()) is None:
        run_jobs_here(pid, index)
    else:
        serve_here(seats, index)


def _let_bodies_have_processes() -> None:
    """Let bodies start processes of multiprocessing, which takes Celery's for daemons, and daemons may have none.

    The new processes end with this one: they are in its process group.
    """
    MAIN.name = current_process().name  # in the lines of the log
    multiprocessing.process._current_process = MAIN  # type: ignore[attr-defined]
    forks = Forks()
    os.register_at_fork(before=forks.begin, after_in_parent=forks.end, after_in_child=forks.become_a_bodys_process)


class Forks(threading.local):
    """Prepare each process that a body forks: it forgets its parent's sessions, and SIGTERM ends it.

    During the fork these signals are blocked: the parent's handler, which it still has, would swallow them.
    """

    def begin(self) -> None:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)

    def end(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def become_a_bodys_process(self) -> None:
        session_reset.forget()
        SyncToAsync.single_thread_executor = ThreadPoolExecutor(1)  # threads are not forked
        for number in STOPS:
            signal.signal(number, signal.SIG_DFL)
        self.end()
