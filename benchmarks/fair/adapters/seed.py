"""The design that this project began with: a table of jobs, one query that finds the next, a Celery message for each.

The query counts the running jobs of every tenant and leaves out the full ones. Each submit and each end dispatches the
next job. Two dispatches at once do not see each other, so its limit is meant to be strict, and is not.
"""

import json
import os
import sys
from functools import cache

import psycopg
from celery import Celery
from fair.body import run

from benchmarks.contenders.seed import CLAIM, TABLES

NEEDS = {"postgresql", "redis"}
VERSION = "the seed's design, with the obvious index"
DOCS = "compared.md"
LIMITS = "strict"
MOST_AT_ONCE = 64  # processes

SUBMIT = "INSERT INTO seed_jobs (tenant_id, args) VALUES (%s, %s)"
START = """UPDATE seed_jobs SET status = 'running', start_time = now()
WHERE id = %s AND status = 'queued' RETURNING args"""
SUCCEED = "UPDATE seed_jobs SET status = 'success', end_time = now() WHERE id = %s"

app = Celery("fair", broker=os.environ.get("REDIS_URL"), set_as_current=False)
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)
_numbers: dict[str, int] = {}


@cache
def _connection(pid: int) -> psycopg.Connection:
    return psycopg.connect(os.environ["DSN"], autocommit=True)


def _execute(statement: str, *parameters: object) -> list[tuple]:
    with _connection(os.getpid()).cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


@app.task(name="run")
def run_job(job_id: int) -> None:
    if started := _execute(START, job_id):
        run(**started[0][0])
        _execute(SUCCEED, job_id)
    _dispatch()


def _dispatch() -> bool:
    claimed = _execute(CLAIM)
    if claimed:
        run_job.apply_async((claimed[0][0],))
    return bool(claimed)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    _execute(TABLES)
    _execute("CREATE INDEX ON seed_jobs (status, id)")
    _numbers.update({tenant: number for number, tenant in enumerate(tenants)})
    with _connection(os.getpid()).cursor() as cursor:
        cursor.executemany(
            "INSERT INTO seed_tenants VALUES (%s, %s)", [(_numbers[name], slots) for name, slots in tenants.items()]
        )


def submit(tenant: str, bodies: list[dict]) -> None:
    rows = [
        (_numbers[tenant], json.dumps({"tenant": tenant, "id": body["id"], "seconds": body["seconds"]}))
        for body in bodies
    ]
    with _connection(os.getpid()).cursor() as cursor:
        cursor.executemany(SUBMIT, rows)
    for _ in bodies:
        if not _dispatch():
            break


def worker_command(at_once: int) -> list[str]:
    argv = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "fair.adapters.seed",
        "worker",
        "-n",
        f"seed-{os.urandom(4).hex()}@%h",
    ]
    return [*argv, "-c", str(at_once), "--without-gossip", "--without-mingle"]


def limit(tenant: str, slots: int) -> None:
    _execute("UPDATE seed_tenants SET num_slots = %s WHERE id = %s", slots, _numbers[tenant])
    _dispatch()


def count() -> int:
    return _execute("SELECT count(*) FROM seed_jobs WHERE end_time IS NULL")[0][0]
