"""The database sessions of a worker: each carries its owner's name, and time limits where others depend on it."""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import connections

from jobs.store.session import of_the_engine


def session_name(worker: uuid.UUID, whose: object) -> str:
    """The name of the sessions of a worker's process (by pid), or of a thread of its parent."""
    return f"jobs:{worker.hex}:{whose}"


def name_sessions(worker: uuid.UUID, pid: int) -> None:
    """Name the later sessions of this process, which bodies use, at the isolation level of their project."""
    _keep(worker, pid, dict, "")


def keep_sessions(
    worker: uuid.UUID, whose: str, *, lock_timeout: float, statement_timeout: float | None = None
) -> None:
    """Name the later sessions of this thread of the engine, and limit their waits to so many seconds."""
    said = f" -c lock_timeout={lock_timeout * 1000:.0f}"
    if statement_timeout is not None:
        said += f" -c statement_timeout={statement_timeout * 1000:.0f}"
    _keep(worker, whose, of_the_engine, said)


def _keep(worker: uuid.UUID, whose: object, of: Callable[[Mapping[str, Any]], dict[str, Any]], said: str) -> None:
    """As options of the connection, so a session that replaces a broken one has them too, without a statement."""
    said = f" -c client_connection_check_interval=5s{said}"  # the server drops the statement of a dead process
    for alias in settings.DATABASES:
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue
        connection.close()
        options = of(connection.settings_dict["OPTIONS"])
        options["options"] = options.get("options", "") + said
        options["application_name"] = session_name(worker, whose)
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}  # of this thread alone
