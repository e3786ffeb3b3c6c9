"""An observer of committed states, in its own thread and connection, with no part in the scheduling."""

import threading
import time
from dataclasses import dataclass, replace

from django.db import connection

# One statement, so one snapshot: the slots in use and the limit belong to the same moment.
SLOTS = """
    SELECT q.tenant_id, q.num_slots, count(j.slot)
    FROM tenant_queues q LEFT JOIN jobs j ON j.tenant_id = q.tenant_id AND j.slot IS NOT NULL
    WHERE q.tenant_id = ANY(%s)
    GROUP BY q.tenant_id, q.num_slots
"""
COUNTS = """
    SELECT tenant_id,
           count(*) FILTER (WHERE due_at IS NOT NULL OR ready_at IS NOT NULL),
           count(*) FILTER (WHERE end_time IS NOT NULL),
           count(*) FILTER (WHERE status IN ('error', 'dead'))
    FROM jobs WHERE tenant_id = ANY(%s) AND id > %s
    GROUP BY tenant_id
"""
PAUSE = 0.002  # seconds between two looks at the slots
COUNT_EVERY = 0.2  # seconds between two counts of all jobs


@dataclass(frozen=True)
class Sight:
    """The observations of one tenant: the present state, and the most slots in use at any moment that was observed."""

    limit: int = 0
    in_use: int = 0
    greatest: int = 0
    over_limit: int = 0  # looks that found more slots in use than the limit
    waiting: int = 0
    ended: int = 0
    errors: int = 0


class Observer:
    """A thread that watches these tenants' jobs as fast as it can, inside `with Observer(...)`."""

    def __init__(self, tenant_ids: list[int], after_id: int) -> None:
        self.sights = {tenant_id: Sight() for tenant_id in tenant_ids}
        self.looks = 0  # at the slots
        self.counts = 0  # of all jobs
        self._after_id = after_id
        self._enough = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._watch, name="observer")

    def __enter__(self) -> "Observer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()
        if self._failure is not None:
            raise RuntimeError("The observer failed") from self._failure

    @property
    def alive(self) -> bool:
        """Return whether the observer is still watching."""
        return self._thread.is_alive()

    def _watch(self) -> None:
        counted_at = 0.0
        try:
            while not self._enough.wait(PAUSE):
                self._look_at_slots()
                if time.monotonic() - counted_at > COUNT_EVERY:
                    self._count()
                    counted_at = time.monotonic()
        except BaseException as error:
            self._failure = error
        finally:
            connection.close()

    def _look_at_slots(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(SLOTS, [list(self.sights)])
            for tenant_id, limit, in_use in cursor.fetchall():
                sight = self.sights[tenant_id]
                self.sights[tenant_id] = replace(
                    sight,
                    limit=limit,
                    in_use=in_use,
                    greatest=max(sight.greatest, in_use),
                    over_limit=sight.over_limit + (in_use > limit),
                )
        self.looks += 1

    def _count(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(COUNTS, [list(self.sights), self._after_id])
            for tenant_id, waiting, ended, errors in cursor.fetchall():
                self.sights[tenant_id] = replace(self.sights[tenant_id], waiting=waiting, ended=ended, errors=errors)
        self.counts += 1
