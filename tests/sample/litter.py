"""What strangers leave behind in the process that ran them."""

import asyncio
import subprocess
from collections.abc import Callable, Iterator

from django.db import connection, transaction
from django.utils import translation

from jobs import current_job

_kept: list[object] = []


def _in_a_transaction() -> Iterator[int]:
    with transaction.atomic():
        yield from range(10)


def _a_transaction_in_a_generator() -> None:
    _kept[:] = [_in_a_transaction()]
    next(_kept[0])  # type: ignore[call-overload]


def _a_transaction_in_a_traceback() -> None:
    for row in _in_a_transaction():
        raise ValueError(row)


def _its_own_row_locked() -> None:
    _execute("BEGIN")
    _execute(f"SELECT FROM jobs WHERE id = {current_job().id} FOR UPDATE")


def _progress_in_a_transaction() -> None:
    with transaction.atomic():
        _execute("SELECT 1")
        current_job().progress(0.5, "half")


def _a_subprocess() -> None:
    subprocess.Popen(["sleep", "5"])


def _another_language() -> None:
    translation.activate("de")


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _leaving(statement: str) -> Callable[[], None]:
    return lambda: _execute(statement)


def _raising(error: type[BaseException]) -> Callable[[], None]:
    def leave() -> None:
        raise error

    return leave


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


LITTER: dict[str, Callable[[], None]] = {
    "a transaction in a generator": _a_transaction_in_a_generator,
    "a transaction in a traceback": _a_transaction_in_a_traceback,
    "its own row locked": _its_own_row_locked,
    "progress in a transaction": _progress_in_a_transaction,
    "an aborted transaction": _leaving("BEGIN; SELECT 1/0"),
    "a search path": _leaving("SET search_path TO pg_catalog"),
    "a timeout": _leaving("SET statement_timeout = 1"),
    "an isolation level": _leaving("SET default_transaction_isolation = 'repeatable read'"),
    "a temporary table": _leaving("CREATE TEMP TABLE jobs (id int)"),
    "an advisory lock": _leaving("SELECT pg_advisory_lock(hashtext('litter'))"),
    "another language": _another_language,
    "a subprocess": _a_subprocess,
    "a CancelledError": _raising(asyncio.CancelledError),
    "a SystemExit": _raising(SystemExit),
    "an error without a text": _raising(Unspeakable),
}
