"""Jobs of all tenants: list, read, cancel, revive."""

from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from ninja import Query, Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs import models, store
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.operations.filters import MOMENTS, JobFilters
from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.revive import revive, why_not
from jobs.engine.verbs.stack import ask_for_stack
from jobs.http import inputs, pages, schemas
from jobs.http.codes import ProblemCode
from jobs.http.inputs import PathId
from jobs.http.problems import ProblemError, existing
from jobs.reading import listing, queries, stacks
from jobs.store import EVERY_TENANT

CHANGE = may("jobs.change_job")
router = Router(tags=["operators"], auth=may("jobs.view_job"))


class AnyJob(schemas.ListedJob):
    """A job in an operator's list."""

    tenant: str = Field(description="Its slug.")
    last_error: str = Field(description="The full text, with the parts that the tenant does not see.")


class WholeJob(AnyJob):
    """A job, as an operator sees it."""

    args: dict[str, Any]
    stats: dict[str, Any]


class AskedStack(Schema):
    """A question for the stack of a running job, and the answer of its worker."""

    attempt: int
    asked_at: datetime
    answered_at: datetime | None = Field(description="When its worker answered. Null: it has not.")
    stack: list[str] = Field(description="Files, lines and functions, the innermost call first. Empty: see note.")
    note: str = Field(description="Why there is no stack, or none yet.")


class AnyJobs(schemas.JobPage):
    jobs: list[AnyJob] = Field(description="Newest first.")  # type: ignore[assignment]


class SoughtJobs(inputs.Wanted):
    """Filters, as in the search of the pages; a job must match all that are given."""

    tenant: inputs.Text | None = Field(None, description="Its slug.")
    queue: inputs.Name | None = None
    user: inputs.Name | None = None
    batch: inputs.RowId | None = None
    worker: inputs.Name | None = Field(None, description="The name of the worker that runs it, or ran it last.")
    error: inputs.Text | None = Field(None, description='The class of the last error, such as "ValueError".')
    retried: Literal["yes", "no"] | None = Field(None, description="Whether it had a failed attempt or a crash.")
    ran: inputs.Text | None = Field(None, description="How long its last attempt ran: >10s, <1m.")
    waited: inputs.Text | None = Field(None, description="How long its last attempt waited: >1m, <2h.")
    attempt: inputs.Text | None = Field(None, description="The number of its last attempt: >1, <3, 2.")
    since: inputs.Text | None = Field(None, description=f"Submitted after this time: {MOMENTS}.")
    until: inputs.Text | None = Field(None, description="Submitted up to this time.")
    ended_since: inputs.Text | None = Field(None, description="Ended from this time on.")
    ended_until: inputs.Text | None = Field(None, description="Ended before this time.")


@router.get("jobs", url_name="operator_jobs", response=AnyJobs)
def list_all_jobs(request: OperatorRequest, wanted: Query[SoughtJobs]) -> AnyJobs:
    """List the jobs of all tenants, newest first, in pages. Each page looks at up to 10,000 jobs."""
    sought = JobFilters()
    for name, value in wanted.model_dump(exclude={"before", "limit"}, exclude_none=True).items():
        sought.add(name, value, timezone.now())
    job_page = listing.page(sought, wanted.limit, before=wanted.before)
    older = pages.onward(reverse("jobs_api:operator_jobs"), wanted, before=job_page.before)
    return AnyJobs(jobs=[AnyJob(**_listed(job)) for job in job_page.jobs], next=older)


@router.get("jobs/{job_id}", response=WholeJob)
def read_any_job(request: OperatorRequest, job_id: PathId) -> WholeJob:
    """Read a job of any tenant."""
    return _whole(_job_of(job_id))


@router.post("jobs/{job_id}/cancel", auth=CHANGE, response={200: WholeJob, 202: WholeJob, 409: schemas.Problem})
def cancel_any_job(request: OperatorRequest, job_id: PathId) -> Answer[WholeJob]:
    """Cancel a job; its tenant cannot revive it. 200: it was waiting. 202: it is running and was asked to stop."""
    with transaction.atomic():
        outcome = cancel(job_id, tenant_id=EVERY_TENANT)
        whole = _whole(_job_of(job_id))
        if outcome is Cancellation.TOO_LATE:
            raise ProblemError(ProblemCode.JOB_ENDED, f"The job has already ended as {whole.status}.")
    return Answer(200 if outcome is Cancellation.CANCELLED else 202, whole)


@router.post("jobs/{job_id}/revive", auth=CHANGE, response={202: WholeJob, 409: schemas.Problem})
def revive_any_job(request: OperatorRequest, job_id: PathId) -> Answer[WholeJob]:
    """Give a failed, dead or cancelled job a new series of attempts, even if an operator cancelled it."""
    with transaction.atomic():
        revived = revive(job_id, tenant_id=EVERY_TENANT)
        job = _job_of(job_id)
        if not revived:
            raise ProblemError(ProblemCode.JOB_NOT_REVIVABLE, why_not(job, tenant_id=EVERY_TENANT))
    return Answer(202, _whole(job))


@router.post("jobs/{job_id}/stack", auth=CHANGE, response={202: AskedStack, 409: schemas.Problem})
def ask_for_a_stack(request: OperatorRequest, job_id: PathId) -> Answer[AskedStack]:
    """Ask for the stack of a running job: where its code is. Read the answer a second or two later."""
    job = _job_of(job_id)
    if ask_for_stack(job.pk) is None:
        raise ProblemError(ProblemCode.JOB_NOT_RUNNING, f"The job is {job.status}; only a running job has a stack.")
    return Answer(202, _stacks(job.pk)[0])


@router.get("jobs/{job_id}/stack", response=list[AskedStack])
def read_stacks(request: OperatorRequest, job_id: PathId) -> list[AskedStack]:
    """Return the last stacks that operators have asked for, the newest first. They are kept for a day."""
    return _stacks(_job_of(job_id).pk)


def _stacks(job_id: int) -> list[AskedStack]:
    now = store.database_now()
    return [
        AskedStack(
            attempt=stack.attempt,
            asked_at=stack.asked_at,
            answered_at=stack.answered_at,
            stack=stack.text.splitlines(),
            note=stacks.said(stack, now),
        )
        for stack in stacks.of_job(job_id)
    ]


def _listed(job: models.JobRow) -> dict[str, Any]:
    return schemas.listed_values(job) | {"tenant": job.tenant.jobs_slug, "last_error": job.last_error}


def _whole(job: models.AnyJob) -> WholeJob:
    return WholeJob(**_listed(job), args=job.args, stats=job.stats)


def _job_of(job_id: int) -> models.AnyJob:
    return existing(queries.any_job(job_id), "job")
