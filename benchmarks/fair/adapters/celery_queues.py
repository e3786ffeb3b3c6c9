"""Celery with a queue for each tenant, as its page on routing has it, all of them taken by each worker in turn.

The workers take from the queues in turn (kombu's `round_robin`, its default), so a backlog of one tenant does not stand
before the jobs of the others. Nothing counts the running jobs of a tenant. A worker of its own for each tenant would,
if one is enough; then no tenant can use what another leaves.
"""

import os
import sys

from celery import Celery
from fair.adapters import celery as plain
from fair.body import Unsupported, run

NEEDS, LIMITS, MOST_AT_ONCE = plain.NEEDS, plain.LIMITS, plain.MOST_AT_ONCE
VERSION = plain.VERSION
DOCS = "https://docs.celeryq.dev/en/stable/userguide/routing.html"
MOST_QUEUES = 1000  # names on the command line of a worker

app = Celery("fair", broker=os.environ.get("REDIS_URL"), set_as_current=False)
OPTIONS = {**plain.OPTIONS, "queue_order_strategy": "round_robin"}
app.conf.update(plain.app.conf.changes, broker_transport_options=OPTIONS)
_queues: list[str] = []


@app.task(name="sleep")
def sleep(tenant: str, id: int, seconds: float) -> None:
    run(tenant, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    if len(tenants) > MOST_QUEUES:
        raise Unsupported(f"each of its workers would have to name and ask {len(tenants):,} queues")
    _queues.extend(tenants)


def submit(tenant: str, bodies: list[dict]) -> None:
    with app.producer_pool.acquire(block=True) as producer:
        for body in bodies:
            sleep.apply_async((tenant, body["id"], body["seconds"]), queue=tenant, producer=producer)


def worker_command(at_once: int) -> list[str]:
    argv = [sys.executable, "-m", "celery", "-A", "fair.adapters.celery_queues", "worker", "-Q", ",".join(_queues)]
    argv += ["-n", f"fair-{os.urandom(4).hex()}@%h", "-c", str(at_once)]
    return [*argv, "--without-gossip", "--without-mingle"]


limit = plain.limit


def count() -> int:
    return plain.waiting(app, _queues)
