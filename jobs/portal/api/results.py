"""The endpoint of a job's result: its value, or the reason why there is none."""

from http import HTTPStatus
from typing import Literal

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from ninja import Query, Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs import models
from jobs.http import schemas
from jobs.http.auth import CallerRequest
from jobs.http.codes import ProblemCode
from jobs.http.inputs import PathId
from jobs.http.problems import ProblemError, existing
from jobs.lifecycle import FINAL, Status
from jobs.reading import queries
from jobs.reading.public_error import public_text
from jobs.store import results
from plumbing import sheet

router = Router(tags=["jobs"])


class WantedResult(Schema):
    format: Literal["json", "csv"] = Field("json", description="csv: a file, if the result has `columns` and `rows`.")


RETRY_AFTER = 1  # seconds; a client that needs the result sooner uses ?wait= on the job


@router.get(
    "jobs/{job_id}/result",
    url_name="job_result",
    response={200: object, 202: schemas.Job, 409: schemas.Problem, 410: schemas.Problem},
    openapi_extra={"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}},
)
def read_result(
    request: CallerRequest, job_id: PathId, response: HttpResponse, wanted: Query[WantedResult]
) -> HttpResponse | Answer[schemas.Job]:
    """Read the return value of a job. 202: the job has not ended. 409: it did not succeed. 410: the result is gone."""
    job = existing(queries.job(request.auth.tenant.pk, job_id), "job")
    if job.status not in FINAL:
        response["Retry-After"] = str(RETRY_AFTER)
        return Answer(HTTPStatus.ACCEPTED, schemas.Job.of(job))
    if job.status != Status.SUCCESS:
        raise ProblemError(ProblemCode.JOB_NOT_SUCCESSFUL, _failure(job))
    result = results.load(job)
    if result is None:
        raise ProblemError(ProblemCode.RESULT_GONE, _gone(job))
    if wanted.format == "json":
        # It is JSON already, and perhaps megabytes, so it skips the schema.
        return JsonResponse(result.value, safe=False)
    if not results.is_table(result):
        raise ProblemError.unfit({"format": "only a result with columns and rows is a table; others are JSON"})
    lines = (result.value["columns"], *result.value["rows"])
    file = {"Content-Disposition": f'attachment; filename="job-{job_id}.csv"'}
    text = "".join(f"{sheet.line(line)}\r\n" for line in lines)
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=file)


def _failure(job: models.JobRow) -> str:
    if job.status == Status.CANCELLED:  # the error is from an earlier attempt
        return "The job was cancelled" + (f"; before that: {public_text(job.last_error)}" if job.last_error else ".")
    return f"The job ended as {job.status}" + (f": {public_text(job.last_error)}" if job.last_error else ".")


def _gone(job: models.JobRow) -> str:
    if job.result_expires_at is None:
        return "The job succeeded, but its result was not kept."
    if job.result_expires_at > timezone.now():
        return "The result is not available: the cache lost it early or is down. Submit the job again."
    until = job.result_expires_at.isoformat(timespec="seconds")
    return f"The result was kept until {until}; submit the job again."
