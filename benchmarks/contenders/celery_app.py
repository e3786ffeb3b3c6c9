"""The Celery app of a contender, independent of this project's settings."""

import os
import sys

from celery import Celery

from benchmarks.contenders.contender import PROCESSES, node
from embedded.fleet import Command


def app(name: str) -> Celery:
    """Celery, set up as in its documentation, without results."""
    made = Celery(name, broker=os.environ.get("CELERY_BROKER_URL"), set_as_current=False)
    made.conf.update(
        task_default_queue=name,
        task_ignore_result=True,
        broker_connection_retry_on_startup=True,
        worker_hijack_root_logger=False,
    )
    made.conf["CELERY_DB_REUSE_MAX"] = 1_000_000  # otherwise the Django fix-up closes the connection after each task
    return made


def worker(module: str, name: str, *, django: bool, processes: int = PROCESSES) -> Command:
    """A worker of the app in that module. django: whether its tasks need Django."""
    argv = [sys.executable, "-m", "celery", "-A", module, "worker", "-Q", name, "-n", node(name)]
    argv += ["-c", str(processes), "--without-gossip", "--without-mingle"]
    env = dict(os.environ)
    if not django:
        del env["DJANGO_SETTINGS_MODULE"]
    return Command(argv, env)
