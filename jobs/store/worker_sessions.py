"""The database sessions of a worker: each carries its owner's name, and time limits where others depend on it."""

import uuid

from django.conf import settings
from django.db import connections

from jobs.store.session import ours


def session_name(worker: uuid.UUID, whose: object) -> str:
    """The name of the sessions of a worker's process (by pid), or of a thread of its parent."""
    return f"jobs:{worker.hex}:{whose}"


def keep_sessions(
    worker: uuid.UUID, whose: object, *, lock_timeout: float | None = None, statement_timeout: float | None = None
) -> None:
    """Name the later sessions of this thread, and limit their waits to so many seconds.

    A thread with a lock_timeout is the engine's own; in another run bodies, at the isolation level of their project.
    These are connection options, so a session that replaces a broken one has them too, without a further statement.
    """
    said = " -c client_connection_check_interval=5s"  # the server drops the statement of a dead process
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
        if lock_timeout is None:
            options["options"] = options.get("options", "") + said
        else:
            options = ours(options, said)
        options["application_name"] = session_name(worker, whose)
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}  # of this thread alone
