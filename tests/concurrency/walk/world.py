"""Who acts in a walk: tenants, queues, workers, and sessions whose transactions stay open."""

import random
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from jobs.store import Claimed
from tests.concurrency.walk.door import Notes
from tests.concurrency.walk.naive import Picture, Row
from tests.factories import QueueFactory, TenantFactory
from tests.sql import sql

USERS = ("", "ada", "ada", "bob")
LIGHT = "light"  # the pool of light workers
POOLS = ("default", LIGHT, "other")
EVENTS = ("approved", "paid", "shipped")
QUEUES = ("default", "emails", "reports", "letters")
# Nobody else goes on while one session waits for a lock of another: so it never gets it, however long it waits.
NOT_LONG = "SET lock_timeout = '20ms'"


class NotPossible(Exception):
    """Somebody holds the row, or has deleted the tenant."""


@contextmanager
def possible() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise
        raise NotPossible from error
    except IntegrityError as error:
        raise NotPossible from error


class Session:
    """A session of its own, in whose transaction several steps may lie before it ends."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._block: transaction.Atomic | None = None

    @property
    def open(self) -> bool:
        return self._block is not None

    def do(self, step: Callable[[], Any]) -> Any:
        """Take the step in the open transaction; if that is not possible, roll everything back."""
        try:
            with possible():
                return self._thread.submit(self._within, step).result(60)
        except NotPossible:
            self.end(commit=False)
            return None

    def end(self, *, commit: bool) -> None:
        self._thread.submit(self._end, commit).result(60)

    def close(self) -> None:
        if self.open:
            self.end(commit=False)
        self._thread.submit(self._disconnect).result(60)
        self._thread.shutdown()

    def _within(self, step: Callable[[], Any]) -> Any:
        if self._block is None:
            connection.ensure_connection()
            sql(NOT_LONG)
            self._block = transaction.atomic()
            self._block.__enter__()
        with transaction.atomic():
            return step()

    def _disconnect(self) -> None:
        connection.close()  # that of this thread

    def _end(self, commit: bool) -> None:
        if self._block is not None:
            block, self._block = self._block, None
            transaction.set_rollback(not commit)
            with suppress(NotPossible), possible():
                block.__exit__(None, None, None)


class World:
    """What the steps act on. `seen`, `noted`: what everybody sees, and what the door keeps, after the last step."""

    def __init__(self, seed: int, sent: list[Claimed]) -> None:
        self.random = random.Random(seed)
        self.now = datetime.now(UTC)
        self.messages = sent
        self.workers: dict[uuid.UUID, str] = {}  # and their pools
        self.sessions = [Session() for _ in range(3)]
        self.tenants = [self._new_tenant() for _ in range(3)]
        self.queues = [self._new_queue(name) for name in QUEUES]
        self.seen: Picture
        self.noted: Notes

    def _new_tenant(self) -> int:
        tenant: int = TenantFactory(
            queue__num_slots=self.random.randint(1, 5),
            queue__burst_slots=self.random.choice((None, None, 4, 9)),
            queue__user_slots=self.random.choice((None, None, 1, 2)),
        ).pk
        return tenant

    def _new_queue(self, name: str) -> int:
        queue = QueueFactory(name=name, pool=LIGHT if name in {"letters", "reports"} else "default")
        queue.concurrency = None if name == "default" else self.random.choice((None, 2, 4))
        queue.save()
        return queue.pk

    def do(self, step: Callable[[], Any], *, open_at_times: bool = True) -> Any:
        """Take a step, at times within a transaction that stays open; None if that is not possible."""
        try:
            if open_at_times and self.random.random() < 0.2:
                return self.random.choice(self.sessions).do(step)
            with possible(), transaction.atomic():
                return step()
        except NotPossible:
            return None

    def one(self, fits: Callable[[Row], bool]) -> Row | None:
        """One of the jobs that everybody sees."""
        jobs = [job for job in self.seen.jobs if fits(job)]
        return self.random.choice(jobs) if jobs else None

    def replace(self, tenant: int) -> None:
        """A new tenant in the place of one that was deleted."""
        self.tenants[self.tenants.index(tenant)] = self._new_tenant()


@contextmanager
def world(seed: int, sent: list[Claimed]) -> Iterator[World]:
    made = World(seed, sent)
    sql(NOT_LONG)
    try:
        yield made
    finally:
        for session in made.sessions:
            session.close()
        sql("RESET lock_timeout")
