"""Read when people revived a job, and who: from the audit log, which has the revivals of many jobs at once, too."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from jobs.models import Job
from plumbing.names import kind_of
from tenants.audit import about
from tenants.models import Change

MOST = 20


@dataclass(frozen=True)
class Revival:
    """A revival of a job. Of one of many jobs, `at` is when that action began.

    who: "" if the reader may not know it.
    """

    at: datetime
    who: str


def revivals(job_id: int, who: Callable[[Change], str] = lambda change: change.who) -> list[Revival]:
    """Return the last MOST revivals of a job by people, the first one first. The job must be the reader's.

    who: the name of the actor of a change, as the reader may see it.
    """
    found = Change.objects.filter(about(kind_of(Job), str(job_id)), verb="revived").order_by("-at")[:MOST]
    return [Revival(change.at, who(change)) for change in reversed(found)]
