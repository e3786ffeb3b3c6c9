"""Which retry policy judges a failed attempt. Settle obeys it, and explain tells of it."""

from typing import Protocol

from jobs.authoring.retry import CAP, Retry
from jobs.calls import registry
from jobs.calls.request import InvalidRequest


class Tried(Protocol):
    """What has to be known of a job. default_backoff: seconds."""

    @property
    def source_type(self) -> str: ...
    @property
    def source_method(self) -> str: ...
    @property
    def max_retries(self) -> int | None: ...
    @property
    def default_max_retries(self) -> int | None: ...
    @property
    def default_backoff(self) -> float: ...
    @property
    def backoff_grows(self) -> bool: ...


def policy_of(job: Tried) -> Retry | None:
    """The method's own policy; else that of its queue, or of the call, if they allow retries; else none."""
    try:
        own = registry.resolve(job.source_type, job.source_method).spec.retry
    except InvalidRequest:  # the method is no longer there
        own = None
    if own is not None:
        return own
    allowed = job.default_max_retries if job.max_retries is None else job.max_retries
    if allowed is None:
        return None
    base = job.default_backoff
    if not job.backoff_grows:
        return Retry.every(base, max_retries=allowed)
    return Retry.exponential(max_retries=allowed, base=base, cap=max(base, CAP))


def most_retries(job: Tried) -> int | None:
    """How many it may have: the call's own number comes before its policy's. None: no policy."""
    policy = policy_of(job)
    if policy is None or job.max_retries is not None:
        return job.max_retries
    return policy.max_retries
