"""A multi-tenant job scheduler: `from jobs import Asynchronous, job, current_job, submit_many`."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.authoring.current import current_job
    from jobs.authoring.decorator import job
    from jobs.authoring.exceptions import (
        Abandon,
        Cancelled,
        HandedBack,
        ResultGone,
        RetryLater,
        StaleAttempt,
        TenantError,
        WaitFor,
    )
    from jobs.authoring.in_thread import in_thread
    from jobs.authoring.memory import MISSING
    from jobs.authoring.retry import Retry
    from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
    from jobs.engine.door.dispatcher import dispatch_in_background
    from jobs.engine.submitting.batches import batch
    from jobs.engine.submitting.chain import chain, group
    from jobs.engine.submitting.proxy import Asynchronous, asubmit_many, async_, submit_many
    from jobs.engine.verbs import events
    from jobs.engine.verbs.cancel import cancel
    from jobs.engine.verbs.revive import revive
    from jobs.reading import queries, schedule_view
    from jobs.store import results
    from jobs.store.owner import EVERY_TENANT

__all__ = [
    "EVERY_TENANT",
    "MISSING",
    "Abandon",
    "Asynchronous",
    "Cancelled",
    "HandedBack",
    "InvalidRequest",
    "ResultGone",
    "Retry",
    "RetryLater",
    "StaleAttempt",
    "TenantError",
    "TooManyWaiting",
    "Undecided",
    "WaitFor",
    "asubmit_many",
    "async_",
    "batch",
    "cancel",
    "chain",
    "current_job",
    "dispatch_in_background",
    "events",
    "group",
    "in_thread",
    "job",
    "queries",
    "results",
    "revive",
    "schedule_view",
    "submit_many",
]

_NAMES = {
    "jobs.authoring.current": ("current_job",),
    "jobs.authoring.decorator": ("job",),
    "jobs.authoring.exceptions": (
        *("Abandon", "Cancelled", "HandedBack", "ResultGone", "RetryLater", "StaleAttempt", "TenantError", "WaitFor"),
    ),
    "jobs.authoring.memory": ("MISSING",),
    "jobs.authoring.retry": ("Retry",),
    "jobs.authoring.in_thread": ("in_thread",),
    "jobs.calls.refusals": ("InvalidRequest", "TooManyWaiting", "Undecided"),
    "jobs.engine.submitting.batches": ("batch",),
    "jobs.engine.verbs.cancel": ("cancel",),
    "jobs.engine.verbs.events": ("events",),
    "jobs.engine.submitting.chain": ("chain", "group"),
    "jobs.engine.door.dispatcher": ("dispatch_in_background",),
    "jobs.engine.submitting.proxy": ("Asynchronous", "asubmit_many", "async_", "submit_many"),
    "jobs.engine.verbs.revive": ("revive",),
    "jobs.reading.queries": ("queries",),
    "jobs.reading.schedule_view": ("schedule_view",),
    "jobs.store.owner": ("EVERY_TENANT",),
    "jobs.store.results": ("results",),
}


def lazily(package: str, names: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose public names are loaded at their first use.

    names: the names by module. A name is that of an object in the module, or of the module itself.
    """
    homes = {name: module for module, those in names.items() for name in those}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        return getattr(module, name, module)

    return load


# Django imports this package before any model may be imported.
__getattr__ = lazily(__name__, _NAMES)
