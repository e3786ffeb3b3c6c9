"""Refuse to start a worker of a light pool where its bodies could not use the database as they must."""

import inspect
from importlib.metadata import version

from asgiref.sync import ThreadSensitiveContext

from jobs.checks import refuse_to_start

ASGIREF = "3.13"  # the first whose ThreadSensitiveContext takes an executor


def refuse_unfit_light_pool(pool: str) -> None:
    """End this process, with the reason and the remedy on stderr, if it cannot serve a light pool.

    pool: its name.
    """
    if "executor" not in inspect.signature(ThreadSensitiveContext).parameters:
        refuse_to_start(
            f"Refused to start: pool {pool} is light, and asgiref {version('asgiref')} runs all ORM calls of a process "
            f"in one thread: install asgiref {ASGIREF} or later"
        )
