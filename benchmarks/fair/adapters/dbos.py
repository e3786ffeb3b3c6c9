"""DBOS: one queue for each number of slots, partitioned by tenant; `partition_concurrency` is the number of slots.

Run as a program, it is one worker: `python -m fair.adapters.dbos`.
"""

import os
import signal
import socket
import sys
from importlib.metadata import version
from itertools import count as numbers
from types import SimpleNamespace

import sqlalchemy
from dbos import DBOS, DBOSClient, DBOSConfig
from fair import body
from fair.body import Unsupported

NEEDS = {"postgresql"}
VERSION = "dbos " + version("dbos")
DOCS = "https://docs.dbos.dev/python/tutorials/queue-tutorial"
# "at most one task can run at once per user (but tasks from different users can run concurrently)" (partitioning).
LIMITS = "strict"

NAME = "fair"
POLL = 0.1  # seconds: the same for every peer that polls

made = SimpleNamespace()  # by `setup`
_queues: dict[str, str] = {}  # by tenant


@DBOS.workflow(name="run")
async def run(tenant: str, id: int, seconds: float) -> None:
    # Without a step, which would write a row more for each job.
    await body.arun(tenant, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    dsn = engines["postgresql"]
    made.engine = sqlalchemy.create_engine(dsn.replace("postgresql://", "postgresql+psycopg://", 1))
    DBOS(config=_config("setup"))
    DBOS.launch()  # it makes its tables
    DBOS.destroy()
    made.client = DBOSClient(system_database_url=dsn, application_name=NAME)
    # All partitions of a queue have one limit: tenants with another number of slots need another queue.
    for slots in set(tenants.values()):
        # "Smaller values reduce dequeue latency at the cost of more database load"; the default is 1.
        made.client.register_queue(f"slots-{slots}", partition_concurrency=slots, polling_interval_sec=POLL)
    _queues.update({tenant: f"slots-{slots}" for tenant, slots in tenants.items()})


def submit(tenant: str, bodies: list[dict]) -> None:
    options = {"workflow_name": "run", "queue_name": _queues[tenant], "queue_partition_key": tenant}
    # It has no verb for many. Many in one transaction have one `created_at`; two workers then took different ones of
    # them, and ran six at a limit of three (3.4.0). So each has its own, as with its plain verb.
    for job in bodies:
        made.client.enqueue(options, tenant, job["id"], job["seconds"])


def worker_command(at_once: int) -> list[str]:
    # The limit of a worker is of a queue. With several queues a worker may run so many jobs of each.
    for queue in set(_queues.values()):
        made.client.retrieve_queue(queue).set_worker_concurrency(at_once)
    return [sys.executable, "-m", "fair.adapters.dbos"]


def limit(tenant: str, slots: int) -> None:
    raise Unsupported("the limit is one for all partitions of a queue; what waits in a queue stays there")


def count() -> int:
    with made.engine.connect() as connection:
        sql = "SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')"
        return connection.execute(sqlalchemy.text(sql)).scalar_one()


def _config(executor: str) -> DBOSConfig:
    return {
        "name": NAME,
        "system_database_url": os.environ["DSN"],
        "executor_id": executor,
        "application_version": "1",
        "log_level": "WARNING",
    }


def work() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})  # in all threads, for sigwait
    number, held = _number()
    DBOS(config=_config(f"worker-{number}"))
    DBOS.launch()
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    DBOS.destroy()
    held.close()


def _number() -> tuple[int, socket.socket]:
    """The lowest number that no living worker has. "When an application with an executor ID restarts, it only recovers
    pending workflows assigned to that executor ID" (workflow recovery): who replaces a dead worker takes its number."""
    for number in numbers():
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0fair-dbos-{os.environ[body.BELL]}-{number}")  # no file; free again when this process dies
        except OSError:
            held.close()
        else:
            return number, held
    raise AssertionError


if __name__ == "__main__":
    work()
