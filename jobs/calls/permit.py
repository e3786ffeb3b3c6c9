"""Check the options that a tenant may give a job over HTTP. Operators and code may give more.

The registry decides which methods a tenant may name at all: `@job(http=True)`.
"""

from typing import Any

from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target
from jobs.conf import settings
from tenants.models import Tenant


def check(target: Target, tenant: Tenant, options: dict[str, Any]) -> None:
    """Raise InvalidRequest, naming the allowed values, if the tenant may not give one of these options."""
    _check_queue(target.spec.queue, tenant, options.get("queue"))
    spec = target.spec
    retries = None if spec.retry is None else spec.retry.max_retries
    _check_limit("timeout", options, spec.timeout, settings.JOBS_MAX_TIMEOUT, "timeout" in spec.override)
    _check_limit("max_retries", options, retries, settings.JOBS_MAX_RETRIES, "max_retries" in spec.override)
    if spec.sequence is not None and options.get("sequence") is not None:  # its author relies on that order
        raise InvalidRequest("sequence", f"is not allowed for this job: {target.method} says itself in which one it is")


def _check_queue(default: str, tenant: Tenant, queue: str | None) -> None:
    """Raise InvalidRequest unless operators let the tenant name this queue: it may have higher limits or go first."""
    if queue is None or queue == default:
        return
    also = tenant.jobs_queue.queues if hasattr(tenant, "jobs_queue") else []  # loaded once for a whole batch
    if queue not in also:
        allowed = ", ".join(sorted({default, *also}))
        raise InvalidRequest("queue", f"{queue!r} is not allowed for this job; allowed: {allowed}")


def _check_limit(name: str, options: dict[str, Any], default: float | None, highest: float, may_raise: bool) -> None:
    """Raise InvalidRequest if the value is too high.

    A lower value than the method's own is always allowed; a higher one only if the method lets callers override it, and
    up to the setting.
    """
    value = options.get(name)
    limit = highest if default is None or may_raise else min(default, highest)
    if value is not None and value > limit:
        raise InvalidRequest(name, f"must be at most {limit:.15g} for this job, not {value:.15g}")
