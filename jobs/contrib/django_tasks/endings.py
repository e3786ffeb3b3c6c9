"""Errors of attempts that were ended from outside. No code raises them; `exception_class` of a result returns them."""

from jobs.authoring.exceptions import Cancelled


class ProcessDied(Exception):
    """The process of the attempt died, or was killed."""


class WorkerGone(Exception):
    """The worker of the attempt died with all its processes, or lost its machine."""


class WorkerStopped(Exception):
    """The worker of the attempt was stopped, and did not wait for its end."""


class NeighbourEnded(Exception):
    """The process of the attempt was ended because of another job in it; this one runs again."""


class SharedDeath(Exception):
    """The process of the attempt died with other jobs in it, and it is not known whose body it was; it runs again."""


class MemoryExceeded(Exception):
    """The process of the attempt was killed, because it took more memory than its job may use."""


ENDINGS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (ProcessDied, WorkerGone, WorkerStopped, NeighbourEnded, SharedDeath, MemoryExceeded, Cancelled)
}  # by the error class of the failed attempt
