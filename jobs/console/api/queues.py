"""Queues: their limits and defaults, and whether they are paused."""

from django.db import transaction
from ninja import ModelSchema, Router

from jobs import models
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import change, changes_of
from jobs.console.operations.limits import OF_QUEUE
from jobs.engine.verbs import limits
from jobs.http.problems import existing
from plumbing.text import storable

router = Router(tags=["operators"], auth=may("jobs.view_queue"))


class Queue(ModelSchema):
    class Meta:
        model = models.Queue
        fields = ("name", *(limit.name for limit in OF_QUEUE))


class QueueChange(changes_of(OF_QUEUE)):  # type: ignore[misc]  # made at run time
    """The fields to change; omitted fields stay as they are. Null, where allowed, means no limit or no default."""


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
