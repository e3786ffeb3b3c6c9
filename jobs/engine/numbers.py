"""Skip numbers of jobs after a failover or a restore: the new server may not know the last ones that were given out.

The jobs of those numbers are lost; but their bodies may still run, and messages, results and links name them. Attempts
and results are fenced in any case; with new numbers, nothing that is lost has the name of something else.
"""

from django.db import DatabaseError, OperationalError, transaction

from jobs import store, telemetry
from jobs.models import Job
from tenants import audit

SKIPPED = 1_000_000  # more than any standby lags behind; a number has 58 bits in its place in the lane


def skip(by: int = SKIPPED) -> int:
    """Skip so many numbers; return that of the next job."""
    with transaction.atomic():
        number = store.skip_numbers(by)
        audit.note("skipped numbers", Job, [(number, "the next job")], {"by": by}, tenant_id=None)
    telemetry.noticed("numbers of jobs skipped", next=number)
    return number


def skip_on_a_new_server() -> None:
    """Skip numbers if this server was promoted or restored since a clock last led. For a clock that takes the lead."""
    try:
        with transaction.atomic():
            if store.notice_server():
                skip()
    except OperationalError:  # the database is away: the next leader asks
        raise
    except DatabaseError as error:  # a provider may keep from us which server it is
        telemetry.noticed("a promotion cannot be noticed here", error=type(error).__name__)
