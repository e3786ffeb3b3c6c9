"""A multi-tenant job scheduler: `from jobs import Asynchronous, job, current_job, submit_many`."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.authoring.current import current_job
    from jobs.authoring.decorator import job
    from jobs.authoring.exceptions import Abandon, Cancelled, ResultGone, RetryLater, StaleAttempt, TenantError
    from jobs.authoring.memory import MISSING
    from jobs.authoring.retry import Retry
    from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
    from jobs.engine.batches import batch
    from jobs.engine.cancel import cancel
    from jobs.engine.chain import chain, group
    from jobs.engine.proxy import Asynchronous, asubmit_many, async_, submit_many
    from jobs.engine.revive import revive
    from jobs.reading import queries, schedule_view
    from jobs.store import results
    from jobs.store.owner import EVERY_TENANT

__all__ = [
    "EVERY_TENANT",
    "MISSING",
    "Abandon",
    "Asynchronous",
    "Cancelled",
    "InvalidRequest",
    "ResultGone",
    "Retry",
    "RetryLater",
    "StaleAttempt",
    "TenantError",
    "TooManyWaiting",
    "Undecided",
    "asubmit_many",
    "async_",
    "batch",
    "cancel",
    "chain",
    "current_job",
    "group",
    "job",
    "queries",
    "results",
    "revive",
    "schedule_view",
    "submit_many",
]

_HOMES = {
    "EVERY_TENANT": "jobs.store.owner",
    "MISSING": "jobs.authoring.memory",
    "Abandon": "jobs.authoring.exceptions",
    "Cancelled": "jobs.authoring.exceptions",
    "ResultGone": "jobs.authoring.exceptions",
    "Retry": "jobs.authoring.retry",
    "RetryLater": "jobs.authoring.exceptions",
    "StaleAttempt": "jobs.authoring.exceptions",
    "TenantError": "jobs.authoring.exceptions",
    "TooManyWaiting": "jobs.calls.refusals",
    "Undecided": "jobs.calls.refusals",
    "revive": "jobs.engine.revive",
    "Asynchronous": "jobs.engine.proxy",
    "InvalidRequest": "jobs.calls.refusals",
    "async_": "jobs.engine.proxy",
    "asubmit_many": "jobs.engine.proxy",
    "batch": "jobs.engine.batches",
    "cancel": "jobs.engine.cancel",
    "chain": "jobs.engine.chain",
    "group": "jobs.engine.chain",
    "current_job": "jobs.authoring.current",
    "job": "jobs.authoring.decorator",
    "queries": "jobs.reading.queries",
    "results": "jobs.store.results",
    "schedule_view": "jobs.reading.schedule_view",
    "submit_many": "jobs.engine.proxy",
}


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose public names are loaded at their first use.

    homes: the module of each name, which is an object in it, or the module itself.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        return getattr(module, name, module)

    return load


# Django imports this package before any model may be imported.
__getattr__ = lazily(__name__, _HOMES)
