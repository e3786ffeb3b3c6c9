"""Queues: their limits and defaults, whether they are paused, and which of their jobs hold others."""

from datetime import datetime

from django.db import transaction
from ninja import ModelSchema, Router, Schema
from pydantic import Field

from jobs import models
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import change, changes_of, tenant_at
from jobs.console.operations.limits import OF_QUEUE
from jobs.engine.verbs import limits
from jobs.engine.verbs.open_line import open_line
from jobs.http.inputs import Body, Text, with_example
from jobs.http.problems import existing
from jobs.reading.holds import HeldLine, held_lines
from plumbing.text import storable

router = Router(tags=["operators"], auth=may("jobs.view_queue"))


class Queue(ModelSchema):
    class Meta:
        model = models.Queue
        fields = ("name", *(limit.name for limit in OF_QUEUE))


class QueueChange(changes_of(OF_QUEUE)):  # type: ignore[misc]  # made at run time
    """The fields to change; omitted fields stay as they are. Null, where allowed, means no limit or no default."""

    model_config = with_example(concurrency=10, weight=2)


@router.get("queues", response=list[Queue])
def list_queues(request: OperatorRequest) -> list[models.Queue]:
    """List all queues, ordered by name."""
    return list(models.Queue.objects.order_by("name"))


@router.get("queues/{name}", response=Queue)
def read_queue(request: OperatorRequest, name: str) -> models.Queue:
    """Read a queue."""
    return existing(models.Queue.objects.filter(name=storable(name)).first(), "queue")


@router.patch("queues/{name}", auth=may("jobs.change_queue"), response=Queue)
@transaction.atomic
def change_queue(request: OperatorRequest, name: str, wanted: QueueChange) -> models.Queue:
    """Change, pause or resume a queue. A dispatch with the new values follows at once."""
    queue = existing(limits.locked_queue(storable(name)), "queue")
    change(queue, wanted.model_dump(exclude_unset=True))
    return queue


class HeldJobs(Schema):
    """Jobs of a queue that do not start, since one of them holds the others."""

    tenant: str | None = Field(description="The slug of the tenant whose jobs are held; null: all of the queue.")
    until: datetime
    job_id: int = Field(description="The job that holds them. It is the first when they start again.")
    why: str = Field(description="What that job said.")

    @classmethod
    def of(cls, line: HeldLine) -> "HeldJobs":
        slug = None if line.tenant is None else line.tenant.jobs_slug
        return cls(tenant=slug, until=line.until, job_id=line.job_id, why=line.why)


class Opening(Body):
    model_config = with_example(tenant="acme")

    tenant: Text | None = Field(None, description="The slug of the tenant whose jobs are held; null: all of the queue.")


@router.get("queues/{name}/holds", response=list[HeldJobs])
def list_holds(request: OperatorRequest, name: str) -> list[HeldJobs]:
    """List whose jobs are held in a queue; the whole queue first."""
    queue = existing(models.Queue.objects.filter(name=storable(name)).first(), "queue")
    return [HeldJobs.of(line) for line in held_lines(queue.pk)]


@router.post("queues/{name}/open", auth=may("jobs.change_queue"), response={204: None})
def open_queue(request: OperatorRequest, name: str, wanted: Opening) -> None:
    """Let held jobs start again before their moment. The job that held them is the first, at once."""
    queue = existing(models.Queue.objects.filter(name=storable(name)).first(), "queue")
    open_line(queue, None if wanted.tenant is None else tenant_at(wanted.tenant))
