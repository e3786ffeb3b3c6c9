"""An auditor: reads committed states, again and again, and keeps every limit that it saw exceeded."""

import threading
from typing import Self

import psycopg
from django.db import connection

VIOLATIONS = """
WITH held AS (
    SELECT j.*, q.name AS queue_name, q.pool, q.concurrency
    FROM jobs j JOIN queues q ON q.id = j.queue_id WHERE j.slot IS NOT NULL
)
SELECT 'tenant ' || h.tenant_id, count(*), max(greatest(t.num_slots, t.burst_slots))
FROM held h JOIN tenant_queues t USING (tenant_id)
GROUP BY h.tenant_id HAVING count(*) > max(greatest(t.num_slots, t.burst_slots))
UNION ALL
SELECT 'user ' || user_key, count(*), max(t.user_slots)
FROM held h JOIN tenant_queues t USING (tenant_id) WHERE user_key <> ''
GROUP BY tenant_id, user_key HAVING count(*) > max(t.user_slots)
UNION ALL
SELECT 'queue ' || queue_name, count(*), max(concurrency)
FROM held GROUP BY queue_name HAVING count(*) > max(concurrency)
UNION ALL
SELECT 'pool ' || pool, count(*), max(w.capacity)
FROM held JOIN (
    -- One that drains has no process for others, but may still run what it was given before: it counts as before.
    SELECT pool, sum(CASE WHEN concurrency > 0 THEN concurrency ELSE most.n END) AS capacity
    FROM workers CROSS JOIN (SELECT max(concurrency) AS n FROM workers) most
    GROUP BY pool
) w USING (pool)
GROUP BY pool HAVING count(*) > max(w.capacity)
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
        with psycopg.connect(**self._parameters, autocommit=True) as own:
            while not self._stop.wait(self.pause):
                self.violations += own.execute(VIOLATIONS).fetchall()
                self.looks += 1
