"""Execute one attempt, step by step: start, call, keep the result, settle, dispatch the next."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from jobs import current, registry, results, store, telemetry
from jobs.arguments import stats_as_json
from jobs.engine import dispatch
from jobs.engine.settle import Outcome, settle
from jobs.store import Started
from tenants.models import Tenant


class SourceGone(Exception):
    """The object that the job was to be called on no longer exists, or is no longer its tenant's."""


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
    job = _start(job_id, attempt, worker)
    if job is None:
        return
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
    settle(job, outcome)
    dispatch.dispatch()


def _start(job_id: int, attempt: int, worker: uuid.UUID) -> Started | None:
    """None if the message is stale, or the job's type was paused while it was on its way: then it is put off."""
    job = store.start(job_id, attempt, worker)
    if job is None and store.put_off(job_id, attempt):
        telemetry.applied("put_off", job_id, attempt)
        dispatch.dispatch()
        return None
    # Again: of a type that was resumed between the two, neither has applied, and this is the job's only message.
    job = job or store.start(job_id, attempt, worker)
    if job is None:
        telemetry.ignored("start", job_id, attempt)
    else:
        telemetry.applied("start", job_id, attempt, worker=worker)
    return job


def _call(job: Started, outcome: Outcome, timeout: float) -> None:
    """Look the method up anew, as the job names it, and call it on the tenant's object."""
    target = registry.resolve(job.source_type, job.source_method)
    outcome.result_ttl = target.spec.result_ttl
    callee: Any = target.model
    if not target.class_level:
        callee = registry.source(target.model, job.source_id, job.tenant_id)
        if callee is None:
            raise SourceGone(f"{job.source_type} {job.source_id} is gone")

    token = current.enter(
        current.CurrentJob(
            id=job.id,
            attempt=job.attempt,
            tenant=Tenant.objects.get(pk=job.tenant_id),
            timeout=timeout,
            stats=outcome.stats,
            report_progress=partial(_if_database_answers, store.progress, job.id, job.attempt),
            ask_cancelled=partial(_if_database_answers, store.cancel_requested, job.id, job.attempt),
        )
    )
    try:
        outcome.value = getattr(callee, target.method)(**job.args)
    finally:
        current.leave(token)


def _if_database_answers(statement: Callable[..., bool], *parameters: Any) -> bool:
    """What a body says and asks by the way must not end it: while the database is away, nothing is said and asked."""
    try:
        return statement(*parameters)
    except (OperationalError, InterfaceError) as error:
        telemetry.noticed("job without database", error=type(error).__name__)
        return False


def _keep_result(job: Started, outcome: Outcome) -> None:
    """Before the settling: a job that is a success has its result there."""
    try:
        outcome.stats = stats_as_json(outcome.stats)
    except ValueError as error:
        outcome.stats = {}
        outcome.error = outcome.error or error  # one that was there before is the one to be seen
    if outcome.error is not None:
        return
    ttl = settings.JOBS_RESULT_TTL if outcome.result_ttl is None else outcome.result_ttl
    try:
        outcome.result_ttl = ttl if results.keep(job.id, job.attempt, outcome.value, ttl, job.tenant_id) else None
    except ValueError as error:
        outcome.error = error
