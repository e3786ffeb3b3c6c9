"""A multi-tenant job scheduler: `from jobs import Asynchronous, job, current_job, submit_many`."""

from typing import TYPE_CHECKING

from jobs.lazily import lazily

if TYPE_CHECKING:
    from jobs.authoring.current import current_job
    from jobs.authoring.decorator import job
    from jobs.authoring.exceptions import Abandon, Cancelled, RetryLater, StaleAttempt, TenantError
    from jobs.authoring.memory import MISSING
    from jobs.authoring.retry import Retry
    from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
    from jobs.engine.cancel import cancel
    from jobs.engine.revive import revive
    from jobs.proxy import Asynchronous, async_, submit_many
    from jobs.store.owner import EVERY_TENANT

__all__ = [
    "EVERY_TENANT",
    "MISSING",
    "Abandon",
    "Asynchronous",
    "Cancelled",
    "InvalidRequest",
    "Retry",
    "RetryLater",
    "StaleAttempt",
    "TenantError",
    "TooManyWaiting",
    "Undecided",
    "async_",
    "cancel",
    "current_job",
    "job",
    "revive",
    "submit_many",
]

_HOMES = {
    "EVERY_TENANT": "jobs.store.owner",
    "MISSING": "jobs.authoring.memory",
    "Abandon": "jobs.authoring.exceptions",
    "Cancelled": "jobs.authoring.exceptions",
    "Retry": "jobs.authoring.retry",
    "RetryLater": "jobs.authoring.exceptions",
    "StaleAttempt": "jobs.authoring.exceptions",
    "TenantError": "jobs.authoring.exceptions",
    "TooManyWaiting": "jobs.calls.refusals",
    "Undecided": "jobs.calls.refusals",
    "revive": "jobs.engine.revive",
    "Asynchronous": "jobs.proxy",
    "InvalidRequest": "jobs.calls.refusals",
    "async_": "jobs.proxy",
    "cancel": "jobs.engine.cancel",
    "current_job": "jobs.authoring.current",
    "job": "jobs.authoring.decorator",
    "submit_many": "jobs.proxy",
}


# Django imports this package before any model may be imported.
__getattr__ = lazily(__name__, _HOMES)
