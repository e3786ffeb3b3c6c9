"""Find the retry policy of a failed attempt, for settle and for explain."""

from typing import Protocol

from jobs.authoring.retry import MAX_DELAY, Retry
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest


class Tried(Protocol):
    """The fields of a job that decide its policy.

    default_backoff: in seconds.
    """

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
    """Return the method's own policy; else one from its queue or its call, if they allow retries; else None."""
    try:
        own = registry.resolve(job.source_type, job.source_method).spec.retry
    except InvalidRequest:  # the method no longer exists
        own = None
    if own is not None:
        return own
    allowed = job.default_max_retries if job.max_retries is None else job.max_retries
    if allowed is None:
        return None
    base = job.default_backoff
    if not job.backoff_grows:
        return Retry.every(base, max_retries=allowed)
    return Retry.exponential(max_retries=allowed, base=base, cap=max(base, MAX_DELAY))


def most_retries(job: Tried) -> int | None:
    """Return the most retries: those of the call, else those of the policy; None: there is no policy."""
    policy = policy_of(job)
    if policy is None or job.max_retries is not None:
        return job.max_retries
    return policy.max_retries
