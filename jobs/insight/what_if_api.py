"""Ask what other limits would have done, and read the answer when it is ready."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Router, Schema
from pydantic import Field, StrictInt

from jobs import store
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import changes_of
from jobs.console.operations.filters import MOMENTS
from jobs.console.operations.limits import OF_QUEUE, OF_TENANT
from jobs.console.operations.questions import QUEUES, TENANTS
from jobs.http.inputs import AS_INTEGER, Body, Name, PathId, Text, left_out, with_example
from jobs.http.problems import existing
from jobs.http.schemas import answer
from jobs.insight import what_if
from jobs.insight.what_if import LIMITS, POOLS, Question
from jobs.insight.what_if_process import State, state_of
from jobs.models import WhatIf
from jobs.models.operations import MOST_SEATS

router = Router(tags=["operators"], auth=may("tenants.view_tenantqueue"))
MOST_CHANGED = 100  # tenants, or queues


class TenantLimits(changes_of(limit for limit in OF_TENANT if limit.name in LIMITS[TENANTS])):  # type: ignore[misc]
    """The other limits of a tenant."""


class QueueLimits(changes_of(limit for limit in OF_QUEUE if limit.name in LIMITS[QUEUES])):  # type: ignore[misc]
    """The other limits of a queue."""


class PoolLimits(Body):
    """The processes and the seats that a pool would have."""

    processes: Annotated[StrictInt, Field(ge=0, le=999_999), AS_INTEGER] = left_out("Of all of its workers.")
    seats: Annotated[StrictInt, Field(ge=1, le=MOST_SEATS), AS_INTEGER] = left_out("Of each process of a light pool.")


class Asked(Body):
    """A question: the limits that would be different from `since` on. Omitted limits stay as they were."""

    model_config = with_example(since="24h", tenants={"acme": {"num_slots": 5}})

    since: Text | None = Field(None, description=f"{MOMENTS}. Default: an hour before `until`.")
    until: Text | None = Field(None, description="Default: now.")
    tenants: dict[Name, TenantLimits] = Field({}, description="By slug.", max_length=MOST_CHANGED)
    queues: dict[Name, QueueLimits] = Field({}, description="By name.", max_length=MOST_CHANGED)
    pools: dict[Name, PoolLimits] = Field({}, description="By name.", max_length=MOST_CHANGED)


class Replayed(Schema):
    """A question, and its answer once the state is `answered`.

    The answer has the fields of `manage.py jobs what-if --json`. `told` is the answer in a sentence; `lines` has the
    waits of each tenant in each queue, with the `difference` in words, those that change most first.
    """

    id: int
    state: State
    asked_at: datetime
    question: dict[str, Any]
    answer: dict[str, Any] | None
    refused: str = Field(description="Why there is no answer; empty if there is or will be one.")


@router.post("what-if", response={202: Replayed})
def ask_what_if(request: OperatorRequest, wanted: Asked) -> HttpResponse:
    """Ask what other limits would have done. A process of its own replays that time of the past."""
    changes = {
        kind: {name: limits.model_dump(exclude_unset=True) for name, limits in getattr(wanted, kind).items()}
        for kind in (TENANTS, QUEUES, POOLS)
    }
    question = Question.of(wanted.since, wanted.until, changes, now=store.database_now())
    row = what_if.ask(question, request.auth.get_username())
    row.refresh_from_db()
    return answer(202, _as_document(row), f"{request.path}/{row.pk}")


@router.get("what-if/{pk}", response=Replayed)
def read_what_if(request: OperatorRequest, pk: PathId) -> dict[str, Any]:
    """Read the answer; it is kept for a day. While the state is `replaying`, ask again after a second or two."""
    return _as_document(existing(WhatIf.objects.filter(pk=pk).first(), "what-if"))


def _as_document(row: WhatIf) -> dict[str, Any]:
    facts = {name: getattr(row, name) for name in ("id", "asked_at", "question", "answer", "refused")}
    return facts | {"state": state_of(row.asked_at, row.ended_at, row.refused, store.database_now())}
