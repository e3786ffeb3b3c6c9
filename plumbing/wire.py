"""Run a statement by libpq, and read its answer: psycopg's cursor would take a third more of the client's time.

The types, the list of the plans that the server keeps, and the waiting are psycopg's.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import psycopg
from psycopg import abc, errors
from psycopg._preparing import Prepare
from psycopg.adapt import PyFormat, Transformer
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

PLACE = re.compile(r"%\((\w+)\)s")


class Query(NamedTuple):
    """The key by which psycopg finds the plans that the server keeps: a text, and the types of its parameters."""

    query: bytes
    types: tuple[int, ...]


class Answer:
    """The answer to one statement. It is empty until `hear` has taken the server's result.

    status: the server's command tag, such as "COMMIT".
    count: the number of rows.

    Both are known even if the session is lost with a later statement; the rows can be read only while it lives.
    """

    status, count = "", 0

    def __init__(self, types: abc.Transformer) -> None:
        """Begin with no answer.

        types: converts the session's types into Python's.
        """
        self._types = types
        self._result: PGresult | None = None

    def hear(self, result: PGresult) -> None:
        """Take the server's result."""
        self._result = result
        self.status, self.count = (result.command_status or b"").decode(), result.ntuples

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows, with Python's values."""
        if self._result is None:
            return []
        self._types.set_pgresult(self._result)
        return self._types.load_rows(0, self._result.ntuples, tuple)

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        result = self._result
        return [] if result is None else [(result.fname(n) or b"").decode() for n in range(result.nfields)]


class Request:
    """A statement that is to be sent, with places like `%(name)s` for its parameters."""

    def __init__(
        self,
        raw: psycopg.Connection[Any],
        types: abc.Transformer,
        statement: str,
        parameters: Mapping[str, Any],
        *,
        keep: bool | None = None,
    ) -> None:
        """Prepare the statement for sending.

        keep: whether the server keeps the plan from now on; None: from the `prepare_threshold`th time on.
        """
        text, values = numbered(statement, parameters)
        self.answer = Answer(types)
        self._raw, self._libpq = raw, raw.pgconn
        self._kept: Any = raw._prepared
        self._values = types.dump_sequence(values, [PyFormat.AUTO] * len(values))
        self._formats = types.formats
        self.query = Query(_encoded(text), types.types or ())
        self._prepare, self._name = self._kept.get(self.query, keep)  # type: ignore[arg-type]  # it reads no more
        self._key: Any = None

    def send_plan(self) -> bool:
        """Have the server plan the statement if its plan shall be kept and is not yet; return whether it was sent."""
        if self._prepare is not Prepare.SHOULD:
            return False
        self._libpq.send_prepare(self._name, *self.query)
        return True

    def send(self) -> None:
        """Have the server run the statement."""
        if self._prepare is Prepare.NO:
            self._libpq.send_query_params(self.query.query, self._values, self.query.types, self._formats)
        else:
            self._libpq.send_query_prepared(self._name, self._values, self._formats)
        self._key = self._kept.maybe_add_to_cache(self.query, self._prepare, self._name)

    def hear(self, results: list[PGresult]) -> None:
        """Take the server's results. Raises psycopg's errors.

        results: one; and behind it an error, if the commit that follows the statement fails.
        """
        if self._key is not None:
            self._kept.validate(self._key, self._prepare, self._name, results)
        for result in results:
            refused(self._raw, result)
        self.answer.hear(results[0])


def refused(raw: psycopg.Connection[Any], result: PGresult) -> None:
    """Raise psycopg's error if the server refused something."""
    if result.status == ExecStatus.FATAL_ERROR:
        raise errors.error_from_result(result, encoding=raw.info.encoding)


class Cursor:
    """The part of a cursor that Django's own cursor, which logs queries and translates errors, needs inside.

    A cursor runs its one statement, even if the project's execute wrappers change the text. They may count and refuse
    it. But pghistory puts another statement before it, which the server refuses together with parameters; and tracers
    write a number into each statement, so that no plan could be kept.
    """

    def __init__(self, raw: psycopg.Connection[Any], statement: str, parameters: Mapping[str, Any]) -> None:
        """Take the statement to run.

        statement: the text, with places like `%(name)s`, as Django's debug mode expects them.
        """
        self.connection = raw
        self._statement, self._parameters = statement, parameters
        self._query: Query | None = None  # for Django's log
        self.answer: Answer

    def execute(self, *_given: object) -> None:
        """Run the statement of this cursor; the given one is ignored. Raises psycopg's errors."""
        with self.connection.lock:
            self.connection.wait(self._executing())

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _executing(self) -> abc.PQGen[None]:
        raw = self.connection
        yield from raw._start_query()
        request = Request(raw, Transformer(raw), self._statement, self._parameters)
        self._query, self.answer = request.query, request.answer
        if request.send_plan():
            for planned in (yield from execute(raw.pgconn)):
                refused(raw, planned)
        request.send()
        request.hear((yield from execute(raw.pgconn)))
        yield from raw._prepared.maintain_gen(raw)


def numbered(statement: str, parameters: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a statement with `$1` in place of `%(name)s`, as the server needs it, and the parameters in that order.

    psycopg would translate a text of more than 4,096 bytes at every execution: 0.1 ms for a claim.
    """
    text, names = with_numbers(statement)
    return text, [parameters[name] for name in names]


@cache
def with_numbers(statement: str) -> tuple[str, list[str]]:
    """Return the text with `$1`, and the name of each parameter."""
    names = list(dict.fromkeys(PLACE.findall(statement)))
    return PLACE.sub(lambda place: f"${names.index(place[1]) + 1}", statement).replace("%%", "%"), names


@cache
def _encoded(text: str) -> bytes:
    return text.encode()
