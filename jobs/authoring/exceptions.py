"""Exceptions with which a running method decides how its attempt ends."""

from dataclasses import dataclass

from jobs.authoring.groups import leaves, means
from plumbing.bounds import MAX_SECONDS, is_number
from plumbing.text import storable

MOST_OF_NAME = 200  # characters of an event


class TenantError(Exception):
    """`raise TenantError("There is no such region.")`: a failure whose text the tenant may read.

    Tenants see only the class of any other error. Derive your errors for people from this class.
    """


class Abandon(TenantError):
    """`raise Abandon("why")`: no retry will help. The job dies at once; its retry policy is not asked."""


class RetryLater(Exception):
    """`raise RetryLater(30)`: run the job again in 30 seconds. It is not a failure and uses no retry.

    hold: what waits with it, so that its next attempt is the first that asks again, and not 500 others.
        None: only the job.
        "tenant": the jobs of its tenant in its queue.
        "queue": all jobs of its queue, of all tenants; only for a job type with @job(may_hold="queue").
    why: the reason, for people: "429 from the partner". The tenant reads it, and 200 characters of it are kept.

    Jobs that run go on. The line is held for JOBS_LONGEST_HOLD seconds at most, and the job comes then.
    Raises ValueError unless it gets a number of seconds, at most 366 days, and one of these holds.
    """

    hold: str | None = None
    why: str = ""

    def __init__(self, seconds: float, *, hold: str | None = None, why: str = "") -> None:
        later = Later(seconds, hold, why)
        self.seconds, self.hold, self.why = float(later.seconds), hold, why
        super().__init__(f"again in {seconds:.15g} s{f': {why}' if why else ''}")


HOLDS = (None, "tenant", "queue")  # each holds more jobs than the one before


@dataclass(frozen=True)
class Later:
    """The request of a RetryLater. Raises ValueError for what is not possible."""

    seconds: float
    hold: str | None = None
    why: str = ""

    def __post_init__(self) -> None:
        if not is_number(self.seconds, 0, MAX_SECONDS):
            raise ValueError(f"RetryLater takes a number of seconds from 0 to {MAX_SECONDS:.0f}, not {self.seconds!r}")
        if self.hold not in HOLDS:
            raise ValueError(f'RetryLater takes hold="tenant", hold="queue" or none, not {self.hold!r}')
        if not isinstance(self.why, str):
            raise ValueError(f"RetryLater takes why as a text, not {self.why!r}")


def later_of(error: BaseException) -> Later:
    """Return what the error asks for; of a group of RetryLater the longest time, and the hold of most jobs.

    Raises ValueError for what is not possible, and whatever the attributes of a derived class raise.
    """
    asked = [Later(leaf.seconds, leaf.hold, leaf.why) for leaf in leaves(error) if isinstance(leaf, RetryLater)]
    widest = max(asked, key=lambda later: HOLDS.index(later.hold))
    return Later(max(float(later.seconds) for later in asked), widest.hold, widest.why)


class WaitFor(Exception):
    """`raise WaitFor("approved:42", seconds=86400)`: run the job again when that event of its tenant comes.

    Until then it holds no slot and no process. It is not a failure and uses no retry. The next attempt has the event
    as `current_job().event`. An event that came before opens it at once. If it does not come in so many seconds,
    the job is cancelled.

    Raises ValueError unless it gets a name of 1 to 200 characters, and more than 0 seconds, at most 366 days.
    """

    name: str
    seconds: float

    def __init__(self, name: str, *, seconds: float) -> None:
        wait = EventWait(name, seconds)
        self.name, self.seconds = wait.name, float(wait.seconds)
        super().__init__(f"the event {name}, for {seconds:.15g} s")


@dataclass(frozen=True)
class EventWait:
    """The request of a WaitFor. Raises ValueError for what is not possible."""

    name: str
    seconds: float

    def __post_init__(self) -> None:
        if not is_event_name(self.name):
            raise ValueError(
                f"WaitFor takes the name of an event, text of 1 to {MOST_OF_NAME} characters, not {self.name!r}"
            )
        if not is_number(self.seconds, 0, MAX_SECONDS) or not self.seconds:
            raise ValueError(f"WaitFor takes seconds, more than 0 and at most {MAX_SECONDS:.0f}, not {self.seconds!r}")


def is_event_name(name: object) -> bool:
    """Return whether an event may have this name."""
    return isinstance(name, str) and 0 < len(name) <= MOST_OF_NAME and storable(name) == name


def wait_of(error: BaseException) -> EventWait:
    """Return what the error asks for; of a group of WaitFor the one event, and the shortest time.

    Raises ValueError for what is not possible, and whatever the attributes of a derived class raise.
    """
    asked = [EventWait(leaf.name, leaf.seconds) for leaf in leaves(error) if isinstance(leaf, WaitFor)]
    if len({wait.name for wait in asked}) > 1:
        raise ValueError("WaitFor takes one event for each attempt: wait for the others in later attempts")
    return min(asked, key=lambda wait: wait.seconds)


def wish_of(error: BaseException) -> Later | EventWait:
    """Return what a RetryLater or a WaitFor asks for. Raises as the two do."""
    return wait_of(error) if means(error, WaitFor) else later_of(error)


class Cancelled(Exception):
    """`check_cancelled()` raises it in a job that was asked to stop; do not catch it."""


class HandedBack(Exception):
    """`checkpoint()` raises it where the job gives its slot back: it goes on later, from its cursor. Do not catch it.

    why: the reason, one of `jobs.lifecycle.HandBack`.
    """

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"handed back: {why}")


class ResultGone(Exception):
    """`current_job().results()` raises it: a job that this one waited for has no result, or the cache has lost it.

    ids: the ids of the jobs without a result.
    """

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids
        named = f"job {ids[0]}" if len(ids) == 1 else f"jobs {', '.join(map(str, ids))}"
        super().__init__(f"the result of {named} is gone: the job did not succeed, or the cache has lost it")


class StaleAttempt(Exception):
    """This attempt was taken back and counts no longer, so it cannot write its memory, nor its end. Do not catch it."""
