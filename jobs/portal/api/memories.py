"""The endpoints of the memories of the caller's tenant; another tenant's memory looks as if it did not exist."""

from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from ninja import Query, Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs import models
from jobs.conf import settings
from jobs.engine.attempt.memory import clear
from jobs.http import inputs, pages
from jobs.http.auth import CallerRequest
from jobs.http.problems import existing
from jobs.reading import queries

router = Router(tags=["memories"])

FILTERS = {"source_type", "source_method", "source_id"}


class WantedMemories(Schema):
    """Filters of the list of memories."""

    source_type: inputs.Text | None = None
    source_method: inputs.Name | None = None
    source_id: inputs.Name | None = Field(None, description="Empty: only the memories of job types, not of objects.")
    after: inputs.RowId | None = Field(None, description="Only memories with a higher id.")
    limit: inputs.Whole = Field(20, ge=1, le=100)


class ListedMemory(Schema):
    """A memory in a list, without its content."""

    id: int
    source_type: str
    source_id: str | None = Field(description="The object whose memory it is. Null: the memory of the job type.")
    source_method: str
    touched_at: datetime = Field(description="The moment when a job last wrote it.")
    expires_at: datetime = Field(description="The moment when it will be deleted, unless a job writes it before.")


class Memory(ListedMemory):
    """The values that a job type keeps from run to run."""

    content: dict[str, Any]


class MemoryPage(Schema):
    memories: list[ListedMemory] = Field(description="By id.")
    next: str | None = Field(description="The address of the next page. Null: this is the last page.")


@router.get("memories", url_name="memories", response=MemoryPage)
def list_memories(request: CallerRequest, wanted: Query[WantedMemories]) -> dict[str, Any]:
    """List the memories of your job types and objects, a page at a time."""
    filters = wanted.model_dump(include=FILTERS, exclude_none=True)
    matching = queries.memories(request.auth.tenant.pk).filter(**filters).defer("content")
    memories, later = pages.page(matching, reverse("jobs_api:memories"), wanted)
    return {"memories": [_listed(memory) for memory in memories], "next": later}


@router.get("memories/{memory_id}", url_name="memory", response=Memory)
def read_memory(request: CallerRequest, memory_id: inputs.PathId) -> dict[str, Any]:
    """Read a memory with its content."""
    memory = _memory_of(request, memory_id)
    return _listed(memory) | {"content": memory.content}


@router.delete("memories/{memory_id}", response={204: None})
def clear_memory(request: CallerRequest, memory_id: inputs.PathId) -> Answer[None]:
    """Delete a memory: the next run begins without one. 503: a job is writing it; try again."""
    existing(clear(_memory_of(request, memory_id)) or None, "memory")  # None: another request has deleted it
    return Answer(204, None)


def _memory_of(request: CallerRequest, memory_id: int) -> models.JobMemory:
    return existing(queries.memories(request.auth.tenant.pk).filter(pk=memory_id).first(), "memory")


def _listed(memory: models.JobMemory) -> dict[str, Any]:
    copied = {name: getattr(memory, name) for name in ("id", "source_type", "source_method", "touched_at")}
    return copied | {
        "source_id": memory.source_id or None,
        "expires_at": memory.touched_at + timedelta(seconds=settings.JOBS_MEMORY_TTL),
    }
