"""The commands of this project's own processes, for `up`, the demo and the tests."""

import os
import socket
import sys
from collections.abc import Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """A command and its whole environment: `processes.start("web", *web(8000), log=...)`."""

    argv: list[str]
    env: dict[str, str]


def web(port: int, environ: Mapping[str, str] | None = None) -> Command:
    """Return the command of the web process, on the loopback interface.

    environ: replaces this process's environment.
    """
    argv = [sys.executable, "-m", "scheduler_project.web"]
    argv += ["--host", "127.0.0.1", "--port", str(port)]
    return Command(argv, {"WEB_THREADS": "10", **_environment(environ)})


def worker(
    pool: str = "default", concurrency: int = 4, name: str | None = None, environ: Mapping[str, str] | None = None
) -> Command:
    """Return the command of a Celery worker with `concurrency` processes that takes the jobs of `pool`.

    name: must differ between the workers of one machine; by default the pool.
    environ: replaces this process's environment.
    """
    argv = [sys.executable, "-m", "celery", "-A", "scheduler_project", "worker"]
    argv += ["-Q", pool, "-n", f"{name or pool}@%h", "-c", str(concurrency)]
    argv += ["--without-gossip", "--without-mingle"]  # messages between workers that we do not need
    return Command(argv, _environment(environ))


def manage(*arguments: str, environ: Mapping[str, str] | None = None) -> Command:
    """Return the command of `manage.py` with these arguments."""
    return Command([sys.executable, "manage.py", *arguments], _environment(environ))


def free_port() -> int:
    """Return a loopback port that is free at this moment. Another process may take it first; then try again."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Return whether a process listens at that port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _environment(environ: Mapping[str, str] | None) -> dict[str, str]:
    return dict(os.environ if environ is None else environ)
