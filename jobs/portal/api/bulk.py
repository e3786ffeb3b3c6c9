"""Submit many jobs in one request: one statement stores all of them or none."""

from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from ninja import Router

from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.engine.submit import Submitted, submit_all
from jobs.portal.api import idempotency, inputs, schemas
from jobs.portal.api.auth import Caller, CallerRequest
from jobs.portal.api.jobs import compose
from jobs.portal.api.problems import ProblemError

router = Router(tags=["jobs"])


@router.post(
    "jobs/bulk", url_name="jobs_bulk", response={202: schemas.SubmittedBatch}, openapi_extra=idempotency.PARAMETER
)
@idempotency.repeatable
def submit_jobs(request: CallerRequest, batch: inputs.Submissions) -> HttpResponse:
    """Submit 1 to 1000 jobs, all or none. An error names the index: `jobs[3].priority`. 429: your backlog is full."""
    try:
        requests = [_compose(request.auth, index, submission) for index, submission in enumerate(batch.jobs)]
        # One statement stores all; a second one follows if another caller submits an identical job at this moment.
        with transaction.atomic():
            submitted = submit_all(requests)
    except InvalidRequest as refused:
        raise ProblemError.refused(refused, f"jobs[{refused.index}].{refused.field}") from None
    return schemas.answer(202, {"jobs": [_told(one) for one in submitted]})


def _compose(caller: Caller, index: int, submission: inputs.Submission) -> JobRequest:
    try:
        return compose(caller, submission)
    except InvalidRequest as refused:
        refused.index = index
        raise


def _told(one: Submitted) -> dict[str, Any]:
    """The values of a `BatchJob`."""
    url = reverse("api:job", kwargs={"job_id": one.id})
    return {"id": one.id, "status": one.status, "deduplicated": one.deduplicated, "url": url}
