"""Execute one attempt, step by step: start, call, keep the result, settle, dispatch the next."""

import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from jobs import current, registry, results, store, telemetry
from jobs.engine import dispatch
from jobs.request import as_json
from jobs.store import Started
from tenants.models import Tenant

SETTLE_PATIENCE = 60.0  # seconds for which an outcome waits for the database to come back
ERROR_LENGTH = 2_000  # characters of an error that are kept
TRACEBACK_LENGTH = 20_000  # characters, the last ones

Value = TypeVar("Value")


class SourceGone(Exception):
    """The object that the job was to be called on no longer exists, or is no longer its tenant's."""


@dataclass
class Outcome:
    """How the body ended: with a value, or with an error."""

    value: Any = None
    error: BaseException | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    result_ttl: float | None = None  # seconds; None: the setting's


def execute(
    job_id: int,
    attempt: int,
    *,
    worker: uuid.UUID,
    timeout: float,
    time_is_up: type[BaseException] = TimeoutError,
    body_done: Callable[[], None] = lambda: None,
) -> None:
    """Run an attempt, unless it is not waiting to be started (a doubled or late message).

    timeout: its soft time limit in seconds. time_is_up: what interrupts the body when that is over. body_done: called
    when the body has ended, so that the settling is not interrupted any more.
    """
    job = store.start(job_id, attempt, worker)
    if job is None:
        telemetry.ignored("start", job_id, attempt)
        return
    telemetry.applied("start", job_id, attempt, worker=worker)
    outcome = Outcome()
    try:
        try:
            _call(job, outcome, timeout)
        finally:
            body_done()
    except time_is_up:
        outcome.error = TimeoutError(f"timed out after {timeout:g} s")
    except (Exception, SystemExit) as error:  # whatever the method raises is the job's outcome, not ours
        outcome.error = error
    _keep_result(job, outcome)
    _settle(job, outcome)
    dispatch.dispatch()


def _call(job: Started, outcome: Outcome, timeout: float) -> None:
    """Look the method up anew, as the job names it, and call it on the tenant's object."""
    target = registry.resolve(job.source_type, job.source_method)
    outcome.result_ttl = target.spec.result_ttl
    callee: Any = target.model
    if not target.class_level:
        callee = registry.source(target.model, job.source_id, job.tenant_id)
        if callee is None:
            raise SourceGone(f"{job.source_type} {job.source_id} is gone")

    def report_progress(fraction: float, note: str) -> None:
        store.progress(job.id, job.attempt, fraction, note)

    token = current.enter(
        current.CurrentJob(
            id=job.id,
            attempt=job.attempt,
            tenant=Tenant.objects.get(pk=job.tenant_id),
            timeout=timeout,
            stats=outcome.stats,
            report_progress=report_progress,
        )
    )
    try:
        outcome.value = getattr(callee, target.method)(**job.args)
    finally:
        current.leave(token)


def _keep_result(job: Started, outcome: Outcome) -> None:
    """Before the settling: a job that is a success has its result there. `result_ttl` 0 says that none was kept."""
    if outcome.error is not None:
        return
    ttl = settings.JOBS_RESULT_TTL if outcome.result_ttl is None else outcome.result_ttl
    try:
        outcome.stats = as_json(outcome.stats, "stats")
        outcome.result_ttl = ttl if results.keep(job.id, job.attempt, outcome.value, ttl) else None
    except ValueError as error:
        outcome.error = error


def _settle(job: Started, outcome: Outcome) -> None:
    error = outcome.error
    if error is None:
        applied = _patiently(lambda: store.succeed(job.id, job.attempt, outcome.stats, outcome.result_ttl))
        verb = "succeed"
    else:
        name, text = type(error).__name__, _printable(str(error))[:ERROR_LENGTH]
        trace = _printable("".join(traceback.format_exception(error)))[-TRACEBACK_LENGTH:]
        applied = _patiently(lambda: store.fail(job.id, job.attempt, error_class=name, error=text, traceback=trace))
        verb = "fail"
    (telemetry.applied if applied else telemetry.ignored)(verb, job.id, job.attempt)


def _patiently(statement: Callable[[], Value]) -> Value:
    """Run a statement, again and again while the database is away: what was computed must not be lost to its restart.

    Safe to repeat: each is fenced, and applies once. Raises the last error after SETTLE_PATIENCE.
    """
    give_up = time.monotonic() + SETTLE_PATIENCE
    pause = 0.05
    while True:
        try:
            return statement()
        except (OperationalError, InterfaceError):
            if time.monotonic() > give_up:
                raise
            connection.close()
            time.sleep(pause)
            pause = min(pause * 2, 2.0)


def _printable(text: str) -> str:
    """Without what PostgreSQL's text cannot hold."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
