"""The compared web servers, each with one process; only this module has their commands."""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec

from embedded import fleet
from embedded.fleet import Command

THREADS = 4  # of granian for Python: as many as there are clients


def uvicorn(port: int, environ: dict[str, str]) -> Command:
    """The server that `make up` starts."""
    return fleet.web(port, environ)


def granian(port: int, environ: dict[str, str]) -> Command:
    """As WSGI: a request needs no new thread and no event loop."""
    argv = [sys.executable, "-m", "granian", "--interface", "wsgi", "scheduler_project.wsgi:application"]
    argv += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1", "--blocking-threads", str(THREADS)]
    argv += ["--log-level", "warning"]
    return Command(argv, {"WEB_THREADS": "10", **environ})


def installed() -> dict[str, Callable[[int, dict[str, str]], Command]]:
    """By name, those that this environment has."""
    servers = {"uvicorn": uvicorn, "granian": granian}
    return {name: command for name, command in servers.items() if find_spec(name)}


def environment(settings: str) -> dict[str, str]:
    """Of a web process with these settings; the entry points are the project's own."""
    return {**os.environ, "DJANGO_SETTINGS_MODULE": settings}
