"""Many submissions in one request: all of them are stored, in one statement, or none."""

from django.db import transaction
from django.urls import reverse
from ninja import Router
from ninja import Status as Answer

from jobs import reads
from jobs.api import inputs, schemas
from jobs.api.auth import Caller, CallerRequest
from jobs.api.jobs import FULL, REFUSED, UNFIT, check_size, compose
from jobs.api.problems import ProblemError
from jobs.engine.submit import Submitted, submit_all
from jobs.lifecycle import Status
from jobs.request import InvalidRequest, JobRequest

router = Router(tags=["jobs"])


@router.post(
    "jobs/bulk",
    url_name="jobs_bulk",
    response={202: schemas.SubmittedBatch, frozenset({400, 413}) | UNFIT | REFUSED | FULL: schemas.Problem},
)
def submit_jobs(request: CallerRequest, batch: inputs.Batch) -> Answer[schemas.SubmittedBatch]:
    """Submit 1 to 1000 jobs, all or none; an error names its place, `jobs[3].priority`. 429: too many wait."""
    caller = request.auth
    try:
        requests = [_compose(caller, place, submission) for place, submission in enumerate(batch.jobs)]
        # One statement stores all; but to find the jobs that are there already, and not to lose to them, takes more.
        with transaction.atomic():
            submitted = submit_all(requests)
    except InvalidRequest as refused:
        raise ProblemError.unfit({f"jobs[{refused.place}].{refused.field}": refused.message}) from None
    return Answer(202, schemas.SubmittedBatch(jobs=_told(caller, submitted)))


def _compose(caller: Caller, place: int, submission: inputs.Submission) -> JobRequest:
    check_size(submission.args, f"jobs[{place}].args")
    try:
        return compose(caller, submission)
    except InvalidRequest as refused:
        raise InvalidRequest(refused.field, refused.message, place) from None


def _told(caller: Caller, submitted: list[Submitted]) -> list[schemas.BatchJob]:
    stored = reads.jobs(caller.tenant.pk).filter(pk__in={one.id for one in submitted})
    statuses = dict(stored.values_list("pk", "status"))
    return [
        schemas.BatchJob(
            id=one.id,
            status=Status(statuses[one.id]),
            deduplicated=one.deduplicated,
            url=reverse("api:job", kwargs={"job_id": one.id}),
        )
        for one in submitted
    ]
