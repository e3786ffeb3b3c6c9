"""Job types: pause and resume them."""

from ninja import Router, Schema
from pydantic import Field

from jobs.calls import registry
from jobs.console.api.auth import OperatorRequest, may
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.http.inputs import Body, Name, Text, with_example
from jobs.models import PausedJobType

router = Router(tags=["operators"], auth=may("jobs.view_pausedjobtype"))


class JobType(Schema):
    source_type: str
    source_method: str
    paused: bool


class NamedType(Body):
    model_config = with_example(source_type="reports.datareport", source_method="execute")

    source_type: Text
    source_method: Name


class Held(JobType):
    jobs: int = Field(description="The number of waiting jobs that are now held.")


class Released(JobType):
    jobs: int = Field(description="The number of jobs that were released.")


@router.get("job-types", response=list[JobType])
def list_job_types(request: OperatorRequest) -> list[JobType]:
    """List all job types, and whether each is paused."""
    paused = set(PausedJobType.objects.values_list("source_type", "source_method"))
    known = {(target.source_type, target.method) for target in registry.targets()}
    return [
        JobType(source_type=source_type, source_method=method, paused=(source_type, method) in paused)
        for source_type, method in sorted(known | paused)
    ]


@router.post("job-types/pause", auth=may("jobs.add_pausedjobtype"), response=Held)
def pause_type(request: OperatorRequest, wanted: NamedType) -> Held:
    """Start no more jobs of this type. Waiting jobs are held and do not block others."""
    held = pause_job_type(wanted.source_type, wanted.source_method)
    return Held(**wanted.model_dump(), paused=True, jobs=held)


@router.post("job-types/resume", auth=may("jobs.delete_pausedjobtype"), response=Released)
def resume_type(request: OperatorRequest, wanted: NamedType) -> Released:
    """Release the held jobs of a paused type, even if its code was removed."""
    released = resume_job_type(wanted.source_type, wanted.source_method)
    return Released(**wanted.model_dump(), paused=False, jobs=released)
