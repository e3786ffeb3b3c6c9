"""Show users how accurate start predictions are: in general, and for the prediction that a user has seen.

The browser keeps the prediction of a job's start that a page showed. When the job has started, the page compares both.
Only a user who has seen a prediction sees its outcome; the database stores no row for it. See docs/insight.md.
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

COOKIE = "prediction"  # its path is the address of the page
A_DAY = 86_400  # seconds
ACCURACY_SECONDS = 60.0  # for which all viewers of a process see the same accuracy


def accuracy_for(starts: Starts | None) -> str:
    """Return a sentence about the whole installation; empty without p90, or before any outcome is known."""
    return accuracy() if starts and starts.p90 else ""


@cached(ACCURACY_SECONDS, before="")
def accuracy() -> str:
    """Return how often the predictions of the last day were correct, as a sentence."""
    with looking(TIMEOUT):
        return look_predictions().how_often


@dataclass(frozen=True)
class SeenPrediction:
    """A prediction that a job starts by a moment, with 90 %; and whether it did."""

    made_at: datetime
    by: datetime
    is_correct: bool


def seen_prediction(request: HttpRequest, job: JobRow) -> SeenPrediction | None:
    """Return the prediction that this browser saw of the job's last start; None if it saw none."""
    kept, started_at = _kept(request, job, job.attempt), job.start_time
    if kept is None or started_at is None:
        return None
    return SeenPrediction(*kept, started_at <= kept[1])


def keep(response: HttpResponse, request: HttpRequest, job: JobRow, starts: Starts | None) -> HttpResponse:
    """Let the browser keep the first prediction that it sees of the next start."""
    if starts is None or starts.p90 is None or starts.made_at is None or job.status != Status.CREATED:
        return response
    if _kept(request, job, job.attempt + 1) is None:
        moments = [starts.made_at.timestamp(), starts.p90.timestamp()]
        kept = signing.dumps(moments, salt=_salt(job, job.attempt + 1))
        secure = request.is_secure()
        response.set_cookie(COOKIE, kept, A_DAY, path=request.path, secure=secure, httponly=True, samesite="Lax")
    return response


def _kept(request: HttpRequest, job: JobRow, attempt: int) -> tuple[datetime, datetime] | None:
    """Return when the prediction for this attempt was made, and by when it starts; None if the browser keeps none."""
    try:
        made_at, by = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_salt(job, attempt), max_age=A_DAY)
    except signing.BadSignature:
        return None
    return datetime.fromtimestamp(made_at, UTC), datetime.fromtimestamp(by, UTC)


def _salt(job: JobRow, attempt: int) -> str:
    return f"jobs prediction {job.pk} {attempt}"
