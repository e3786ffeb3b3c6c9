"""A coroutine ends in a seat of a light pool exactly as it does in an ordinary process."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.utils.functional import SimpleLazyObject

from jobs import Abandon, Retry, RetryLater, current_job, job
from jobs.models import FailedAttempt, Job
from tests.factories import TenantFactory, ThingFactory
from tests.integration.engine.test_strangers import Busy, Exiting, Soon, lazy, leave, raise_, read
from tests.sample.litter import Unspeakable
from tests.sample.models import Run, Thing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def run(kind, monkeypatch):
    """Run this body as a job of a tenant of its own; the job as it ended."""

    def run(body, /, *, args: tuple[Any, ...] = (), **options) -> Job:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        job_id = ThingFactory(tenant=TenantFactory()).async_.echo(*args)
        kind.serve()
        return Job.objects.get(pk=job_id)

    return run


def coroutine(end: Callable[[], object]):
    """A body that ends so."""

    async def body(self) -> object:
        await asyncio.sleep(0)
        return end()

    return body


def spoil(**stats: object) -> None:
    current_job().stats.update(stats)


class Locked(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("locked")
        self.lock = threading.Lock()


class Derived(BaseException):
    pass


def loop_in_itself() -> list[object]:
    loop: list[object] = []
    loop.append(loop)
    return loop


async def nothing() -> None:
    pass


def nested_run() -> None:
    body = nothing()
    try:
        asyncio.run(body)
    finally:
        body.close()


def nested_loop() -> None:
    body = nothing()
    try:
        asyncio.get_running_loop().run_until_complete(body)
    finally:
        body.close()


GROUP = BaseExceptionGroup("two", [KeyError("x"), asyncio.CancelledError()])
ENDS: dict[str, tuple[Callable[[], object], Retry | None, str, str]] = {
    "an error": (lambda: 1 / 0, None, "error", "ZeroDivisionError: division by zero"),
    "again later": (lambda: raise_(RetryLater(300)), None, "scheduled", ""),
    "again later, in a group": (lambda: raise_(ExceptionGroup("g", [RetryLater(9)])), None, "scheduled", ""),
    "no seconds": (lambda: raise_(Busy()), None, "error", "AttributeError: 'Busy' object has no"),
    "odd seconds": (lambda: raise_(Soon()), Retry.every(0, max_retries=0), "dead", "ValueError: RetryLater takes"),
    "abandoned": (lambda: raise_(Abandon("closed")), Retry.every(0, max_retries=9), "dead", "Abandon: closed"),
    "tried again": (lambda: 1 / 0, Retry.every(300, max_retries=1), "scheduled", "ZeroDivisionError: division"),
    "policy that fails": (lambda: 1 / 0, Retry.custom(lambda *_: {}[0], max_retries=1), "dead", "KeyError: 0"),
    "policy that exits": (lambda: 1 / 0, Retry.custom(leave, max_retries=1), "dead", "SystemExit: 3"),
    "policy that reads": (lambda: raise_(Unspeakable()), Retry.custom(read, max_retries=2), "dead", "RuntimeError: no"),
    "odd queue": (lambda: 1 / 0, Retry.every(0, max_retries=2, queue="\x00"), "dead", "DataError: "),
    "no pickle": (lambda: raise_(Locked()), None, "error", "Locked: locked"),
    "huge text": (lambda: raise_(ValueError("x" * 10**6)), None, "error", "ValueError: xxxxx"),
    "nul": (lambda: raise_(ValueError("\x00\ud800")), None, "error", "ValueError: \N{REPLACEMENT CHARACTER}?"),
    "no text": (lambda: raise_(Unspeakable()), None, "error", "Unspeakable: (its text cannot be read: RuntimeError)"),
    "text that exits": (lambda: raise_(Exiting()), None, "error", "Exiting: (its text cannot be read: SystemExit)"),
    "exit": (lambda: raise_(SystemExit(3)), None, "error", "SystemExit: 3"),
    "generator exit": (lambda: raise_(GeneratorExit("no")), None, "error", "GeneratorExit: no"),
    "derived": (lambda: raise_(Derived("no")), None, "error", "Derived: no"),
    "cancelled by itself": (lambda: raise_(asyncio.CancelledError("no")), None, "error", "CancelledError: no"),
    "stopped iteration": (lambda: raise_(StopIteration()), None, "error", "RuntimeError: coroutine raised StopIterat"),
    "group": (lambda: raise_(GROUP), None, "error", "KeyError: 'x'"),
    "a loop in the loop": (nested_run, None, "error", "RuntimeError: asyncio.run() cannot be called from a running"),
    "the loop itself": (nested_loop, None, "error", "RuntimeError: This event loop is already running"),
    "orm in the loop": (Run.objects.count, None, "error", "SynchronousOnlyOperation: You cannot call this from an asy"),
    "lazy result": (lambda: {"who": lazy()}, None, "error", "DoesNotExist: Run matching"),
    "lazy stat": (lambda: spoil(who=lazy()), None, "error", "DoesNotExist: Run matching"),
    "lazy value": (lambda: {"who": SimpleLazyObject(lambda: 1 / 0)}, None, "error", "ZeroDivisionError: "),
    "result: object": (object, None, "error", "ResultRefused: the result is not JSON: Object of type object"),
    "result: nan": (lambda: [float("nan")], None, "error", "ResultRefused: the result is not JSON: Out of range"),
    "result: key": (lambda: {1: 2}, None, "error", "ResultRefused: the result is not JSON: it has the key 1;"),
    "result: digits": (lambda: 10**5000, None, "error", "ResultRefused: the result is not JSON: "),
    "result: itself": (loop_in_itself, None, "error", "ResultRefused: the result is not JSON: "),
    "result: size": (lambda: "x" * 99, None, "error", "ResultRefused: the result takes 101 bytes; JOBS_RESULT_MAX_BY"),
    "stats: object": (lambda: spoil(rows=object()), None, "error", "InvalidRequest: stats.rows"),
    "stats: nan": (lambda: spoil(rows=[float("nan")]), None, "error", "InvalidRequest: stats.rows[0]"),
    "stats: nul": (lambda: spoil(rows="\x00"), None, "error", "InvalidRequest: stats.rows"),
    "stats: size": (lambda: spoil(rows="x" * 10**6), None, "error", "InvalidRequest: stats: take 1,000,"),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_coroutine_ends_in_the_same_way(how, run, settings):
    settings.JOBS_RESULT_MAX_BYTES = 100
    end, retry, status, text = ENDS[how]
    ended = run(coroutine(end), retry=retry)
    assert (ended.status, ended.attempt, ended.crashes, ended.last_error[: len(text)]) == (status, 1, 0, text)
    assert FailedAttempt.objects.count() == bool(text)
    assert ended.result_expires_at is None
