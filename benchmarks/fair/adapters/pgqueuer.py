"""PgQueuer: an entrypoint for each tenant, whose `concurrency_limit` is the tenant's number of slots.

Run as a program, it is one worker: `python -m fair.adapters.pgqueuer 10`, for ten jobs at once.
"""

import asyncio
import json
import os
import sys
from datetime import timedelta
from importlib.metadata import version
from types import SimpleNamespace

import asyncpg
import pgqueuer
import uvloop
from fair import body
from fair.body import Unsupported
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

NEEDS = {"postgresql"}
VERSION = "pgqueuer " + version("pgqueuer")
DOCS = "https://janbjorge.github.io/pgqueuer/guides/concurrency-control/"
LIMITS = "strict"  # "at most 5 jobs run across your entire fleet"; numbered seats under a unique index since 1.4.0

DEAD = 10  # seconds without a heartbeat after which a worker is dead: the same for every peer that can be told it

made = SimpleNamespace()  # by `setup`
_loop = asyncio.new_event_loop()


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    _loop.run_until_complete(_setup(engines["postgresql"], tenants))


async def _setup(dsn: str, tenants: dict[str, int]) -> None:
    made.connection = await asyncpg.connect(dsn)
    queries = Queries(AsyncpgDriver(made.connection))
    await queries.install()
    await queries.optimize_autovacuum()  # its checklist: "Run pgq autovac after installation"
    # Its limits are declared in the workers' code. Here the workers read them, when they start.
    await made.connection.execute("CREATE TABLE fair_tenants (name text PRIMARY KEY, slots int NOT NULL)")
    await made.connection.executemany("INSERT INTO fair_tenants VALUES ($1, $2)", list(tenants.items()))


def submit(tenant: str, bodies: list[dict]) -> None:
    # Lists are its batch insert: one statement for all.
    payloads = [json.dumps({"id": job["id"], "seconds": job["seconds"]}).encode() for job in bodies]
    queries = Queries(AsyncpgDriver(made.connection))
    _loop.run_until_complete(queries.enqueue([tenant] * len(payloads), payloads, [0] * len(payloads)))


def worker_command(at_once: int) -> list[str]:
    return [sys.executable, "-m", "fair.adapters.pgqueuer", str(at_once)]


def limit(tenant: str, slots: int) -> None:
    # "All workers must declare the same concurrency_limit ... If they disagree, the highest value wins" (1.4.0).
    raise Unsupported("the limit is declared in the code of the workers, which must all restart")


def count() -> int:
    return _loop.run_until_complete(made.connection.fetchval("SELECT count(*) FROM pgqueuer"))


async def run(job: Job) -> None:
    await body.arun(job.entrypoint, **json.loads(job.payload))


async def work(at_once: int) -> None:
    # "Use a dedicated connection for LISTEN": a connection, not a pool, for a worker (performance tuning).
    connection = await asyncpg.connect(os.environ["DSN"])
    worker = pgqueuer.PgQueuer(AsyncpgDriver(connection))
    for name, slots in await connection.fetch("SELECT name, slots FROM fair_tenants"):
        worker.entrypoint(name, concurrency_limit=slots)(run)
    # "max_concurrent_tasks must be at least 2 x batch_size": the largest batch that so many at once allow.
    await worker.run(
        batch_size=max(1, at_once // 2), max_concurrent_tasks=at_once, heartbeat_timeout=timedelta(seconds=DEAD)
    )


if __name__ == "__main__":
    uvloop.run(work(int(sys.argv[1])))  # its command uses it
