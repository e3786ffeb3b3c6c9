"""dj_queue, a backend of Django's tasks: `concurrency` by the tenant as key; its limit is the tenant's number of slots.

Run as a program, it is one worker: `python -m fair.adapters.dj_queue 10`, for ten jobs at once.
"""

import functools
import os
import sys
from importlib.metadata import version
from types import SimpleNamespace

from django.conf import settings
from django.core.management import call_command
from fair import body
from fair.adapters import _django
from fair.body import Unsupported

NEEDS = {"postgresql"}
VERSION = "dj_queue " + version("dj_queue")
DOCS = "https://github.com/coriocactus/dj_queue#concurrency-controls"
LIMITS = "strict"  # "database-backed concurrency limits"; a lease lapses after `duration`, 180 s if not said

# A thread with a connection of its own for each: "size PostgreSQL max_connections ... first" (queue health).
MOST_AT_ONCE = 200
DEAD = 10  # seconds without a heartbeat after which a worker is dead: the same for every peer that can be told it


made = SimpleNamespace()  # by `setup`


def configure(dsn: str, at_once: int) -> None:
    # Connections last: "It can materially improve worker throughput by reusing ... connections".
    tasks = {"BACKEND": "dj_queue.backend.DjQueueBackend", "QUEUES": [], "OPTIONS": _options(at_once)}
    _django.configure(dsn, "dj_queue", tasks)


def _options(at_once: int) -> dict:
    return {
        "mode": "async",  # "threads in one process, i.e., lower memory"; the runner starts as many as it wants
        # Each tenth of a second is its default of polling, and LISTEN is on: as with the other peers.
        "workers": [{"queues": "*", "threads": at_once, "processes": 1}],
        # What a dead worker's jobs held is freed by maintenance; its default is each 600 seconds.
        "dispatchers": [{"concurrency_maintenance_interval": DEAD / 2}],
        "process_heartbeat_interval": DEAD / 5,
        "process_alive_threshold": DEAD,
    }


def __getattr__(name: str):
    """`slots_3`: the task of tenants with three slots. A limit belongs to the code of a task; who has another number
    needs another task. They share no key, as a tenant has one number."""
    if name.startswith("slots_") and settings.configured:
        return _task(int(name.removeprefix("slots_")))
    raise AttributeError(name)


@functools.cache
def _task(slots: int):
    from dj_queue.api import concurrency
    from django.tasks import task

    def run(tenant: str, id: int, seconds: float) -> None:
        body.run(tenant, id, seconds)

    run.__qualname__ = run.__name__ = f"slots_{slots}"  # where the worker looks for it
    run.__module__ = "fair.adapters.dj_queue"
    return task(concurrency(key="{tenant}", limit=slots, on_conflict="block")(run))


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    made.tenants = tenants
    configure(engines["postgresql"], 1)
    call_command("migrate", verbosity=0)
    _tune()


def _tune() -> None:
    """Its docs: "Tune autovacuum"; the command prints the statements, and leaves it to the operator to apply them."""
    from io import StringIO

    from django.db import connection

    printed = StringIO()
    call_command("dj_queue_postgres_autovacuum", stdout=printed)
    with connection.cursor() as cursor:
        cursor.execute(printed.getvalue())


def submit(tenant: str, bodies: list[dict]) -> None:
    task = _task(made.tenants[tenant])
    # "Use enqueue_all() when you need one backend call to submit many jobs."
    task.get_backend().enqueue_all([(task, [tenant, job["id"], job["seconds"]], {}) for job in bodies])


def worker_command(at_once: int) -> list[str]:
    return [sys.executable, "-m", "fair.adapters.dj_queue", str(at_once)]


def limit(tenant: str, slots: int) -> None:
    raise Unsupported("a job keeps the limit that its task had when it was enqueued")


def count() -> int:
    from dj_queue.models import Job

    return Job.objects.filter(finished_at=None, failed_execution=None).count()


if __name__ == "__main__":
    configure(os.environ["DSN"], int(sys.argv[1]))
    call_command("dj_queue")
