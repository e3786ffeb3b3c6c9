"""The endpoint at which a tenant's programs and members tell an event, for which its jobs may wait."""

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Router, Schema
from pydantic import Field

from jobs.authoring.exceptions import MOST_OF_NAME
from jobs.engine.verbs import events
from jobs.http import idempotency, inputs, schemas
from jobs.http.auth import CallerRequest
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError

router = Router(tags=["jobs"])


class NewEvent(inputs.Body):
    """An event."""

    model_config = inputs.with_example(name="approved:42", payload={"by": "mara"})

    name: Annotated[str, Field(min_length=1, max_length=MOST_OF_NAME), inputs.Storable()] = Field(
        description="The name that the job waits for, such as `approved:42`."
    )
    payload: Any = Field(None, description="JSON of at most 16 KiB, for the body of the job.")


class KeptEvent(Schema):
    """An event that has come, and is kept for the jobs that come to wait for it."""

    name: str
    payload: Any


@router.post(
    "events",
    url_name="events",
    response={201: KeptEvent, 409: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
@idempotency.repeatable
def tell_event(request: CallerRequest, event: NewEvent) -> HttpResponse:
    """Tell an event: your jobs that wait for it go on. 409: one of this name has come already, and stays."""
    if not events.tell(request.auth.tenant, event.name, event.payload):
        raise ProblemError(ProblemCode.EVENT_CAME, "An event of this name has come already. Its payload stays.")
    return schemas.answer(201, {"name": event.name, "payload": event.payload})
