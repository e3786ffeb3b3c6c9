"""django-tasks-db, the database backend of Django's tasks. It has no limits: a tenant is an argument, no more.

Run as a program, it is one worker: `python -m fair.adapters.django_tasks_db 10`, for ten jobs at once.
"""

import ctypes
import os
import signal
import sys
from importlib.metadata import version

from django.conf import settings
from django.core.management import call_command
from fair import body
from fair.adapters import _django
from fair.body import Unsupported

NEEDS = {"postgresql"}
VERSION = "django-tasks-db " + version("django-tasks-db")
DOCS = "https://github.com/RealOrangeOne/django-tasks-db#worker"
LIMITS = "none"  # its docs say nothing of limits; a worker runs one task at a time, of the queues that it is given

MOST_AT_ONCE = 64  # a process for each
POLL = 0.1  # seconds: the same for every peer that polls
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def configure(dsn: str) -> None:
    _django.configure(dsn, "django_tasks_db", {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]})


def __getattr__(name: str):
    """`task`: made when it is asked for, as it needs Django's settings."""
    if name == "task" and settings.configured:
        from django.tasks import task

        globals()["task"] = made = task(run)
        return made
    raise AttributeError(name)


def run(tenant: str, id: int, seconds: float) -> None:
    body.run(tenant, id, seconds)


run.__qualname__ = "task"  # where the worker looks for it
run.__module__ = "fair.adapters.django_tasks_db"


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    configure(engines["postgresql"])
    call_command("migrate", verbosity=0)


def submit(tenant: str, bodies: list[dict]) -> None:
    from django.db import transaction
    from fair.adapters import django_tasks_db  # by its name: the host imported it so

    # It has no bulk verb: one INSERT for each task, in one transaction.
    with transaction.atomic():
        for job in bodies:
            django_tasks_db.task.enqueue(tenant, job["id"], job["seconds"])


def worker_command(at_once: int) -> list[str]:
    return [sys.executable, "-m", "fair.adapters.django_tasks_db", str(at_once)]


def limit(tenant: str, slots: int) -> None:
    raise Unsupported("it has no limits")


def count() -> int:
    from django.tasks import TaskResultStatus
    from django_tasks_db.models import DBTaskResult

    return DBTaskResult.objects.filter(status__in=[TaskResultStatus.READY, TaskResultStatus.RUNNING]).count()


def work(at_once: int) -> None:
    """Start one process of its command for each job at once, and wait. They die with this one."""
    configure(os.environ["DSN"])
    parent = os.getpid()
    children = []
    for _ in range(at_once):
        child = os.fork()
        if not child:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                # The default is to look each second, after a random delay at the start.
                call_command(
                    "db_worker", "--interval", str(POLL), "--no-startup-delay", "--queue-name", "*", verbosity=0
                )
            os._exit(0)
        children.append(child)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: [os.kill(child, number) for child in children])
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    work(int(sys.argv[1]))
