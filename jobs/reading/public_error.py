"""The part of an error that its tenant may see: the class, and the text if its author meant it for the tenant.

The text of any other exception may contain paths, SQL, host names or values of other rows. Only operators see it.
"""

import re

from jobs.authoring.exceptions import TenantError
from jobs.models import NEIGHBOUR_ENDED, SHARED_DEATH, WORKER_STOPPED

# The scheduler's own errors, whose texts reveal nothing of a machine. For the errors of bodies the class decides.
OURS = frozenset(
    {"Cancelled", "MemoryExceeded", "ProcessDied", "ResultRefused", "SourceGone"}
    | {NEIGHBOUR_ENDED, SHARED_DEATH, "WorkerGone", WORKER_STOPPED}
)
TIMED_OUT = re.compile(r"TimeoutError: timed out after [0-9.e+]+ s( and was killed)?")


def public_text(last_error: str) -> str:
    """Return the part of "Class: text" that the tenant may see."""
    if not last_error:
        return ""
    error_class, _, _ = last_error.partition(": ")
    open_to_all = error_class in OURS or error_class in _meant(TenantError) or TIMED_OUT.fullmatch(last_error)
    return last_error if open_to_all else error_class


def _meant(base: type[TenantError]) -> set[str]:
    """Return the names of the class and its subclasses in this process. The texts of unknown classes stay hidden."""
    return {base.__name__}.union(*map(_meant, base.__subclasses__()))
