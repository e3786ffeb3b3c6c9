"""A multi-tenant job scheduler: `from jobs import Asynchronous, job, current_job, submit_many`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.current import current_job
    from jobs.engine.cancel import cancel
    from jobs.engine.revive import revive
    from jobs.policies.retry import Retry
    from jobs.proxy import Asynchronous, submit_many
    from jobs.refusals import InvalidRequest, TooManyWaiting, Undecided
    from jobs.registry import job
    from jobs.verdicts import Abandon, Cancelled, RetryLater, TenantError

__all__ = [
    "Abandon",
    "Asynchronous",
    "Cancelled",
    "InvalidRequest",
    "Retry",
    "RetryLater",
    "TenantError",
    "TooManyWaiting",
    "Undecided",
    "cancel",
    "current_job",
    "job",
    "revive",
    "submit_many",
]

_HOMES = {
    "Abandon": "jobs.verdicts",
    "Cancelled": "jobs.verdicts",
    "Retry": "jobs.policies.retry",
    "RetryLater": "jobs.verdicts",
    "TenantError": "jobs.verdicts",
    "TooManyWaiting": "jobs.refusals",
    "Undecided": "jobs.refusals",
    "revive": "jobs.engine.revive",
    "Asynchronous": "jobs.proxy",
    "InvalidRequest": "jobs.refusals",
    "cancel": "jobs.engine.cancel",
    "current_job": "jobs.current",
    "job": "jobs.registry",
    "submit_many": "jobs.proxy",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: Django imports this package before any model may be imported."""
    if name not in _HOMES:
        raise AttributeError(f"module 'jobs' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
