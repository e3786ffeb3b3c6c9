"""What the claim reads: its plan, made once for a connection, executed inside the door, and rolled back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection

from jobs.sql import statement
from jobs.store.claiming import OUT_OF_LINE, RULES
from tests.sql import sql

GIVEN: dict[str, Any] = {
    "now": None,
    "default_timeout": 1.0,
    "overtime": 1.0,
    "locked": [],
    "locked_queues": [],
    "borrow": False,
    "feeder": None,
    "seats": 0,
}
TYPES = {
    **{"now": "timestamptz", "default_timeout": "float8", "overtime": "float8", "locked": "text[]"},
    **{"locked_queues": "bigint[]", "borrow": "bool", "feeder": "uuid", "seats": "int"},
    **{name: "int" if isinstance(value, int) else "float8" for name, value in RULES.items()},
}
FILL = """
WITH filled AS (
    INSERT INTO jobs (tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, status,
                      ready_at, end_time, attempt, crashes, retries, progress_note, stats, last_error)
    SELECT tenant_id, queue_id, 5, CASE WHEN %(users)s THEN n::text ELSE '' END, 'tests.thing', n::text, 'run', '{}',
           CASE WHEN %(finished)s THEN 'success' ELSE 'created' END,
           CASE WHEN NOT %(finished)s THEN now() END, CASE WHEN %(finished)s THEN now() END, 0, 0, 0, '', '{}', ''
    FROM generate_series(1, %(count)s) AS n CROSS JOIN unnest(%(tenants)s::bigint[]) AS tenant (tenant_id)
    CROSS JOIN unnest(%(queues)s::bigint[]) AS queue (queue_id)
    RETURNING queue_id, tenant_id, ready_at, job_place(priority, id) AS place
)
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), count(*) FROM filled
WHERE ready_at IS NOT NULL
GROUP BY queue_id, tenant_id
"""


def parameters() -> dict[str, Any]:
    """Of the fold and the claim, with the rules of now: a test has other ones than production (conftest.py)."""
    return GIVEN | RULES


def fill(
    queue: int | list[int], tenants: list[int], count: int, *, users: bool = False, finished: bool = False
) -> None:
    """So many waiting (or finished) jobs of each tenant in each queue; with `users`, each of another user."""
    queues = [queue] if isinstance(queue, int) else queue
    parameters = {"queues": queues, "tenants": tenants, "count": count, "users": users, "finished": finished}
    sql(FILL, parameters)


@dataclass(frozen=True)
class Read:
    """What a pass read. buffers: pages of 8 KiB. rows: that left an index or a table. claimed: jobs."""

    buffers: int
    rows: int
    claimed: int
    indexes: frozenset[str]  # that `jobs` was read by; "none" for a scan without one


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def scans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that were executed."""
    return [
        node
        for node in nodes(plan)
        if "Relation Name" in node and "Scan" in node["Node Type"] and node.get("Actual Loops", 1)
    ]


def buffers(plan: dict[str, Any]) -> int:
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def rows(plan: dict[str, Any]) -> int:
    """That left an index or a table. Unlike pages, they do not depend on how full earlier tests have left each page."""
    return int(sum(node["Actual Rows"] * node["Actual Loops"] for node in scans(plan)))


def indexes_of_jobs(plan: dict[str, Any]) -> set[str]:
    """The indexes that `jobs` is read through; "none" for a scan without one."""
    scans_of_jobs = [
        scan for scan in scans(plan) if scan["Relation Name"] == "jobs" and scan["Node Type"] != "Tid Scan"
    ]
    return {index for scan in scans_of_jobs for index in indexes_of(scan)}


def indexes_of(scan: dict[str, Any]) -> set[str]:
    """The indexes of one scan: those of its bitmap, if it has one."""
    return {node["Index Name"] for node in nodes(scan) if "Index Name" in node} or {"none"}


def values() -> str:
    """The same, as a dispatch says them."""
    return ", ".join(["NULL", "1.0", "1.0", "'{}'", "'{}'", "false", "NULL", "0", *map(str, RULES.values())])


class Dispatcher:
    """A connection on which fold and claim are planned once, at the first pass, and then executed again and again."""

    def __init__(self) -> None:
        self._session = psycopg.connect(**connection.get_connection_params())
        for name in ("fold", "claim"):
            text = re.sub(r"%\((\w+)\)s", lambda match: f"${list(TYPES).index(match[1]) + 1}", statement(name))
            self._session.execute(f"PREPARE {name} ({', '.join(TYPES.values())}) AS {text.replace('%%', '%')}".encode())
        self._session.commit()

    def __enter__(self) -> "Dispatcher":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def _enter(self) -> None:
        self._session.execute(statement("knock"), OUT_OF_LINE)
        self._session.execute(statement("enter"))

    def fold(self) -> None:
        """Take note of everything that has arrived, for good."""
        more = True
        while more:
            self._enter()
            more, *_ = self._session.execute(f"EXECUTE fold ({values()})").fetchone()
            self._session.commit()

    def nodes_of_claim(self) -> int:
        """Of its generic plan, as inside the door."""
        self._enter()
        self._session.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        nulls = ", ".join(["NULL"] * len(TYPES))
        cursor = self._session.execute(f"EXPLAIN (FORMAT JSON) EXECUTE claim ({nulls})")
        plan = cursor.fetchone()[0][0]["Plan"]
        self._session.rollback()
        return sum(1 for _ in nodes(plan))

    def claim(self) -> Read:
        """A pass, rolled back."""
        self._enter()
        reads = []
        for name in ("fold", "claim"):
            explain = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)"
            cursor = self._session.execute(f"{explain} EXECUTE {name} ({values()})")
            reads.append(cursor.fetchone()[0][0]["Plan"])
        self._session.rollback()
        return Read(
            buffers=sum(map(buffers, reads)),
            rows=sum(map(rows, reads)),
            claimed=int(reads[1]["Actual Rows"]) - 1,
            indexes=frozenset().union(*map(indexes_of_jobs, reads)),
        )
