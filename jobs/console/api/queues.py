"""Queues: their limits and defaults, and whether they are paused."""

from typing import Annotated, Any

from django.db import transaction
from ninja import Router, Schema
from pydantic import Field, StrictBool, StrictFloat

from jobs import models
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import PROBLEMS, REFUSED, change, no_such, storable
from jobs.portal.api.inputs import Body, Integer, Name, left_out
from jobs.portal.api.schemas import Problem
from tenants.bounds import MAX_SECONDS

CHANGE = may("jobs.change_queue")
router = Router(tags=["operators"], auth=may("jobs.view_queue"))

Seconds = Annotated[StrictFloat, Field(le=MAX_SECONDS, allow_inf_nan=False)]


class Queue(Schema):
    name: str
    weight: int
    pool: str
    concurrency: int | None
    rate_limit: int | None
    rate_window: float | None
    default_timeout: float | None
    default_max_retries: int | None
    default_backoff: float
    backoff_grows: bool
    paused: bool


class QueueChange(Body):
    """The fields to change; omitted fields stay as they are. Null, where allowed, means no limit or no default."""

    weight: Integer = left_out("Weights 3 and 1 share a pool 3 : 1 while both queues have jobs waiting.")
    pool: Name = left_out("The pool of workers that serves the queue.")
    concurrency: Integer | None = Field(None, description="The most jobs at once, over all tenants. Null: no limit.")
    rate_limit: Integer | None = Field(
        None, description="The most jobs started per window. Both fields null: no limit."
    )
    rate_window: Seconds | None = Field(None, description="The length of the window in seconds.")
    default_timeout: Seconds | None = Field(None, description="Seconds that a job may run. Null: JOBS_DEFAULT_TIMEOUT.")
    default_max_retries: Integer | None = Field(None, description="The most retries after failures. Null: none.")
    default_backoff: Seconds = left_out("Seconds before the first retry.")
    backoff_grows: StrictBool = left_out("True: each further delay is twice as long. False: all delays are equal.")
    paused: StrictBool = left_out("Waiting jobs stay waiting; running jobs continue.")


@router.get("queues", response={200: list[Queue], REFUSED: Problem})
def list_queues(request: OperatorRequest) -> list[models.Queue]:
    """List all queues, ordered by name."""
    return list(models.Queue.objects.order_by("name"))


@router.get("queues/{name}", response={200: Queue, **PROBLEMS})
def read_queue(request: OperatorRequest, name: str) -> models.Queue:
    """Read a queue."""
    queue = models.Queue.objects.filter(name=storable(name)).first()
    if queue is None:
        raise no_such("queue")
    return queue


@router.patch("queues/{name}", auth=CHANGE, response={200: Queue, **PROBLEMS})
def change_queue(request: OperatorRequest, name: str, wanted: QueueChange) -> models.Queue:
    """Change a queue. A dispatch with the new values follows at once."""
    return _change(request, name, wanted.model_dump(exclude_unset=True))


@router.post("queues/{name}/pause", auth=CHANGE, response={200: Queue, **PROBLEMS})
def pause_queue(request: OperatorRequest, name: str) -> models.Queue:
    """Pause a queue: its waiting jobs stay waiting, its running jobs continue."""
    return _change(request, name, {"paused": True})


@router.post("queues/{name}/resume", auth=CHANGE, response={200: Queue, **PROBLEMS})
def resume_queue(request: OperatorRequest, name: str) -> models.Queue:
    """Resume a queue: its waiting jobs may start again."""
    return _change(request, name, {"paused": False})


@transaction.atomic
def _change(request: OperatorRequest, name: str, values: dict[str, Any]) -> models.Queue:
    # no_key: a submit, which refers to the row, need not wait.
    queue = models.Queue.objects.select_for_update(no_key=True).filter(name=storable(name)).first()
    if queue is None:
        raise no_such("queue")
    change(queue, values)
    return queue
