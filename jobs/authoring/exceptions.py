"""Exceptions with which a running method decides how its attempt ends."""

from jobs.authoring.groups import leaves
from plumbing.bounds import MAX_SECONDS, is_number


class TenantError(Exception):
    """`raise TenantError("There is no such region.")`: a failure whose text the tenant may read.

    Tenants see only the class of any other error. Derive your errors for people from this class.
    """


class Abandon(TenantError):
    """`raise Abandon("why")`: no retry will help. The job dies at once; its retry policy is not asked."""


class RetryLater(Exception):
    """`raise RetryLater(30)`: run the job again in 30 seconds. It is not a failure and uses no retry.

    Raises ValueError unless it gets a number of seconds, at most 366 days.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = float(_checked(seconds))
        super().__init__(f"again in {seconds:.15g} s")


def delay_of(error: BaseException) -> float:
    """Return the seconds until the next try; for a group of RetryLater the longest.

    Raises ValueError for an invalid number, and whatever the `seconds` of a derived class raise.
    """
    return max(float(_checked(leaf.seconds)) for leaf in leaves(error) if isinstance(leaf, RetryLater))


def _checked(seconds: float) -> float:
    if not is_number(seconds, 0, MAX_SECONDS):
        raise ValueError(f"RetryLater takes a number of seconds from 0 to {MAX_SECONDS:.0f}, not {seconds!r}")
    return seconds


class Cancelled(Exception):
    """`check_cancelled()` raises it in a job that was asked to stop; do not catch it."""


class ResultGone(Exception):
    """`current_job().results()` raises it: a job that this one waited for has no result, or the cache has lost it.

    ids: the ids of the jobs without a result.
    """

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids
        named = f"job {ids[0]}" if len(ids) == 1 else f"jobs {', '.join(map(str, ids))}"
        super().__init__(f"the result of {named} is gone: the job did not succeed, or the cache has lost it")


class StaleAttempt(Exception):
    """This attempt was taken back and counts no longer, so its memory refuses to be written. Do not catch it."""
