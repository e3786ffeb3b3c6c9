"""Oban for Python, its open edition: a queue for each tenant, with the slots divided among the workers.

Run as a program, it is one worker: `python -m fair.adapters.oban 10`, for ten jobs at once.
"""

import asyncio
import os
import signal
import sys
from importlib.metadata import version
from types import SimpleNamespace

import uvloop
from fair import body
from oban import Oban, job
from oban.schema import install

NEEDS = {"postgresql"}
VERSION = "oban " + version("oban")
DOCS = "https://oban.pro/docs/py/defining_queues.html"
# "Queue limits are local (per-node), not global (per-cluster)". A limit over all nodes, by partition, is in Oban Pro.
LIMITS = "per worker"

DEAD = 10  # seconds without a heartbeat after which a worker is dead: the same for every peer that can be told it
# Jobs of a dead worker come back after this time, whatever their worker does: it "should be longer than your
# longest-running job" (job maintenance), here of 20 seconds; the default is 300.
RESCUE = 30

made = SimpleNamespace()  # by `setup`, or `work`
_loop = asyncio.new_event_loop()


@job()
async def run(tenant: str, id: int, seconds: float) -> None:
    # Nothing in Oban bounds the jobs of all queues of a node together. Ours must: the other peers' workers do.
    async with made.places:
        await body.arun(tenant, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    _loop.run_until_complete(_setup(engines["postgresql"], tenants))


async def _setup(dsn: str, tenants: dict[str, int]) -> None:
    made.pool = await Oban.create_pool(dsn)
    await install(made.pool)
    made.client = await Oban(pool=made.pool).start()  # without queues: a client
    # Queues are declared where a worker starts; here it reads them then.
    async with made.pool.connection() as connection, connection.cursor() as cursor:
        await cursor.execute("CREATE TABLE fair_tenants (name text PRIMARY KEY, slots int NOT NULL)")
        await cursor.executemany("INSERT INTO fair_tenants VALUES (%s, %s)", list(tenants.items()))


def submit(tenant: str, bodies: list[dict]) -> None:
    jobs = [run.new(tenant, work["id"], work["seconds"]) for work in bodies]
    for new in jobs:
        new.queue = tenant
    _loop.run_until_complete(made.client.enqueue_many(jobs))


def worker_command(at_once: int) -> list[str]:
    return [sys.executable, "-m", "fair.adapters.oban", str(at_once)]


def limit(tenant: str, slots: int) -> None:
    _loop.run_until_complete(_scale(tenant, slots))


async def _scale(tenant: str, slots: int) -> None:
    async with made.pool.connection() as connection:
        # For workers that start later; and how many run now.
        await connection.execute("UPDATE fair_tenants SET slots = %s WHERE name = %s", [slots, tenant])
        found = await connection.execute("SELECT count(*) FROM oban_producers WHERE queue = %s", [tenant])
        workers = (await found.fetchone())[0]
    # "A queue's concurrency limit may be changed across all nodes at runtime without restarting" (managing queues).
    await made.client.scale_queue(queue=tenant, limit=_share(slots, workers))


def _share(slots: int, workers: int) -> int:
    """Return the limit of one worker: "a local limit of 2 on three separate nodes is effectively a global limit of six
    concurrent jobs", so who wants six sets two. It is one at least."""
    return max(1, slots // max(1, workers))


def count() -> int:
    return _loop.run_until_complete(_count())


async def _count() -> int:
    sql = "SELECT count(*) FROM oban_jobs WHERE state IN ('available', 'scheduled', 'executing', 'retryable')"
    async with made.pool.connection() as connection:
        return (await (await connection.execute(sql)).fetchone())[0]


async def work(at_once: int) -> None:
    made.places = asyncio.Semaphore(at_once)
    # "The default of 10 is comfortable for most deployments": no connection for each job (sizing the pool).
    pool = await Oban.create_pool(os.environ["DSN"])
    async with pool.connection() as connection:
        rows = await (await connection.execute("SELECT name, slots FROM fair_tenants")).fetchall()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Oban(
        pool=pool,
        queues={name: _share(slots, int(os.environ["WORKERS"])) for name, slots in rows},
        lifeline={"interval": DEAD / 2, "rescue_after": RESCUE},
        refresher={"interval": DEAD / 5, "max_age": DEAD},
    ):
        await stop.wait()
    await pool.close()


if __name__ == "__main__":
    from fair.adapters import oban  # a job names this module: the worker would import it a second time

    uvloop.run(oban.work(int(sys.argv[1])))  # its command uses it
