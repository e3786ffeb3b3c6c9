"""Run the body of one attempt: look the method up, call it on the tenant's object, and take whatever comes of it."""

import traceback
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.functional import SimpleLazyObject

from jobs import results, store, telemetry
from jobs.authoring import current
from jobs.calls import registry
from jobs.calls.arguments import stats_as_json
from jobs.engine.host import Host
from jobs.store import Started
from tenants.models import Tenant


class SourceGone(Exception):
    """The object that the job was to be called on no longer exists, or is no longer its tenant's."""


@dataclass
class Outcome:
    """How the body ended: with a value, or with an error. result_ttl: seconds its result is kept; None: it was not.

    result_bytes: the size of what is kept.
    """

    value: Any = None
    error: BaseException | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    result_ttl: float | None = None
    result_bytes: int | None = None


def run(job: Started, host: Host) -> Outcome:
    """Call it. Whatever it raises is the job's outcome and not ours, be it a SystemExit."""
    outcome = Outcome()
    try:
        try:
            host.limit.arm(job)
            # Language, time zone and the like are context variables: what it sets of them ends with it.
            copy_context().run(_call, job, outcome, host)
        finally:
            host.limit.disarm()
    except host.limit.time_is_up:
        outcome.error = TimeoutError(f"timed out after {job.timeout:g} s")
    except KeyboardInterrupt:  # for the process; recover sees to the job
        raise
    except BaseException as error:
        outcome.error = error
        traceback.clear_frames(error.__traceback__)  # ends generators, and the transactions in them
    finally:
        host.limit.disarm()  # again: time may have been up just when it was called
    return outcome


def _call(job: Started, outcome: Outcome, host: Host) -> None:
    store.speak_as_the_caller()
    target = registry.resolve(job.source_type, job.source_method)
    outcome.result_ttl = target.spec.result_ttl
    callee: Any = target.model
    if not target.class_level:
        callee = registry.source(target.model, job.source_id, job.tenant_id)
        if callee is None:
            raise SourceGone(f"{job.source_type} {job.source_id} is gone")

    current.enter(
        current.CurrentJob(
            id=job.id,
            attempt=job.attempt,
            tenant=SimpleLazyObject(lambda: Tenant.objects.get(pk=job.tenant_id)),  # type: ignore[arg-type]
            timeout=job.timeout,
            stats=outcome.stats,
            report_progress=partial(_aside, host, store.progress, job.id, job.attempt),
            ask_cancelled=partial(_aside, host, store.cancel_requested, job.id, job.attempt),
        )
    )
    outcome.value = getattr(callee, target.method)(**job.args)


def _aside(host: Host, statement: Callable[..., bool], *parameters: Any) -> bool:
    """What a body says and asks by the way must not end it: while the database is away, nothing is said and asked."""
    try:
        with host.limit.deferred(), host.speaking():
            return statement(*parameters)
    except (OperationalError, InterfaceError) as error:
        telemetry.noticed("job without database", error=type(error).__name__)
        return False


def keep_result(job: Started, outcome: Outcome) -> None:
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
        outcome.result_bytes = results.keep(job.id, job.attempt, outcome.value, ttl, job.tenant_id)
    except ValueError as error:
        outcome.error = error
    outcome.result_ttl = None if outcome.result_bytes is None else ttl
