"""Forks Python programs from a process that has imported what they import: `tests.warm` starts it, and asks.

    python tests/warm_parent.py FILE_DESCRIPTOR

Nothing of the project is imported before the fork, and nothing that reads Django's settings: each program reads its
own environment. It ends when whoever started it ends, and so do those that it has forked.
"""

import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
IMPORTED = [
    "celery.bin.celery", "celery.worker.consumer", "celery.concurrency.prefork", "celery.fixups.django",
    "kombu.transport.redis", "redis", "psycopg", "django.db.models", "django.db.backends.postgresql.base",
    "django.forms", "django.urls", "django.template.backends.django", "django.core.handlers.asgi", "django.test",
    "django.core.management", "uvicorn.main", "uvicorn.protocols.http.auto", "uvicorn.lifespan.on", "pydantic.main",
    "pydantic._internal._generate_schema", "environ", "opentelemetry.trace", "prometheus_client", "cronsim",
    "markdown_it", "segno", "annotated_types", "pydantic.types", "pydantic.networks", "django.contrib.admin.decorators",
    "django.contrib.postgres.search", "django.db.migrations.utils",
]  # fmt: skip


def main(line: socket.socket) -> dict[str, Any]:
    """Serve until the line breaks; only in a new process this returns: what that one shall become."""
    while message := line.recv(1 << 20):
        order = json.loads(message)
        if "argv" in order:
            pid = os.fork()
            if pid == 0:
                return order
            answer: Any = pid
        else:
            pid, status, used = os.wait4(order["poll"], os.WNOHANG)
            answer = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime] if pid else None
        line.send(json.dumps(answer).encode())
    sys.exit()


def become(order: dict[str, Any], parent: int) -> None:
    """Be what `python -m MODULE ARG...` or `python manage.py ARG...` is there, in a session of its own."""
    os.setsid()
    die_with(parent, order["death_signal"])
    if order["network"]:
        enter(order["network"])
    output = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.path[0] = order["cwd"]
    sys.argv = order["argv"]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


def enter(network: str) -> None:
    """Be in the network namespace of this file."""
    descriptor = os.open(network, os.O_RDONLY)
    if ctypes.CDLL(None).setns(descriptor, 0):
        os._exit(126)
    os.close(descriptor)


def die_with(parent: int, number: int) -> None:
    """Get this signal when the parent dies, also if it has died already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(128 + number)


if __name__ == "__main__":
    die_with(int(sys.argv[2]), signal.SIGKILL)
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what is shared is not written to
    line, ours = socket.socket(fileno=int(sys.argv[1])), os.getpid()
    order = main(line)
    line.close()
    become(order, ours)
