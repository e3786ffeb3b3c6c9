"""What a tenant may say of a job when it asks from outside: operators and code may say more.

Which methods it may name at all is the registry's: `@job(http=True)`.
"""

from typing import Any

from django.conf import settings

from jobs.calls.registry import Target
from jobs.calls.request import InvalidRequest
from tenants.models import Tenant


def check(target: Target, tenant: Tenant, options: dict[str, Any]) -> None:
    """Raises InvalidRequest, saying how far the option goes."""
    _check_queue(target.spec.queue, tenant, options.get("queue"))
    spec = target.spec
    retries = None if spec.retry is None else spec.retry.max_retries
    _check_most("timeout", options, spec.timeout, settings.JOBS_MAX_TIMEOUT, "timeout" in spec.override)
    _check_most("max_retries", options, retries, settings.JOBS_MAX_RETRIES, "max_retries" in spec.override)


def _check_queue(own: str, tenant: Tenant, queue: str | None) -> None:
    """Another line may be less limited, or served first: which ones a tenant may name is the operator's to say."""
    if queue is None or queue == own:
        return
    also = tenant.queue.queues if hasattr(tenant, "queue") else []  # read once, for a whole batch
    if queue not in also:
        shown = ", ".join(sorted({own, *also}))
        raise InvalidRequest("queue", f"{queue!r} is none that you may name for this job; you may name: {shown}")


def _check_most(name: str, options: dict[str, Any], own: float | None, highest: float, may_raise: bool) -> None:
    """Downwards always; above what the method says only where it lets itself be raised, and never above the setting."""
    asked = options.get(name)
    most = highest if own is None or may_raise else min(own, highest)
    if asked is not None and asked > most:
        raise InvalidRequest(name, f"must be at most {most:g} for this job, not {asked:g}")
