"""An auditor: reads committed states, again and again, and keeps every limit that it saw exceeded."""

import threading
from typing import Self

import psycopg
from django.db import connection

# A limit counts as the largest in force since some seconds before the newest of these claims: a lowered limit ends
# nothing, and a frozen or cut-off worker ends late.
RECENT = """
coalesce((
    SELECT max({limit}) FROM limit_changes c
    WHERE c.kind = '{kind}' AND c.subject = {subject} AND c.limits IS NOT NULL AND (
        c.at > newest - interval '30 s'
        OR c.id = (
            SELECT max(id) FROM limit_changes
            WHERE kind = '{kind}' AND subject = {subject} AND at <= newest - interval '30 s'
        )
    )
), 1000000)
"""
SLOTS = "greatest((c.limits ->> 'num_slots')::int, (c.limits ->> 'burst_slots')::int)"
LIMIT = "coalesce((c.limits ->> '%s')::int, 1000000)"
# A tenant that has no number of its own in a queue may hold there what all may.
LANE = f"""coalesce(
    (c.limits -> 'queue_slots' ->> queue_name)::int,
    {RECENT.format(limit=LIMIT % "tenant_slots", kind="queue", subject="queue_id")}
)"""
VIOLATIONS = f"""
WITH held AS (
    SELECT j.*, q.name AS queue_name, q.pool
    FROM jobs j JOIN queues q ON q.id = j.queue_id WHERE j.slot IS NOT NULL
)
SELECT * FROM (
    SELECT 'tenant ' || tenant_id AS what, n, {RECENT.format(limit=SLOTS, kind="tenant", subject="tenant_id")} AS most
    FROM (SELECT tenant_id, count(*) AS n, max(queued_at) AS newest FROM held GROUP BY tenant_id) of_tenant
    UNION ALL
    SELECT 'user ' || user_key, n, {RECENT.format(limit=LIMIT % "user_slots", kind="tenant", subject="tenant_id")}
    FROM (
        SELECT tenant_id, user_key, count(*) AS n, max(queued_at) AS newest FROM held WHERE user_key <> ''
        GROUP BY tenant_id, user_key
    ) of_user
    UNION ALL
    SELECT 'queue ' || queue_name, n, {RECENT.format(limit=LIMIT % "concurrency", kind="queue", subject="queue_id")}
    FROM (
        SELECT queue_id, queue_name, count(*) AS n, max(queued_at) AS newest FROM held GROUP BY queue_id, queue_name
    ) of_queue
    UNION ALL
    SELECT 'lane ' || tenant_id || ' in ' || queue_name, n,
        {RECENT.format(limit=LANE, kind="tenant", subject="tenant_id")}
    FROM (
        SELECT tenant_id, queue_id, queue_name, count(*) AS n, max(queued_at) AS newest FROM held
        GROUP BY tenant_id, queue_id, queue_name
    ) of_lane
    UNION ALL
    SELECT 'pool ' || pool, count(*), max(w.capacity)
    FROM held JOIN (
        -- One that drains or is cut off may run what it was given: as before, or as four processes, a test's most.
        SELECT pool, sum(CASE WHEN concurrency > 0 AND cut_off_at IS NULL THEN concurrency ELSE most.n END) AS capacity
        FROM workers CROSS JOIN LATERAL (
            SELECT greatest(
                workers.seats * greatest(4, (SELECT max(concurrency / seats) FROM workers)),
                (SELECT max(processes * coalesce(seats, 1)) FROM pool_changes c WHERE c.pool = workers.pool)
            ) AS n
        ) most
        GROUP BY pool
    ) w USING (pool)
    GROUP BY pool
) looked
WHERE n > most
"""


class Auditor:
    """`with Auditor() as auditor: ...`, then look at `violations` and `looks`."""

    pause = 0.0  # seconds between two looks

    def __init__(self) -> None:
        self.violations: list[tuple[str, int, int]] = []
        self.looks = 0
        self._parameters = connection.get_connection_params()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="auditor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        with psycopg.connect(**self._parameters, autocommit=True) as session:
            while not self._stop.wait(self.pause):
                self.violations += session.execute(VIOLATIONS).fetchall()
                self.looks += 1
