"""Celery alone, as its first steps have it: one queue, a pool of processes, no tenants and so no limits of theirs.

One message at a time for each process, as its docs advise where jobs differ in length; late acknowledgement, so that a
job of a killed worker is not lost. With Redis such a job comes back after the visibility timeout: it must be longer
than the longest job, 20 s here. Celery's default is an hour. Kombu looks for such jobs every five seconds here, as the
other queues look for dead workers; its default is every hundred.
"""

import os
import sys
from importlib.metadata import version

from celery import Celery
from fair.body import Unsupported, run

NEEDS = {"redis"}
VERSION = f"Celery {version('celery')}, broker Redis"
DOCS = "https://docs.celeryq.dev/en/stable/userguide/optimizing.html"
LIMITS = "none"
MOST_AT_ONCE = 64  # processes
OPTIONS = {"visibility_timeout": 30, "unacked_restore_interval": 5, "unacked_restore_throttle": 1}  # seconds; each time

app = Celery("fair", broker=os.environ.get("REDIS_URL"), set_as_current=False)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    broker_transport_options=OPTIONS,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)


@app.task(name="sleep")
def sleep(tenant: str, id: int, seconds: float) -> None:
    run(tenant, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    """There is nothing to tell it."""


def submit(tenant: str, bodies: list[dict]) -> None:
    with app.producer_pool.acquire(block=True) as producer:  # one connection for all
        for body in bodies:
            sleep.apply_async((tenant, body["id"], body["seconds"]), producer=producer)


def worker_command(at_once: int) -> list[str]:
    number = os.urandom(4).hex()
    argv = [sys.executable, "-m", "celery", "-A", "fair.adapters.celery", "worker", "-n", f"fair-{number}@%h"]
    return [*argv, "-c", str(at_once), "--without-gossip", "--without-mingle"]


def limit(tenant: str, slots: int) -> None:
    raise Unsupported("Celery has no limit for a tenant: a rate limit is of one task in one worker.")


def count() -> int:
    return waiting(app, ["celery"])


def waiting(app: Celery, queues: list[str]) -> int:
    """Messages in the queues, and those that a worker has not acknowledged."""
    with app.connection_for_read() as connection:
        channel = connection.default_channel
        return sum(map(channel._size, queues)) + channel.client.hlen(channel.unacked_key)
