"""A process of a worker's pool, as the engine sees it."""

import multiprocessing
import signal
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from celery import signals
from django.db import DatabaseError, InterfaceError, connections

from jobs import store
from jobs.celery import celery_app
from jobs.engine.attempt.threads import Threads
from jobs.engine.process import runtime
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.engine.process.runtime import Runtime
from jobs.engine.upkeep.recover import SESSION_PATIENCE
from jobs.lifecycle import HandBack
from jobs.store import Claimed
from jobs.worker.children import stacks
from jobs.worker.children.cores import waited_for_core
from jobs.worker.children.entry import OwnEntry
from jobs.worker.children.peak import Peak
from jobs.worker.children.running_table import running_table
from jobs.worker.children.time_limit import Timer
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.sender import Sender
from jobs.worker.threads.wakeup import wakeup
from jobs.worker.threads.watchdog import Progress

FLUSH_SECONDS = 2.0  # to send the remaining messages when the process ends
# Signals that ask a process to end. A platform, a container or systemd may send them to all processes of a worker.
STOPS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


class Child(ProcessHost):
    """This process, which runs jobs. It is made after the fork.

    A thread sends the messages: a broker that hangs must not keep the process from the job that it kept for itself.
    Another thread lets PostgreSQL plan the statements before the first job comes. The main thread cannot wait for that:
    the pool gives a new process only a few seconds until its first sign of life.
    """

    def __init__(self, worker: uuid.UUID, pid: int, pool: str | None) -> None:
        super().__init__(worker, pool)
        self._pid = pid
        self._peak, self._session = Peak(), store.OwnSession()
        self.sender = Sender(session=self._session)
        self._sending = threading.Thread(target=self.sender.run, args=[Progress()], name="sender", daemon=True)
        self._sending.start()
        self._planning = threading.Thread(target=self._plan, name="planner", daemon=True)
        self._planning.start()
        self._threads = Threads()

    def own_session(self) -> AbstractContextManager[None]:
        self._planning.join()
        return self._session.speaking()

    def _plan(self) -> None:
        with suppress(DatabaseError, InterfaceError), self._session.speaking():  # its first dispatch would fail, too
            store.plan()
        connections.close_all()  # of this thread, if a receiver of `connection_created` has used one

    def of_a_body(self) -> AbstractContextManager[None]:
        return self._threads.of_a_body()

    def beside_a_body(self, call: Callable[[], object], pause: float, over: threading.Event) -> None:
        def go_on() -> None:
            while not over.wait(pause):
                with self.own_session():
                    call()

        threading.Thread(target=go_on, name="beside a body", daemon=True).start()

    def cancel_calls(self) -> None:
        self._threads.cancel_calls()

    def end_threads(self) -> str:
        left = self._threads.end() or self._kept_with_sessions()
        if left:  # it may hold locks that the settling of its own job needs
            with suppress(DatabaseError, InterfaceError), self.own_session():
                store.end_sessions(self.worker, self._pid, patience=SESSION_PATIENCE)
        return left

    def _kept_with_sessions(self) -> str:
        """Return the name of a process that a body has left running, if one of them has a database session; else "".

        Such a session cannot be reset from this process.
        """
        kept = multiprocessing.active_children()
        if not kept:
            return ""
        databases = [database for database in connections.all(initialized_only=True) if database.vendor == "postgresql"]
        ours = [database.connection.info.backend_pid for database in databases if database.connection is not None]
        with suppress(DatabaseError, InterfaceError), self.own_session():
            if not store.has_sessions_beside(self.worker, self._pid, ours):
                return ""
        return kept[0].name

    def is_draining(self) -> bool:
        return running_table.drains

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        # Not SIG_IGN, which the programs that a body starts would inherit: they could not be terminated.
        before = {number: signal.signal(number, lambda *_: None) for number in STOPS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def waited_for_core(self) -> float:
        return waited_for_core()

    def reset_peak(self) -> None:
        self._peak.reset()

    def peak_memory(self) -> int | None:
        return self._peak.read()

    def hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Send the messages of these jobs."""
        self.sender.hand_over(claimed, away=running_table.is_cut_off())

    def send_messages(self) -> None:
        """Send what is queued before the process ends: otherwise these jobs wait until their messages count as lost."""
        self.sender.stop()
        self._sending.join(FLUSH_SECONDS)


class ChildSeat(AttemptHost):
    """This process as the holder of an attempt: its entry in the running table tells the parent what it holds."""

    def __init__(self, process: Child, entry: OwnEntry) -> None:
        super().__init__(process, limit=Timer(entry))
        self._entry = entry

    def hold(self, job_id: int, attempt: int) -> None:
        stacks.listen()  # again, for an earlier body may have taken the signal
        self._entry.hold(job_id, attempt)

    def let_go(self) -> None:
        self._entry.let_go()

    def asked_back(self) -> HandBack | None:
        return super().asked_back() or self._entry.asked_back()


def run_jobs_here(pid: int, index: int) -> None:
    """Make this process run the job of each message. It has an entry in the running table."""
    entry = running_table.take_entry(index, pid)
    stacks.leave_to_main_thread()
    child = Child(WORKER_ID, pid, next(iter(celery_app().amqp.queues.consume_from), None))
    stacks.listen()
    runtime.start(Runtime(carrier=child.hand_over, relay=wakeup.request, host=ChildSeat(child, entry)))
    signals.worker_process_shutdown.connect(lambda **_: child.send_messages(), weak=False)
