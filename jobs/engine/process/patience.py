"""Patience: a restart of PostgreSQL must not lose an outcome, or a job that was just started."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import Error

from jobs.store import may_pass, session

DATABASE_PATIENCE = 60.0  # seconds

Value = TypeVar("Value")


def patiently(statement: Callable[[], Value], again: Callable[[], Value] | None = None) -> Value:
    """Run a statement; repeat it while the database is away, read-only or too busy.

    again: runs instead of the statement from the second time on. It is needed if the first run may have been committed
    without an answer, and a second run would then answer differently. The default, the same statement, is right for a
    fenced one. Raises the database's error after DATABASE_PATIENCE.
    """
    give_up = time.monotonic() + DATABASE_PATIENCE
    pause = 0.05
    while True:
        try:
            return statement()
        except Error as error:
            if time.monotonic() > give_up or not may_pass(error):
                raise
            session().close()
            time.sleep(pause)
            pause = min(pause * 2, 2.0)
            statement = again or statement
