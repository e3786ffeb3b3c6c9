"""Run a worker in this process, as Celery's own command line does, with all that a worker of jobs needs."""

import os
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module

from django.apps import apps
from django.core.management import call_command
from django.utils.autoreload import StatReloader

from jobs.calls.functions import discover
from jobs.celery import celery_app, is_configured
from jobs.checks import refuse_to_start

LOAD = "from jobs.worker import launch; launch.load()"


def run(pool: str, concurrency: int | None) -> int:
    """Run until SIGTERM or Ctrl-C, which let running jobs end; return the exit status.

    concurrency: how many processes; None: one for each processor
    """
    if not is_configured():
        refuse_to_start("No app of Celery carries jobs: call jobs.celery.configure(app), and import it (jobs.E005)")
    options = {"queues": pool, "concurrency": concurrency, "without_gossip": True, "without_mingle": True}
    # Two nodes of one machine need different names. Gossip and mingle, messages between workers, are not needed.
    worker = celery_app().Worker(hostname=f"{pool}-{os.getpid()}@{socket.gethostname()}", **options)
    worker.start()
    return int(worker.exitcode or 0)


def run_reloading(pool: str, concurrency: int | None) -> int:
    """Run for development: start anew when code changes that this process has imported."""
    changes = Changes()
    # Import all before the first look, and before the children are forked: so all of their code is watched.
    broken = discover()
    for app in apps.get_app_configs():
        if f"{app.name}.tasks" in broken:
            changes.watch_dir(app.path, "**/*.py")
    threading.Thread(target=changes.run_loop, name="changes", daemon=True).start()
    status = run(pool, concurrency)
    if changes.should_stop:
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - the same process: a terminal keeps it
    return status


def load() -> None:
    """Load all that a worker loads. Raises the errors of the system checks, and those of a module's own code."""
    call_command("check")
    for module in discover():
        import_module(module)


class Changes(StatReloader):
    """The watcher that ends the worker of this process when a module has changed and all code can be loaded."""

    def notify_file_changed(self, path: object) -> None:
        if not self.should_stop and self._can_be_loaded():
            self.stop()
            os.kill(os.getpid(), signal.SIGTERM)

    def _can_be_loaded(self) -> bool:
        """Return whether another process can load the code now: an editor may have saved half a line.

        If not, the next change is tried again.
        """
        load = [sys.executable, sys.argv[0], "shell", "--verbosity", "0", "--command", LOAD]
        checked = subprocess.run(load, capture_output=True, text=True, check=False)
        if checked.returncode:
            print(checked.stderr, file=sys.__stderr__)  # Celery sends sys.stderr to the log
        return not checked.returncode
