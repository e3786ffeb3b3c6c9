"""The facts of one job that the pages of operators and of members share."""

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpRequest

from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, AnyFailedAttempt, AnyJob
from jobs.pages.attempt_rows import MOST_ROWS, attempt_rows
from jobs.pages.prediction_accuracy import accuracy_for, seen_prediction
from jobs.reading import queries
from jobs.reading.explain.explanation import Explanation
from jobs.reading.explain.reads import MAX_COUNTED_PLACE
from jobs.reading.predictor import starts
from jobs.reading.revivals import revivals
from tenants.models import Change


def job_context(
    request: HttpRequest,
    job: AnyJob,
    why: Explanation,
    moments: Iterable[tuple[str, str]],
    *,
    error: Callable[[AnyFailedAttempt], str],
    who: Callable[[Change], str],
) -> dict[str, Any]:
    """Return the context for a page of the job.

    moments: the names of times, and their columns.
    error: the error of a failed attempt, as the reader may see it.
    who: the name of the person who revived the job, as the reader may see it.
    """
    failed, prediction = queries.failed_attempts(job, MOST_ROWS), starts([job]).get(job.pk)
    return {
        "job": job,
        "now": why.now,
        "why": why,
        "far": why.place is not None and why.place > MAX_COUNTED_PLACE,
        "starts": prediction,
        "accuracy": accuracy_for(prediction),
        "seen_prediction": seen_prediction(request, job),
        "attempts": attempt_rows(job, failed, revivals(job.pk, who), why.now, error),
        "moments": [(name, at) for name, column in moments if (at := getattr(job, column)) and at != HELD_UNTIL],
        "may_cancel": job.status not in FINAL,
        "may_revive": job.status in FINAL - {Status.SUCCESS} and not job.is_erased,
    }
