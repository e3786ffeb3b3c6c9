"""The database sessions of a worker: each says whose it is, and gives up in time where others depend on it."""

import uuid

from django.conf import settings
from django.db import connections


def session_name(worker: uuid.UUID, whose: object) -> str:
    """The name of the sessions of a worker's process (its pid), or of a thread of its parent."""
    return f"jobs:{worker.hex}:{whose}"


def keep_sessions(
    worker: uuid.UUID, whose: object, *, lock_timeout: float | None = None, statement_timeout: float | None = None
) -> None:
    """From its next session on, this thread says whose it is, and waits no longer than so many seconds.

    Said when a session begins, so that one which replaces a broken one has it too, and no statement is spent on it.
    """
    said = " -c client_connection_check_interval=5s"  # nobody need wait for what a dead process has asked
    if lock_timeout is not None:
        said += f" -c lock_timeout={lock_timeout * 1000:.0f}"
    if statement_timeout is not None:
        said += f" -c statement_timeout={statement_timeout * 1000:.0f}"
    for alias in settings.DATABASES:
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue
        connection.close()
        options = dict(connection.settings_dict["OPTIONS"])
        options["options"] = options.get("options", "") + said
        options["application_name"] = session_name(worker, whose)
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}  # of this thread alone
