"""The facts of one job that the pages of operators and of members share."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest

from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, AnyJob
from jobs.pages.attempts_chart import pieces
from jobs.pages.prediction_accuracy import accuracy_for, seen_prediction
from jobs.reading import queries
from jobs.reading.explain.explanation import Explanation
from jobs.reading.explain.reads import MAX_COUNTED_PLACE
from jobs.reading.predictor import starts


def job_context(
    request: HttpRequest, job: AnyJob, why: Explanation, moments: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    """Return the context for a page of the job. Its `failed` has the failed attempts, the last one first.

    moments: the names of times, and their columns.
    """
    failed, prediction = queries.failed_attempts(job), starts([job]).get(job.pk)
    return {
        "job": job,
        "now": why.now,
        "why": why,
        "far": why.place is not None and why.place > MAX_COUNTED_PLACE,
        "starts": prediction,
        "accuracy": accuracy_for(prediction),
        "seen_prediction": seen_prediction(request, job),
        "failed": failed[::-1],
        "pieces": pieces(job, failed, why.now),
        "moments": [(name, at) for name, column in moments if (at := getattr(job, column)) and at != HELD_UNTIL],
        "may_cancel": job.status not in FINAL,
        "may_revive": job.status in FINAL - {Status.SUCCESS} and not job.is_erased,
    }
