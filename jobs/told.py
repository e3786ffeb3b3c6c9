"""What a tenant is told of an error: its class, and its text where somebody meant it for the tenant.

The text of any other exception may hold paths, SQL, host names or other rows' values. It is for the operators.
"""

import re

from jobs.authoring.exceptions import TenantError

# The scheduler's own, whose texts hold nothing of a machine; those of a body are told apart by their class.
OURS = frozenset({"Cancelled", "MemoryExceeded", "ProcessDied", "ResultRefused", "SourceGone", "WorkerGone"})
TIMED_OUT = re.compile(r"TimeoutError: timed out after [0-9.e+]+ s( and was killed)?")


def told(last_error: str) -> str:
    """Of "Class: text" what the tenant is told."""
    if not last_error:
        return ""
    error_class, _, _ = last_error.partition(": ")
    open_to_all = error_class in OURS or error_class in _meant(TenantError) or TIMED_OUT.fullmatch(last_error)
    return last_error if open_to_all else error_class


def _meant(base: type[TenantError]) -> set[str]:
    """The names of the class and all below it: those that this process has loaded. What it does not know, it hides."""
    return {base.__name__}.union(*map(_meant, base.__subclasses__()))
