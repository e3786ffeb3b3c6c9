"""Refuse to start a worker of a light pool where its bodies could not use the database as they must."""

import inspect
from collections.abc import Iterator
from importlib.metadata import version

import psycopg
from asgiref.sync import ThreadSensitiveContext
from django.conf import settings as project
from django.db import DEFAULT_DB_ALIAS

from jobs.checks import refuse_to_start

ASGIREF = "3.13"  # the first whose ThreadSensitiveContext takes an executor
PSYCOPG = (3, 2, 2)  # as in pyproject.toml: a cancelled call is cancelled on the server, by `cancel_safe`


def refuse_unfit_light_pool(pool: str) -> None:
    """End this process, with all the reasons and remedies on stderr, if it cannot serve a light pool.

    pool: its name.
    """
    if faults := list(_faults()):
        refuse_to_start("\n".join([f"Refused to start: pool {pool} is light, and", *faults]))


def _faults() -> Iterator[str]:
    # A session is kept by a thread, and looked after at the end of each call: one of no age would last for one call.
    if project.DATABASES[DEFAULT_DB_ALIAS].get("CONN_MAX_AGE", 0) == 0:
        yield 'each ORM call of a body would open a session: set DATABASES["default"]["CONN_MAX_AGE"] to None'
    if "executor" not in inspect.signature(ThreadSensitiveContext).parameters:
        installed = version("asgiref")
        yield f"asgiref {installed} runs all ORM calls of a process in one thread: install asgiref {ASGIREF} or later"
    if _numbers(psycopg.__version__) < PSYCOPG:
        needed = ".".join(map(str, PSYCOPG))
        yield f"psycopg {psycopg.__version__} cannot cancel a call safely: install psycopg {needed} or later"


def _numbers(release: str) -> tuple[int, ...]:
    """Return the leading numbers of a release: (3, 2, 0) for "3.2.0rc1"."""
    parts = (part for part in release.split(".")[:3])
    return tuple(int("".join(digit for digit in part if digit.isdecimal()) or 0) for part in parts)
