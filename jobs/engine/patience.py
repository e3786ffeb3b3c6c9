"""Patience: what was computed, or taken up, must not be lost because PostgreSQL restarts."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError

from jobs.store import session

PATIENCE = 60.0  # seconds

Value = TypeVar("Value")


def patiently(statement: Callable[[], Value], again: Callable[[], Value] | None = None) -> Value:
    """Run a statement, and while the database is away run it again.

    again: what to run instead from the second time on, if the first may have been carried out unheard and would say
    something else now; by default the same, which is right for a fenced one. Raises the database's error after
    PATIENCE.
    """
    give_up = time.monotonic() + PATIENCE
    pause = 0.05
    while True:
        try:
            return statement()
        except (OperationalError, InterfaceError):
            if time.monotonic() > give_up:
                raise
            session().close()
            time.sleep(pause)
            pause = min(pause * 2, 2.0)
            statement = again or statement
