"""The endpoints of jobs. Each acts only on the caller's tenant; another tenant's job looks as if it did not exist."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Q
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from ninja import Query, Router

from jobs import models
from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.engine.submitting.submit import Submitted, submit, submit_all
from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.revive import revive, why_not
from jobs.http import idempotency, inputs, pages, schemas, throttle
from jobs.http.auth import Caller, CallerRequest
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError, existing
from jobs.lifecycle import Status
from jobs.portal.api.following import ways
from jobs.reading import listing, queries, waiting
from jobs.reading.listing import Sought
from tenants.auth import Way

router = Router(tags=["jobs"])

FILTERS, COLUMNS = {"source_type", "source_id", "source_method", "user", "sequence"}, {"user": "user_key"}

Wait = Annotated[
    float,
    Query(ge=0, le=waiting.MAX_SECONDS, description="Seconds to wait for a change."),
    inputs.IN_DECIMALS,
]
Seen = Annotated[Status, Query(description="The status you know. If it has changed, the answer comes at once.")]


@router.post(
    "jobs",
    url_name="jobs",
    response={200: schemas.SubmittedJob, 202: schemas.SubmittedJob},
    openapi_extra=idempotency.PARAMETER,
)
@idempotency.repeatable
def submit_job(request: CallerRequest, submission: inputs.Submission) -> HttpResponse:
    """Submit a job. 202: it is new. 200: an identical unfinished job is returned. 429: your backlog is full."""
    job_request = compose(request.auth, submission)
    submitted = submit(job_request)
    new = not submitted.deduplicated
    job: models.JobRow = _stored(job_request, submitted) if new else _job_of(request.auth.tenant.pk, submitted.id)
    address = reverse("jobs_api:job", kwargs={"job_id": submitted.id})
    return schemas.answer(202 if new else 200, schemas.job_values(job, deduplicated=not new), address)


def compose(caller: Caller, submission: inputs.Submission) -> JobRequest:
    """Check a submission of this caller. Raises InvalidRequest."""
    options = submission.options()
    if caller.user_key is not None:
        options["user"] = caller.user_key  # a member submits only for itself
    return compose_by_name(caller.tenant, **submission.call(), by_tenant=True, **options)


def composed(caller: Caller, where: str, submission: inputs.Submission) -> JobRequest:
    """Check one submission of several. Raises ProblemError, naming its place in the document.

    where: the place, such as "jobs[3]".
    """
    with named(where):
        return compose(caller, submission)


@contextmanager
def named(where: str) -> Iterator[None]:
    """Let a refusal in the block name the place in the document."""
    try:
        yield
    except InvalidRequest as refused:
        place = where if refused.index is None or where != "jobs" else f"jobs[{refused.index}]"
        raise ProblemError.refused(refused, f"{place}.{refused.field}") from None


# Before jobs/{job_id}, which would match "bulk".
@router.post(
    "jobs/bulk", url_name="jobs_bulk", response={202: schemas.SubmittedBatch}, openapi_extra=idempotency.PARAMETER
)
@idempotency.repeatable
def submit_jobs(request: CallerRequest, batch: inputs.Submissions) -> HttpResponse:
    """Submit 1 to 1000 jobs, all or none. An error names the index: `jobs[3].priority`. 429: your backlog is full."""
    requests = [composed(request.auth, f"jobs[{index}]", job) for index, job in enumerate(batch.jobs)]
    # One statement stores all; a second one follows if another caller submits an identical job at this moment.
    with named("jobs"), transaction.atomic():
        submitted = submit_all(requests)
    return schemas.answer(202, {"jobs": [_as_document(job) for job in submitted]})


def _as_document(submitted: Submitted) -> dict[str, Any]:
    """Return the values of a `BatchJob`."""
    url = reverse("jobs_api:job", kwargs={"job_id": submitted.id})
    return {"id": submitted.id, "status": submitted.status, "deduplicated": submitted.deduplicated, "url": url}


@router.get("jobs", response=schemas.JobPage)
def list_jobs(request: CallerRequest, wanted: Query[inputs.Wanted]) -> schemas.JobPage:
    """List your jobs, newest first, a page at a time.

    A page searches 10,000 jobs: it may be empty although there is a next page.
    """
    filters = wanted.model_dump(include=FILTERS, exclude_none=True)
    conditions = Q(**{COLUMNS.get(name, name): value for name, value in filters.items()})
    sought = Sought(request.auth.tenant, batch=wanted.batch, others=conditions)
    if wanted.status is not None:
        sought.add_status(wanted.status)
    job_page = listing.page(sought, wanted.limit, before=wanted.before)
    older = pages.onward(reverse("jobs_api:jobs"), wanted, before=job_page.before)
    return schemas.JobPage(jobs=[schemas.ListedJob(**schemas.listed_values(job)) for job in job_page.jobs], next=older)


@router.get("jobs/{job_id}", url_name="job", response=schemas.Job)
def read_job(
    request: CallerRequest, job_id: inputs.PathId, wait: Wait = 0, seen: Seen | None = None
) -> HttpResponseBase:
    """Read a job. With `wait`, the answer comes when the status changes, or after so many seconds."""
    job = _job_of(request.auth.tenant.pk, job_id)
    if not wait:
        return schemas.answer(200, schemas.read_job_values(job))
    place = throttle.Place(job.tenant_id)
    # The wait runs in the event loop and holds no thread.
    changed = _when_changed(job, seen, wait, request.auth.way, place)
    return throttle.Waiting(place, changed, content_type=schemas.MEDIA_TYPE)


async def _when_changed(
    job: models.JobRow, seen: str | None, seconds: float, way: Way, place: throttle.Place
) -> AsyncIterator[str]:
    document = schemas.job_values(job)
    try:
        with suppress(DatabaseError, InterfaceError):  # too late for a 503: answer with the job as it was
            await waiting.until_changed(waiting.status_reader(job.tenant_id, job.pk), seen or job.status, seconds)
            if await ways.ask(way):  # or with the job as it was while the caller might see it
                document = await sync_to_async(_read_again)(job)
    finally:
        place.leave()
    yield schemas.text(document)  # the job may be deleted by now, but existed when the request came


def _read_again(job: models.JobRow) -> dict[str, Any]:
    return schemas.read_job_values(queries.job(job.tenant_id, job.pk) or job)


@router.post(
    "jobs/{job_id}/cancel",
    response={200: schemas.Job, 202: schemas.Job, 409: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
@idempotency.repeatable
def cancel_job(request: CallerRequest, job_id: inputs.PathId) -> HttpResponse:
    """Cancel a job. 200: it was waiting and will not run. 202: it runs and was asked to stop. 409: it has ended."""
    tenant_id = request.auth.tenant.pk
    outcome = cancel(job_id, tenant_id=tenant_id)
    job = _job_of(tenant_id, job_id)
    if outcome is Cancellation.TOO_LATE:
        raise ProblemError(ProblemCode.JOB_ENDED, f"The job has already ended as {job.status}.")
    return schemas.answer(200 if outcome is Cancellation.CANCELLED else 202, schemas.read_job_values(job))


@router.post(
    "jobs/{job_id}/revive",
    response={202: schemas.Job, 409: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
@idempotency.repeatable
def revive_job(request: CallerRequest, job_id: inputs.PathId) -> HttpResponse:
    """Give a job that failed or was cancelled a new series of attempts.

    409: it is under way, it succeeded, an operator ended it, or its arguments were erased. 429: your backlog is full.
    """
    tenant_id = request.auth.tenant.pk
    revived = revive(job_id, tenant_id=tenant_id)
    job = _job_of(tenant_id, job_id)
    if not revived:
        raise ProblemError(ProblemCode.JOB_NOT_REVIVABLE, why_not(job, tenant_id=tenant_id))
    return schemas.answer(202, schemas.read_job_values(job))


def _job_of(tenant_id: int, job_id: int) -> models.AnyJob:
    return existing(queries.job(tenant_id, job_id), "job")


def _stored(job_request: JobRequest, submitted: Submitted) -> models.Job:
    """Return the new job, made of known values: no query reads it back."""
    copied = (
        *("tenant_id", "source_type", "source_id", "source_method", "args", "priority", "user_key", "max_retries"),
        "sequence",
    )
    return models.Job(
        id=submitted.id,
        queue=models.Queue(name=job_request.queue),
        status=submitted.status,
        created_at=submitted.created_at,  # type: ignore[misc]  # set for a new job
        ready_at=submitted.created_at if submitted.status == Status.CREATED else None,
        due_at=submitted.due_at,
        expires_at=submitted.expires_at,
        **{name: getattr(job_request, name) for name in copied},
    )
