"""A pipeline whose statements leave all at once: its client cannot stand still between two of them.

psycopg's own lets each leave by itself. So the server would begin with a pass whose client may stop before the next
statement, inside the door. It also makes a cursor for each, which takes half of the time that a pass costs its client.
This one speaks to libpq through `psycopg.pq`. The types, the list of the plans that the server keeps, and the waiting
are psycopg's.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import psycopg
from psycopg import abc, errors
from psycopg._preparing import Prepare
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from jobs.store.session import session
from tenants.prepared import with_numbers


@contextmanager
def pipeline() -> Iterator["Pipeline"]:
    """One in the engine's session. A failure closes the session: it may hold the waiting place.

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
            pipe.finish()
            raw.pgconn.exit_pipeline_mode()
    except BaseException:
        raw.close()
        connection.close()
        raise


class Answer:
    """The answer to one statement. It is empty until the pipeline has heard it.

    status: what the server says of the whole statement, like "COMMIT". count: of the rows. Both are known even if the
    session is lost with a later statement; the rows can be read only while it lives.
    """

    status, count = "", 0

    def __init__(self, types: abc.Transformer) -> None:
        self._types = types
        self._result: PGresult | None = None

    def hear(self, result: PGresult) -> None:
        """Take what the server said."""
        self._result = result
        self.status, self.count = (result.command_status or b"").decode(), result.ntuples

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, as Python's values."""
        if self._result is None:
            return []
        self._types.set_pgresult(self._result)
        return self._types.load_rows(0, self._result.ntuples, tuple)


class Query(NamedTuple):
    """By this psycopg finds what the server keeps: the text, and the types of the parameters."""

    query: bytes
    types: tuple[int, ...]


class Pipeline:
    """The statements that wait to leave, and the answers that are still to be heard, in the same order."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw, self._libpq = raw, raw.pgconn
        self._kept: Any = raw._prepared
        self._keeps = raw.prepare_threshold is not None  # not in a pooler's session
        self._types: abc.Transformer = Transformer(raw)
        self._awaited: deque[tuple[Answer | None, Any]] = deque()  # with what is to be kept if it succeeds

    def add(self, text: str, /, **parameters: Any) -> Answer:
        """Add a statement. The server keeps the plan."""
        encoded, names, formats = _prepare(text)
        values = self._types.dump_sequence([parameters[name] for name in names], formats)
        query = Query(encoded, self._types.types or ())
        prepare, name = self._kept.get(query, self._keeps)
        answer = Answer(self._types)
        if prepare is Prepare.NO:
            self._libpq.send_query_params(encoded, values, query.types, self._types.formats)
            self._awaited.append((answer, None))
            return answer
        if prepare is Prepare.SHOULD:
            self._libpq.send_prepare(name, encoded, query.types)
            self._awaited.append((None, None))
        self._libpq.send_query_prepared(name, values, self._types.formats)
        key = self._kept.maybe_add_to_cache(query, prepare, name)
        self._awaited.append((answer, None if key is None else (key, prepare, name)))
        return answer

    def hear(self) -> None:
        """Let all leave, and wait for the answers. Raises the first error of psycopg."""
        self._libpq.send_flush_request()
        self._raw.wait(self._hearing())

    def finish(self) -> None:
        """The same at the end of the pipeline."""
        self._libpq.pipeline_sync()
        self._awaited.append((None, None))
        self._raw.wait(self._hearing())

    def _hearing(self) -> abc.PQGen[None]:
        yield from send(self._libpq)
        while self._awaited:
            results = yield from fetch_many(self._libpq)
            answer, keeps = self._awaited.popleft()
            (result,) = results
            if keeps is not None:
                self._kept.validate(*keeps, results)
            if result.status == ExecStatus.FATAL_ERROR:
                raise errors.error_from_result(result, encoding=self._raw.info.encoding)
            if answer is not None:
                answer.hear(result)


@cache
def _prepare(text: str) -> tuple[bytes, list[str], list[PyFormat]]:
    """The text as the server wants it, and the names and formats of its parameters."""
    numbered, names = with_numbers(text)
    return numbered.encode(), names, [PyFormat.AUTO] * len(names)
