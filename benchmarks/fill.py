"""Insert millions of jobs directly into the tables. Only this module and `installation` know the schema.

A change of the columns of a waiting, a running or a finished job also needs a change of WAITING, RUNNING or FINISHED.
"""

import uuid

from django.db import connection

from benchmarks import POOL
from jobs import store
from jobs.models import Arrival, Queue
from tenants.models import Tenant, TenantQueue

COLUMNS = """
    tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args,
    attempt, crashes, retries, progress_note, stats, last_error"""
_VALUES = """
    (%(tenants)s::bigint[])[1 + n %% cardinality(%(tenants)s::bigint[])],
    %(queue)s, 5, CASE WHEN %(users)s > 1 THEN 'user' || n %% %(users)s ELSE '' END,
    'workload.thing', n::text, 'echo', '{}',
    %(attempt)s, 0, 0, '', '{}', ''"""

# Autovacuum's threshold: an installation of ten tenants has no statistics of them. One of thousands has, or its foreign
# keys would be checked by a plan for a table of ten rows.
UNANALYSED = 50  # rows

WAITING = f"""
WITH stored AS (
    INSERT INTO jobs ({COLUMNS}, status, ready_at)
    SELECT {_VALUES}, 'created', now() FROM generate_series(0, %(count)s - 1) n
    RETURNING queue_id, tenant_id, job_place(priority, id) AS place
)
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), count(*) FROM stored
GROUP BY queue_id, tenant_id"""  # noqa: S608

# The slots of each tenant from 1 on. The ticket is the moment of the claim in milliseconds.
RUNNING = f"""
INSERT INTO jobs (
    {COLUMNS}, status, slot, ticket, worker, waited_since, queued_at, handed_at, start_time
)
SELECT {_VALUES}, 'running', 1 + n / cardinality(%(tenants)s::bigint[]), (extract(epoch FROM at) * 1000)::bigint,
    %(worker)s, at, at, at, at
FROM generate_series(0, %(count)s - 1) n
CROSS JOIN LATERAL (SELECT now() - (n + 1) * %(over)s / %(count)s * interval '1 second' AS at) moment"""  # noqa: S608

FINISHED = f"""
INSERT INTO jobs ({COLUMNS}, status, created_at, queued_at, start_time, end_time, worker)
SELECT {_VALUES}, 'success', now(), now(), now(), now(), gen_random_uuid()
FROM generate_series(0, %(count)s - 1) n"""  # noqa: S608


def tenants(count: int, *, slots: int, weights: list[int] | None = None) -> list[Tenant]:
    """Create tenants with so many slots each, and let the benchmark's pool serve the one queue."""
    Queue.objects.update_or_create(name="default", defaults={"pool": POOL})
    first = Tenant.objects.count()
    made = Tenant.objects.bulk_create(Tenant(name=f"bench {n}", slug=f"bench-{n}") for n in range(first, first + count))
    TenantQueue.objects.bulk_create(
        TenantQueue(tenant=tenant, num_slots=slots, weight=weights[place] if weights else 1)
        for place, tenant in enumerate(made)
    )
    if count > UNANALYSED:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {Tenant._meta.db_table}, {TenantQueue._meta.db_table}")
    return made


def waiting(tenants: list[Tenant], count: int, *, users: int = 1) -> None:
    """Add so many waiting jobs, for the tenants and their users in turn; vacuum and analyse."""
    arriving(tenants, count, users=users)
    vacuum()


def arriving(tenants: list[Tenant], count: int, *, users: int = 1, queue: str = "default") -> None:
    """The same in the state of the first minute: not vacuumed, not analysed."""
    _insert(WAITING, tenants, count, users=users, queue=queue)


def running(tenants: list[Tenant], count: int, *, worker: uuid.UUID, over: float = 10.0) -> None:
    """Add so many running jobs of the tenants in turn, claimed and started during the last `over` seconds.

    Call it after `waiting`, and before a worker is registered: passes that claim nothing first make the lanes.
    """
    while Arrival.objects.exists():
        store.claim()
    _insert(RUNNING, tenants, count, attempt=1, worker=worker, over=over)
    store.recount_books()
    vacuum()


def finished(tenants: list[Tenant], count: int) -> None:
    """Add so many succeeded jobs."""
    _insert(FINISHED, tenants, count)
    vacuum()


def vacuum(*, everything: bool = False) -> None:
    """Do the work of autovacuum within a minute; everything: also the small tables, which autovacuum skips."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)" if everything else "VACUUM (ANALYZE) jobs")


def _insert(
    statement: str,
    tenants: list[Tenant],
    count: int,
    users: int = 1,
    *,
    attempt: int = 0,
    queue: str = "default",
    **more: object,
) -> None:
    shared = {"queue": Queue.objects.get(name=queue).pk, "count": count, "users": users}
    parameters: dict[str, object] = {"tenants": [tenant.pk for tenant in tenants], **shared}
    parameters |= {"attempt": attempt, **more}
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE jobs SET (autovacuum_enabled = off)")  # `vacuum` says when
        cursor.execute(statement, parameters)
