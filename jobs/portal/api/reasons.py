"""The endpoint that explains what a job waits for."""

from datetime import datetime

from ninja import Router, Schema
from pydantic import Field

from jobs.allocation.gates import Gate
from jobs.http.auth import CallerRequest
from jobs.http.inputs import PathId
from jobs.http.problems import existing
from jobs.portal import words
from jobs.reading.explain.explanation import explain
from jobs.reading.explain.reads import MAX_COUNTED_PLACE

router = Router(tags=["jobs"])


class JobReason(Schema):
    """What a job waits for now, or how it ended."""

    gate: Gate = Field(description="The first limit that holds it; `next`: no limit does, its turn will come.")
    sentence: str = Field(description="The reason in a sentence for people.")
    place: int | None = Field(
        description=f"Its place in line, from 1; {MAX_COUNTED_PLACE + 1} stands for any later place. "
        "Null: it is not in line."
    )
    opens_at: datetime | None = Field(description="When the limit ends without any action, if that is known.")


@router.get("jobs/{job_id}/reason", url_name="job_reason", response=JobReason)
def read_reason(request: CallerRequest, job_id: PathId) -> JobReason:
    """Read what a job waits for: a limit of yours, of its queue, or a free worker."""
    tenant_id = request.auth.tenant.pk
    why = existing(explain(job_id, tenant_id=tenant_id), "job")
    return JobReason(gate=why.gate, sentence=words.reason(why), place=why.place, opens_at=why.opens_at)
