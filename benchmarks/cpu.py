"""CPU time of process trees in seconds: the cost of a job or a request over all processes that share it."""

from contextlib import suppress

import psutil
from django.db import connection


def of_tree(pid: int) -> float:
    """CPU seconds of a process and its descendants, including those that have ended and were waited for."""
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total


def of_database() -> float | None:
    """CPU seconds of PostgreSQL with all its backends; None if it runs on another machine."""
    connection.ensure_connection()
    info = connection.connection.info
    if not (info.host.startswith("/") or info.host in {"localhost", "127.0.0.1", "::1"}):
        return None
    with suppress(psutil.Error):
        backend = psutil.Process(info.backend_pid)
        parent = backend.parent()
        if backend.name().startswith("postgres") and parent is not None:
            return of_tree(parent.pid)
    return None


class Meter:
    """CPU seconds since its creation, of the trees below `pids` and of the database."""

    def __init__(self, *pids: int) -> None:
        self._pids = pids
        self._trees, self._database = self._of_trees(), of_database()

    def read(self, count: int) -> tuple[float, float | None]:
        """Milliseconds per item, for `count` items: of the processes, and of the database if it is on this machine."""
        trees, database = self._of_trees() - self._trees, of_database()
        if database is not None and self._database is not None:
            return trees / count * 1000, (database - self._database) / count * 1000
        return trees / count * 1000, None

    def _of_trees(self) -> float:
        return sum(map(of_tree, self._pids))
