"""A large installation in its tables: the history of a year, waiting jobs of many tenants, the last day's statistics.

A change of the columns of these tables also needs a change here.
"""

from datetime import UTC, datetime, timedelta

from django.db import connection

from benchmarks import fill, finishing
from jobs import store
from jobs.engine.upkeep.history import month_of
from jobs.models import Arrival, Queue
from jobs.reading.statistics import BUCKETS
from jobs.recording import record
from jobs.store import partitions
from tenants.models import Tenant

QUEUES, PROCESSES, MONTHS = 4, 24, 12
SLOTS = 5  # of each tenant

HISTORY = """
INSERT INTO job_history (
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, status, attempt, crashes,
    retries, barred, progress_note, stats, last_error, created_at, queued_at, start_time, end_time, worker,
    failed_attempts
)
SELECT
    nextval(pg_get_serial_sequence('jobs', 'id')), (%(tenants)s::bigint[])[1 + n %% cardinality(%(tenants)s::bigint[])],
    (%(queues)s::bigint[])[1 + n %% cardinality(%(queues)s::bigint[])], 5, 'user' || n %% 50,
    'workload.thing', n::text, 'echo', '{"region": "EU"}', CASE WHEN n %% 50 = 0 THEN 'error' ELSE 'success' END,
    1, 0, 0, false, '', '{}', CASE WHEN n %% 50 = 0 THEN 'TimeoutError: timed out' ELSE '' END, at, at, at, at,
    gen_random_uuid(), '[]'
FROM generate_series(0, %(count)s - 1) n
CROSS JOIN LATERAL (SELECT %(starts)s::timestamptz + n * (interval '27 days' / %(count)s) AS at) moment"""

WAITING = f"""
WITH stored AS (
    INSERT INTO jobs ({fill.COLUMNS}, status, ready_at)
    SELECT (%(tenants)s::bigint[])[1 + n %% cardinality(%(tenants)s::bigint[])],
        (%(queues)s::bigint[])[1 + (n %% cardinality(%(tenants)s::bigint[])) %% cardinality(%(queues)s::bigint[])],
        5, '', 'workload.thing', n::text, 'echo', '{{}}', 0, 0, 0, '', '{{}}', '', 'created', now()
    FROM generate_series(0, %(count)s - 1) n
    RETURNING queue_id, tenant_id, job_place(priority, id) AS place
)
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), count(*) FROM stored
GROUP BY queue_id, tenant_id"""  # noqa: S608

DEAD = f"""
INSERT INTO jobs ({fill.COLUMNS}, status, error_key, end_time, died_at, queued_at)
SELECT (%(tenants)s::bigint[])[1 + n %% cardinality(%(tenants)s::bigint[])], (%(queues)s::bigint[])[1],
    5, '', 'workload.thing', n::text, 'echo', '{{}}', 1, 0, 0, '', '{{}}', 'Error' || n %% 7 || ': no',
    'dead', n %% 7, at, at, at
FROM generate_series(0, %(count)s - 1) n CROSS JOIN LATERAL (SELECT now() - n * interval '20 seconds' AS at) moment"""  # noqa: S608

ATTEMPTS = """
INSERT INTO attempts (
    ended_at, start_time, queued_at, waited_since, job_id, tenant_id, queue_id, attempt, priority, outcome, source_type,
    source_method, user_key
)
SELECT at, at - interval '1 second', at - interval '2 seconds', at - interval '9 seconds', n,
    (%(tenants)s::bigint[])[1 + n %% cardinality(%(tenants)s::bigint[])],
    (%(queues)s::bigint[])[1 + n %% cardinality(%(queues)s::bigint[])], 1, 5,
    CASE WHEN n %% 50 = 0 THEN 'error' ELSE 'success' END, 'workload.thing', 'echo', ''
FROM generate_series(0, %(count)s - 1) n
CROSS JOIN LATERAL (SELECT now() - n * (interval '1 hour' / %(count)s) AS at) moment"""

HOURS = """
INSERT INTO tenant_hours (
    tenant_id, hour, queue_id, source_type, source_method, outcome, attempts, run_seconds, wait_seconds, run_buckets,
    wait_buckets
)
SELECT tenant_id, date_trunc('hour', now()) - h * interval '1 hour', 1, 'workload.thing', 'echo', 'success', 40, 40, 90,
    array_fill(1, ARRAY[%(buckets)s]), array_fill(1, ARRAY[%(buckets)s])
FROM unnest(%(tenants)s::bigint[]) AS t (tenant_id) CROSS JOIN generate_series(1, 23) h"""

SHARES = """
INSERT INTO tenant_shares (tenant_id, got, entitled, got_hour, entitled_hour)
SELECT tenant_id, 40, 50, 400, 480 FROM unnest(%(tenants)s::bigint[]) AS t (tenant_id)"""


def build(*, tenants: int, waiting: int, finished: int, dead: int, ended: int) -> list[Tenant]:
    """Fill the tables: so many tenants with work; jobs waiting, finished and dead; attempts of the last hour."""
    made = fill.tenants(tenants, slots=SLOTS)
    queues = [Queue.objects.get(name="default").pk]
    queues += [Queue.objects.create(name=f"queue-{n}", pool=fill.POOL).pk for n in range(1, QUEUES)]
    parameters: dict[str, object] = {"tenants": [tenant.pk for tenant in made], "queues": queues, "buckets": BUCKETS}
    record.keep_partitions()
    _history(parameters, finished)
    for text, count in ((WAITING, waiting), (DEAD, dead), (ATTEMPTS, ended), (HOURS, 0), (SHARES, 0)):
        _run(text, parameters | {"count": count})
    while Arrival.objects.exists():
        store.claim()
    finishing.register(PROCESSES)
    while claimed := store.claim():
        for job in claimed:
            store.start(job.id, job.attempt, store.Seat.here(finishing.WORKER))
    fill.vacuum(everything=True)
    return made


def _history(parameters: dict[str, object], finished: int) -> None:
    """As much in each of the last twelve months."""
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _ in range(MONTHS):
        starts, ends = month_of(month - timedelta(days=1))
        partitions.ensure("job_history", starts, ends)
        _run(HISTORY, parameters | {"count": finished // MONTHS, "starts": starts})
        month = starts


def _run(text: str, parameters: dict[str, object]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
