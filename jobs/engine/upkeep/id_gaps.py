"""Skip numbers of jobs, and of events for webhooks, after a failover or a restore.

The new server may not know the last numbers that were given out. The jobs with those numbers are lost, but their bodies
may still run, and messages, results and links name them. Attempts and results are fenced in any case. After the skip
no new job has the number of a lost one.
"""

from typing import NamedTuple

from django.db import DatabaseError, OperationalError, transaction

from jobs import telemetry
from jobs.models import Job
from jobs.store.rows import objects, rows
from tenants import audit

SKIPPED = 1_000_000  # more than any standby lags behind; a number has 58 bits in its place in the lane


class IdCounters(NamedTuple):
    """The numbers of jobs and of books, as this server has them.

    given: the last number that was given to a job; None: none yet.
    greatest: the greatest number that a job has; None: there is no job.
    door_is_behind: whether the door would give out versions that its books have already.
    server_known: False if this server was promoted or restored, and no clock has led on it since.
    """

    given: int | None
    greatest: int | None
    door_is_behind: bool
    server_known: bool


def counters() -> IdCounters:
    """Read the numbers. Raises the database's error on a standby, or if the role may not ask which server this is."""
    return objects(IdCounters, "numbers")[0]


def skip(by: int = SKIPPED) -> int:
    """Skip `by` numbers; return the number of the next job."""
    with transaction.atomic():
        _note_server()
        number: int = rows("skip_numbers", by=by)[0][0] + 1
        audit.note("skipped numbers", Job, [(number, "the next job")], {"by": by}, tenant_id=None)
    telemetry.noticed("numbers of jobs skipped", next=number)
    return number


def skip_on_a_new_server() -> None:
    """Skip numbers if this server was promoted or restored since a clock last led.

    A clock calls this when it takes the lead.
    """
    with transaction.atomic():
        if _note_server():
            skip()


def _note_server() -> bool:
    """Note the server, so that numbers are skipped on it only once; return whether it is new, and not the first one."""
    try:
        with transaction.atomic():
            noticed = rows("notice_server")
    except OperationalError:  # the database is away: the next leader asks
        raise
    except DatabaseError as error:  # a provider may keep from us which server it is
        telemetry.noticed("a promotion cannot be noticed here", error=type(error).__name__)
        return False
    return bool(noticed and noticed[0][0])
