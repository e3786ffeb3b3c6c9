"""I1, I2 and I3 under real concurrency: eight dispatching workers, four submitters, an auditor, and no clock."""

import queue
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from django.db import connection

from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.engine.submitting.submit import submit_all
from jobs.models import Job
from jobs.store import Claimed, Started
from tests.concurrency.audit import Auditor
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory
from tests.thorough import sized

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("exact_capacity"),
    pytest.mark.long("limits under many threads; the order of steps is in tests/concurrency/walk and test_door.py"),
]

WORKERS, SUBMITTERS = 8, 4
JOBS = sized(1_000, thorough=3_000)
STALLED = 30.0  # seconds without a message while jobs wait: a wake-up was lost


SLICE = 5  # jobs that a process runs one after the other, at most


class Fleet:
    """Workers on a wire that delivers every message twice, and who go on with the next job of a lane."""

    def __init__(self, worker, expected: int) -> None:
        self._worker = worker
        self._wire: queue.SimpleQueue[Claimed | None] = queue.SimpleQueue()
        self._left = expected
        self._lock = threading.Lock()
        self.starts: Counter[int] = Counter()
        self.followed = 0

    def carry(self, claimed) -> None:
        for job in claimed:
            self._wire.put(job)
            self._wire.put(job)

    def run(self) -> None:
        while message := self._wire.get(timeout=STALLED):
            if first := store.start(message.id, message.attempt, store.Seat.here(self._worker)):
                ended = self._slice(first)
                dispatch.dispatch()
                self._note(ended)

    def _slice(self, running: Started) -> list[int]:
        ended = []
        while True:
            ended.append(running.id)
            if len(ended) == SLICE:
                assert store.succeed(running.id, running.attempt, {}, None, by=running.holder)
                return ended
            applied, following = store.succeed_and_follow(running.id, running.attempt, {}, None, by=running.holder)
            assert applied
            if following is None:
                return ended
            running = following

    def _note(self, ended: list[int]) -> None:
        with self._lock:
            self.starts.update(ended)
            self.followed += len(ended) - 1
            before, self._left = self._left, self._left - len(ended)
            if before > 0 >= self._left:
                for _ in range(WORKERS):
                    self._wire.put(None)


def in_threads(*works: Callable[[], object]) -> None:
    """Run all at once; raise what any of them raised."""

    def closing(work: Callable[[], object]) -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(closing, work) for work in works]
    failures = [error for future in futures if (error := future.exception())]
    # Those who waited in vain did so because of the others: show them last.
    for error in sorted(failures, key=lambda error: isinstance(error, queue.Empty)):
        raise error


def beside_each_other() -> list[tuple[int, int]]:
    """Pairs of jobs of a sequence of which one started before the other had ended."""
    ended = Job.objects.filter(sequence__isnull=False).order_by("tenant_id", "sequence", "start_time")
    return [
        (before.pk, after.pk)
        for before, after in pairwise(ended)
        if (before.tenant_id, before.sequence) == (after.tenant_id, after.sequence)
        and after.start_time < before.end_time
    ]


@pytest.mark.parametrize(("capacity", "jobs"), [(1, JOBS), (2, JOBS), (100, JOBS * 8 // 5)])
def test_no_limit_is_exceeded_no_wake_up_lost_and_no_attempt_started_twice(register, capacity, jobs):
    QueueFactory(name="emails", concurrency=3, weight=3)
    QueueFactory(name="exports", tenant_slots=1)
    tenants = [
        TenantFactory(
            queue__num_slots=slots, queue__user_slots=users, queue__burst_slots=burst, queue__queue_slots=of_queues
        )
        for slots, users, burst, of_queues in (
            (1, None, 4, {}),
            (2, 1, None, {}),
            (3, 2, 6, {"exports": 2}),
            (5, None, None, {"default": 2, "exports": 3}),
            (8, 3, None, {}),
        )
    ]
    fleet = Fleet(register(concurrency=capacity), jobs)
    runtime.change(carrier=fleet.carry)

    def submit(share: int) -> None:
        for batch in range(jobs // SUBMITTERS // 25):
            submit_all(
                [
                    request_for(
                        tenants[(n + share) % len(tenants)],
                        f"{share}-{batch}-{n}",
                        user_key=("", "ada", "bob")[n % 3],
                        queue=("default", "emails", "exports")[n % 7 % 3],
                        priority=n % 11,
                        sequence=f"acct-{n % 2}" if n % 4 == 0 else None,
                    )
                    for n in range(25)
                ]
            )

    with Auditor() as auditor:
        in_threads(*[fleet.run] * WORKERS, *[lambda share=share: submit(share) for share in range(SUBMITTERS)])
    assert auditor.violations == []
    assert auditor.looks > 100
    assert fleet.followed > 0
    assert set(fleet.starts.values()) == {1}
    assert Job.objects.filter(status="success", slot=None).count() == jobs
    assert not beside_each_other()
