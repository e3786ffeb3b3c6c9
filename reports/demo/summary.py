"""Add up the outcome of the burst by tenant, and check whether the scheduler kept its promises."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from reports.demo.burst import Submissions
from reports.demo.observer import Sight

OUTCOMES = """
    SELECT count(*) FILTER (WHERE status = 'success'),
           count(*) FILTER (WHERE status IN ('error', 'dead')),
           count(*) FILTER (WHERE end_time IS NOT NULL),
           coalesce(avg(extract(epoch FROM start_time - created_at)), 0)::float8,
           coalesce(avg(extract(epoch FROM end_time - start_time)), 0)::float8
    FROM jobs WHERE tenant_id = %s AND id = ANY(%s)
"""


@dataclass(frozen=True)
class Line:
    """One tenant's part of the burst.

    wait: the mean time from submission to start, in seconds.
    run: the mean time from start to end, in seconds.
    """

    tenant: str
    jobs: int
    successes: int
    errors: int
    lost: int  # submitted, but without a final status, or without a row
    deduplicated: int
    wait: float
    run: float
    sight: Sight

    @property
    def kept(self) -> bool:
        """Return whether no job was lost and the limit was never exceeded."""
        return not self.lost and not self.sight.over_limit


def add_up(name: str, tenant_id: int, submissions: Sequence[Submissions], sight: Sight) -> Line:
    """Compare one tenant's submissions with the database."""
    ids = set[int]().union(*(part.ids for part in submissions))
    with connection.cursor() as cursor:
        cursor.execute(OUTCOMES, [tenant_id, list(ids)])
        successes, errors, ended, wait, run = cursor.fetchone()
    lost, deduplicated = len(ids) - ended, sum(part.deduplicated for part in submissions)
    return Line(name, len(ids), successes, errors, lost, deduplicated, wait, run, sight)
