"""The database sessions of a worker: each carries its owner's name, and time limits where others depend on it."""

import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from jobs.store.session import KEPT_ALIVE, as_options, of_the_engine

Options = Mapping[str, Any]


def session_name(worker: uuid.UUID, whose: object) -> str:
    """Return the name of the sessions of a worker's process (by pid), or of a thread of its parent."""
    return f"jobs:{worker.hex}:{whose}"


def name_sessions(worker: uuid.UUID, pid: int) -> None:
    """Name the later sessions of this process. Bodies use them in any thread, with the settings of their project.

    The sessions of programs that bodies start get the name from libpq (PGAPPNAME).
    """
    for alias, kept in _keep(worker, pid, lambda _, options: _without_pool(options), KEPT_ALIVE).items():
        connections.settings[alias] = kept
    os.environ["PGAPPNAME"] = session_name(worker, pid)


def keep_sessions(
    worker: uuid.UUID, whose: str, *, lock_timeout: float, statement_timeout: float | None = None
) -> None:
    """Name the later sessions of this thread of the engine, and limit their waits.

    lock_timeout: seconds.
    statement_timeout: seconds; None: no limit.
    """
    parameters = {"lock_timeout": f"{lock_timeout * 1000:.0f}"}
    if statement_timeout is not None:
        parameters["statement_timeout"] = f"{statement_timeout * 1000:.0f}"
    _keep(worker, whose, lambda alias, options: of_the_engine(options, writes=alias == DEFAULT_DB_ALIAS), parameters)


def _without_pool(options: Options) -> dict[str, Any]:
    """Return the options without a pool, which would lend a body's session, as it left it, to a thread of the next."""
    return {name: value for name, value in options.items() if name != "pool"}


def _keep(
    worker: uuid.UUID, whose: object, of: Callable[[str, Options], dict[str, Any]], parameters: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Set the name and the settings of this thread's sessions; return the settings of its connections, by alias.

    They are options of the connection, so that a session that replaces a broken one has them too, without a statement.
    """
    # The server drops the statement of a process that died.
    parameters = {"client_connection_check_interval": "5s", **parameters}
    kept = {}
    for alias in settings.DATABASES:
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue
        connection.close()
        options = of(alias, connection.settings_dict["OPTIONS"])
        options["options"] = options.get("options", "") + as_options(parameters)
        options["application_name"] = session_name(worker, whose)
        # For this thread alone.
        kept[alias] = connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}
    return kept
