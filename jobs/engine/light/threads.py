"""The threads of bodies without `async`, in a light pool that says `threads`.

Each body has a thread alone, with Django's sessions of its own, which are reset after it. So there are as many threads
as such bodies run at once. One that has nothing to do waits a while for the next body; then its sessions are closed.

A thread cannot be cancelled. An exception can be raised in it, which comes before its next step in Python: code that
waits in a library goes on until that returns. A statement that the server executes for it is cancelled there.
"""

import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any

from django.db import connections

from jobs.engine.light.database import CallSessions, in_clean_sessions
from jobs.engine.process.user_code import Answer

KEPT = 10.0  # seconds for which a thread waits for another body


class ThreadedBody:
    """A body, which runs in a thread.

    answer: its end; the thread is clean by then.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self.answer: Future[Answer] = Future()
        self._call = call
        self._sessions = CallSessions()
        self._thread: int | None = None
        self._stops: type[BaseException] | None = None
        self._is_over = False
        self._raised = threading.Event()

    @property
    def thread(self) -> int | None:
        """The ident of the thread that runs it; None: none does yet."""
        return self._thread

    def stop(self, error: type[BaseException], interrupters: Executor) -> None:
        """Raise this error in the body, once, from another thread, which waits for nothing here.

        interrupters: threads that may wait, until the server has cancelled a statement.
        """
        self._stops = error  # first: a body that ends now waits until this is over, and the next one is spared
        if self._thread is not None and not self._is_over:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(error))
        self._raised.set()
        interrupters.submit(self._sessions.interrupt, self)

    def run(self) -> Answer:
        """Run it in this thread, and reset the sessions. Every exception is an answer."""
        try:
            answer: Answer = in_clean_sessions(self._run)
        except BaseException as error:
            answer = Answer(error=error)
        return answer

    def _run(self) -> Answer:
        self._sessions.begin(self)
        try:
            return self._until_nothing_is_raised()
        finally:
            self._sessions.end()

    def _until_nothing_is_raised(self) -> Answer:
        try:
            return self._of_the_body()
        finally:
            self._is_over = True
            if self._stops is not None:  # guard: else it may be raised in what this thread does next
                self._raised.wait()

    def _of_the_body(self) -> Answer:
        self._thread = threading.get_ident()
        if self._stops is not None:
            self._raised.wait()
            raise self._stops
        return Answer(self._call())


class BodyThreads:
    """The threads of a process. `run` is for the thread of its loop."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[ThreadedBody]] = []  # where each waits for a body; the last one longest of all

    def run(self, body: ThreadedBody) -> None:
        """Run a body in an idle thread, or in a new one. Raises RuntimeError if the system has no more threads."""
        try:
            self._idle.pop().put(body)  # the latest, so that those which are not needed end
        except IndexError:
            bodies: SimpleQueue[ThreadedBody] = SimpleQueue()
            bodies.put(body)
            threading.Thread(target=self._serve, args=[bodies], name="body", daemon=True).start()

    def _serve(self, bodies: "SimpleQueue[ThreadedBody]") -> None:
        try:
            while (body := self._next(bodies)) is not None:
                answer, told = body.run(), body.answer
                del body  # nothing of it is kept while this thread is idle
                self._idle.append(bodies)  # before the loop hears of it, which needs no new thread then
                told.set_result(answer)
                del answer, told
        finally:
            connections.close_all()

    def _next(self, bodies: "SimpleQueue[ThreadedBody]") -> ThreadedBody | None:
        """Wait for the next body; None: none came for a while."""
        try:
            return bodies.get(timeout=KEPT)
        except Empty:
            try:
                self._idle.remove(bodies)
            except ValueError:  # guard: the loop has just taken it, and gives it a body
                return bodies.get()
            return None
