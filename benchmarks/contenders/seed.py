"""The seed's design, as published: a table of jobs, one query that finds the next, one Celery message for each job.

The query counts the running jobs of every tenant and leaves out the full ones. Each submit dispatches once, and each
finished job dispatches the next. The design was published without an index; `index()` adds the obvious one.
"""

from typing import Any

from django.db import connection

from benchmarks.bells import ring
from benchmarks.contenders import celery_app
from benchmarks.contenders.contender import SLOTS, TENANTS, purge
from embedded.fleet import Command

QUEUE = "bench-seed"
app = celery_app.app(QUEUE)

TABLES = """
DROP TABLE IF EXISTS seed_jobs, seed_tenants;
CREATE TABLE seed_tenants (id int PRIMARY KEY, num_slots int NOT NULL);
CREATE TABLE seed_jobs (
    id bigserial PRIMARY KEY, tenant_id int NOT NULL, status varchar(10) NOT NULL DEFAULT 'created',
    args jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), queued_at timestamptz, start_time timestamptz,
    end_time timestamptz
)"""
TENANT = "INSERT INTO seed_tenants SELECT n, %s FROM generate_series(0, %s - 1) n"
SUBMIT = "INSERT INTO seed_jobs (tenant_id, args) VALUES (%s, jsonb_build_object('n', %s::int))"
FILL = """INSERT INTO seed_jobs (tenant_id, args)
SELECT n %% %s, jsonb_build_object('n', n) FROM generate_series(0, %s - 1) n"""
CLAIM = """
WITH running AS (
    SELECT tenant_id, count(*) AS n FROM seed_jobs WHERE status IN ('queued', 'running') GROUP BY tenant_id
),
full_tenants AS (
    SELECT running.tenant_id FROM running JOIN seed_tenants t ON t.id = running.tenant_id WHERE running.n >= t.num_slots
),
next AS (
    SELECT id FROM seed_jobs
    WHERE status = 'created' AND tenant_id NOT IN (SELECT tenant_id FROM full_tenants)
    ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1
)
UPDATE seed_jobs j SET status = 'queued', queued_at = now() FROM next WHERE j.id = next.id RETURNING j.id"""
START = """UPDATE seed_jobs SET status = 'running', start_time = now()
WHERE id = %s AND status = 'queued' RETURNING args->'n'"""
SUCCEED = "UPDATE seed_jobs SET status = 'success', end_time = now() WHERE id = %s"


def execute(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement on Django's connection, in a transaction of its own."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


@app.task
def run(job_id: int) -> None:
    """Run one job, then dispatch the next."""
    if started := execute(START, job_id):
        ring(started[0][0])
        execute(SUCCEED, job_id)
    dispatch()


def claim() -> int | None:
    """Queue the next job; return its id."""
    rows = execute(CLAIM)
    return rows[0][0] if rows else None


def dispatch() -> bool:
    """Send a message for the next job, if there is one."""
    job_id = claim()
    if job_id is not None:
        run.apply_async((job_id,))
    return job_id is not None


def index() -> None:
    """Add the obvious index."""
    execute("CREATE INDEX ON seed_jobs (status, id)")


class Seed:
    name = "seed"

    def prepare(self, slots: int = SLOTS) -> None:
        purge(app, QUEUE)
        execute(TABLES)
        execute(TENANT, slots, TENANTS)

    def submit(self, n: int) -> None:
        execute(SUBMIT, n % TENANTS, n)
        dispatch()

    def fill(self, count: int) -> None:
        execute(FILL, TENANTS, count)
        execute("VACUUM (ANALYZE) seed_jobs")

    def begin(self) -> None:
        """Fill the slots."""
        while dispatch():
            pass

    def worker(self) -> Command:
        return celery_app.worker(__name__, QUEUE, django=True)
