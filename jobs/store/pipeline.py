"""A pipeline that sends all its statements at once: its client cannot stall between two of them.

psycopg's own pipeline sends each statement by itself. So the server would begin with a pass whose client may stall
before the next statement, inside the door.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.generators import fetch_many, send

from jobs.store.session import session
from plumbing.wire import Answer, Request, refused


@contextmanager
def pipeline() -> Iterator["Pipeline"]:
    """Open a pipeline in the engine's session. A failure closes the session: it may hold the waiting place.

    Raises Django's errors.
    """
    connection = session()
    connection.ensure_connection()
    raw = connection.connection
    try:
        with connection.wrap_database_errors, raw.lock:
            raw.wait(raw._prepared.maintain_gen(raw))
            raw.pgconn.enter_pipeline_mode()
            pipe = Pipeline(raw)
            yield pipe
            pipe.hear()
            raw.pgconn.exit_pipeline_mode()
    except BaseException:
        raw.close()
        connection.close()
        raise


class Pipeline:
    """Statements that are still to be sent, and those whose answers are still to come, in order."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw, self._types = raw, Transformer(raw)
        self._keeps = raw.prepare_threshold is not None  # not in a pooler's session
        self._awaited: deque[Request | None] = deque()  # None: the answer to a plan or to a sync

    def add(self, text: str, /, **parameters: Any) -> Answer:
        """Add a statement. The server keeps the plan."""
        request = Request(self._raw, self._types, text, parameters, keep=self._keeps)
        if request.send_plan():
            self._awaited.append(None)
        request.send()
        self._awaited.append(request)
        return request.answer

    def hear(self) -> None:
        """Send all statements, and wait for the answers. Raises the first error of psycopg.

        They end with a sync, not with a flush. Only after a sync does PostgreSQL count how long a client stands still
        in its transaction. Without a statement to hear of it does nothing.
        """
        if not self._awaited:
            return
        self._raw.pgconn.pipeline_sync()
        self._awaited.append(None)
        self._raw.wait(self._hearing())

    def _hearing(self) -> PQGen[None]:
        yield from send(self._raw.pgconn)
        while self._awaited:
            results = yield from fetch_many(self._raw.pgconn)
            request = self._awaited.popleft()
            if request is None:
                refused(self._raw, results[0])
            else:
                request.hear(results)
