"""Whether what is said of starts holds: how often, for who is told one; and what came of the one that was told.

What a page said of a job's start is kept by the browser that showed it: when the job has started, the page compares.
Only who has read a statement is told how it held; no row is written for it. See docs/insight.md.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.core import signing
from django.http import HttpRequest, HttpResponse

from jobs.lifecycle import Status
from jobs.models import JobRow
from jobs.pages.cached import cached
from jobs.reading.health.looks import TIMEOUT, look_predictions
from jobs.reading.looking import looking
from jobs.reading.starts import Starts

COOKIE = "said"  # of the address of the page
A_DAY = 86_400  # seconds
OFTEN_SECONDS = 60.0  # for which all viewers of a process are told the same of how often it holds


def how_often_held(said: Starts | None) -> str:
    """A sentence of the whole installation; empty where no two moments are said, or no outcome is known."""
    return sentence() if said and said.p90 else ""


@cached(OFTEN_SECONDS, before="")
def sentence() -> str:
    with looking(TIMEOUT):
        return look_predictions().how_often


@dataclass(frozen=True)
class Said:
    """That a job would start by a moment, with 90 %; and whether it did."""

    made_at: datetime
    by: datetime
    held: bool


def said_of(request: HttpRequest, job: JobRow) -> Said | None:
    """What was said to this browser of the start that the job has had."""
    kept, started_at = _kept(request, job, job.attempt), job.start_time
    if kept is None or started_at is None:
        return None
    return Said(*kept, started_at <= kept[1])


def keep(response: HttpResponse, request: HttpRequest, job: JobRow, starts: Starts | None) -> HttpResponse:
    """Let the browser keep the first that it is told of the next start."""
    if starts is None or starts.p90 is None or starts.made_at is None or job.status != Status.CREATED:
        return response
    if _kept(request, job, job.attempt + 1) is None:
        said = [starts.made_at.timestamp(), starts.p90.timestamp()]
        kept = signing.dumps(said, salt=_salt(job, job.attempt + 1))
        secure = request.is_secure()
        response.set_cookie(COOKIE, kept, A_DAY, path=request.path, secure=secure, httponly=True, samesite="Lax")
    return response


def _kept(request: HttpRequest, job: JobRow, attempt: int) -> tuple[datetime, datetime] | None:
    """When a statement of this attempt was made, and by when it would start."""
    try:
        made_at, by = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_salt(job, attempt), max_age=A_DAY)
    except signing.BadSignature:
        return None
    return datetime.fromtimestamp(made_at, UTC), datetime.fromtimestamp(by, UTC)


def _salt(job: JobRow, attempt: int) -> str:
    return f"jobs said {job.pk} {attempt}"
