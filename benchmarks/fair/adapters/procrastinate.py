"""Procrastinate: a lock lets one job run at a time, so a tenant with n slots has n locks; each job takes the next one.

Run as a program, it is one worker: `python -m fair.adapters.procrastinate 10`, for ten jobs at once.
"""

import itertools
import os
import sys
from collections import defaultdict
from importlib.metadata import version
from types import SimpleNamespace

import procrastinate
from fair import body
from fair.body import Unsupported

NEEDS = {"postgresql"}
VERSION = "procrastinate " + version("procrastinate")
DOCS = "https://procrastinate.readthedocs.io/en/stable/howto/advanced/locks.html"
# "If a group of jobs share the same lock, then only one can be executed at a time" (discussions, about locks).
LIMITS = "strict"

POLL = 0.1  # seconds: the same for every peer that polls
DEAD = 10  # seconds without a heartbeat after which a worker is dead: the same for every peer that can be told it

made = SimpleNamespace()  # by `setup`
_locks: dict[str, "itertools.cycle[str]"] = {}


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    connector = procrastinate.SyncPsycopgConnector(conninfo=engines["postgresql"])
    made.app = procrastinate.App(connector=connector)
    made.app.open()
    made.app.schema_manager.apply_schema()
    # Its docs give a lock to a customer. They have no lock of several jobs: several locks are the way to it.
    for tenant, slots in tenants.items():
        _locks[tenant] = itertools.cycle([f"{tenant}/{slot}" for slot in range(slots)])


def submit(tenant: str, bodies: list[dict]) -> None:
    by_lock = defaultdict(list)
    for job in bodies:
        by_lock[next(_locks[tenant])].append({"tenant": tenant, "id": job["id"], "seconds": job["seconds"]})
    # "Batch defer multiple jobs": one call for all jobs of a lock, as the lock belongs to the description of the job.
    for lock, jobs in by_lock.items():
        made.app.configure_task("run", lock=lock).batch_defer(*jobs)


def worker_command(at_once: int) -> list[str]:
    return [sys.executable, "-m", "fair.adapters.procrastinate", str(at_once)]


def limit(tenant: str, slots: int) -> None:
    raise Unsupported("a job keeps the lock that it was deferred with")


def count() -> int:
    jobs = made.app.job_manager
    return sum(len(list(jobs.list_jobs(task="run", status=status))) for status in ("todo", "doing"))


def work(at_once: int) -> None:
    """One worker process; its jobs are coroutines, `concurrency` of them at once (docs: execute multiple jobs)."""
    # "as many connections as your concurrency (plus one)" for short jobs (discussions, size of the pool).
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=os.environ["DSN"], max_size=at_once + 1))
    app.task(name="run")(body.arun)
    _retry_stalled(app)
    app.run_worker(
        concurrency=at_once,
        # A lock that was freed is found by polling: no notification tells of it. The default is 5.
        fetch_job_polling_interval=POLL,
        update_heartbeat_interval=DEAD / 5,
        stalled_worker_timeout=DEAD,
    )


def _retry_stalled(app: procrastinate.App) -> None:
    """Jobs of dead workers run again, as "Retry stalled jobs" has it; each five seconds instead of ten minutes."""

    @app.periodic(cron="* * * * * */5")
    @app.task(name="retry_stalled", queueing_lock="retry_stalled", priority=100)
    async def retry_stalled(timestamp: int) -> None:
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=DEAD):
            await app.job_manager.retry_job(job)


if __name__ == "__main__":
    from fair.adapters import procrastinate as module  # its docs: an app is not made in the main module

    module.work(int(sys.argv[1]))
