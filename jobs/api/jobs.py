"""The endpoints. Each acts on the caller's tenant alone; another tenant's job is like none at all."""

import json
from typing import Annotated, Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from ninja import Query, Router
from ninja import Status as Answer

from jobs import models, reads
from jobs.api import inputs, schemas, waiting
from jobs.api.auth import Caller, CallerRequest
from jobs.api.problems import ProblemError, not_found
from jobs.engine.cancel import Cancellation, cancel
from jobs.engine.compose import compose_by_name
from jobs.engine.revive import revive
from jobs.engine.submit import submit
from jobs.lifecycle import Status
from jobs.request import JobRequest

router = Router(tags=["jobs"])

REFUSED = frozenset({401, 403, 405})
UNFIT = frozenset({422})
MISSING = frozenset({404, 422})
TOO_LATE = frozenset({409})
FULL = frozenset({429})

Wait = Annotated[float, Query(ge=0, le=waiting.MAX_SECONDS, description="Seconds to wait for a change.")]
Seen = Annotated[Status, Query(description="The status you know: if it is another by now, do not wait.")]


@router.post(
    "jobs",
    url_name="jobs",
    response={
        200: schemas.SubmittedJob,
        202: schemas.SubmittedJob,
        frozenset({400, 413}) | UNFIT | REFUSED | FULL: schemas.Problem,
    },
)
def submit_job(
    request: CallerRequest, submission: inputs.Submission, response: HttpResponse
) -> Answer[schemas.SubmittedJob]:
    """Submit a job. 202: it is new. 200: an identical one is under way, and here it is. 429: too many of yours wait."""
    caller = request.auth
    check_size(submission.args)
    submitted = submit(compose(caller, submission))
    response["Location"] = reverse("api:job", kwargs={"job_id": submitted.id})
    job = _job_of(caller.tenant.pk, submitted.id)
    answer = schemas.SubmittedJob.of(job, deduplicated=submitted.deduplicated)
    return Answer(200 if submitted.deduplicated else 202, answer)


def compose(caller: Caller, submission: inputs.Submission) -> JobRequest:
    """The checked request for a submission of this caller. Raises InvalidRequest."""
    options = submission.options()
    if caller.user_key is not None:
        options["user"] = caller.user_key  # a member submits for nobody else
    return compose_by_name(
        caller.tenant,
        source_type=submission.source_type,
        source_id=submission.source_id,
        source_method=submission.source_method,
        args=submission.args,
        **options,
    )


@router.get("jobs", response={200: schemas.JobPage, UNFIT | REFUSED: schemas.Problem})
def list_jobs(request: CallerRequest, wanted: Query[inputs.Wanted]) -> schemas.JobPage:
    """Your jobs, newest first, a page at a time."""
    inputs.refuse_unknown_names(request, inputs.Wanted)
    filters = wanted.model_dump(include={"status", "source_type", "source_id"}, exclude_none=True)
    found = reads.jobs(request.auth.tenant.pk).filter(**filters)
    if wanted.before is not None:
        found = found.filter(pk__lt=wanted.before)
    jobs = list(found[: wanted.limit + 1])  # one more, to know whether there is another page
    older = None
    if len(jobs) > wanted.limit:
        del jobs[-1]
        page = {"before": jobs[-1].pk, "limit": wanted.limit}
        older = f"{reverse('api:jobs')}?{urlencode(filters | page)}"
    return schemas.JobPage(jobs=[schemas.Job.of(job) for job in jobs], next=older)


@router.get("jobs/{job_id}", url_name="job", response={200: schemas.Job, MISSING | REFUSED: schemas.Problem})
async def read_job(request: CallerRequest, job_id: int, wait: Wait = 0, seen: Seen | None = None) -> schemas.Job:
    """A job. With `wait`, the answer comes as soon as its status changes, or when the time is over."""
    tenant_id = request.auth.tenant.pk
    if wait:
        await waiting.until_changed(waiting.status_reader(tenant_id, job_id), seen, wait)
    return schemas.Job.of(await sync_to_async(_job_of)(tenant_id, job_id))


@router.post(
    "jobs/{job_id}/cancel",
    response={200: schemas.Job, 202: schemas.Job, MISSING | REFUSED | TOO_LATE: schemas.Problem},
)
def cancel_job(request: CallerRequest, job_id: int) -> Answer[schemas.Job]:
    """Cancel a job. 200: it was waiting, and will not run. 202: it runs, and was asked to stop. 409: it has ended."""
    tenant_id = request.auth.tenant.pk
    outcome = cancel(job_id, tenant_id)
    job = _job_of(tenant_id, job_id)
    if outcome is Cancellation.TOO_LATE:
        raise ProblemError(409, f"The job has ended already, as {job.status}.")
    return Answer(200 if outcome is Cancellation.CANCELLED else 202, schemas.Job.of(job))


@router.post(
    "jobs/{job_id}/revive",
    response={202: schemas.Job, MISSING | REFUSED | TOO_LATE: schemas.Problem},
)
def revive_job(request: CallerRequest, job_id: int) -> Answer[schemas.Job]:
    """Give a job that ended badly a new series of attempts. 409: it is under way, or it ended well."""
    tenant_id = request.auth.tenant.pk
    revived = revive(job_id, tenant_id)
    job = _job_of(tenant_id, job_id)
    if not revived:
        raise ProblemError(409, f"The job is {job.status}; revived is what ended as error, dead or cancelled.")
    return Answer(202, schemas.Job.of(job))


def _job_of(tenant_id: int, job_id: int) -> models.Job:
    job = reads.job(tenant_id, job_id)
    if job is None:
        raise not_found()
    return job


def check_size(args: dict[str, Any], field: str = "args") -> None:
    """Raise the problem of arguments that are too long.

    The engine would refuse them as well, as unfit; HTTP has a status of its own for too much.
    """
    limit = settings.JOBS_ARGS_MAX_BYTES
    if len(json.dumps(args)) > limit:
        message = f"must not be over {limit} bytes as JSON ({limit // 1024} KiB)"
        raise ProblemError.unfit({field: message}, 413)
