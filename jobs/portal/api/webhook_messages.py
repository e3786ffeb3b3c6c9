"""The messages that webhooks get, for the OpenAPI document. The statement that ends a job stores them."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from jobs.engine.webhooks.posting import SECONDS


class BatchOfMessage(Schema):
    """The batch of a job."""

    id: int
    name: str


class EndedJob(Schema):
    """A job that has ended. Ask the API for its arguments, its result and the text of its error."""

    id: int
    status: Literal["success", "error", "dead", "cancelled"]
    attempt: int
    source_type: str
    source_id: str | None
    source_method: str
    user: str = Field(description="Your user that the job was for. Empty: no particular user.")
    batch: BatchOfMessage | None
    error: str = Field(description="The class of the error. Empty: there was none.")


class EndMessage(Schema):
    """The end of a job."""

    id: int = Field(description="The number of this end. A revived job ends again, with another number.")
    type: Literal["job.success", "job.error", "job.dead", "job.cancelled"]
    timestamp: datetime = Field(description="When the job ended.")
    data: EndedJob


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": description}


OPERATION: dict[str, Any] = {
    "operationId": "receive_message",
    "summary": "Hear that a job has ended",
    "description": "We post this to your webhooks, signed as Standard Webhooks specify. A message may come twice.",
    "tags": ["webhooks"],
    "parameters": [
        _header("webhook-id", "The same for each try of a message: keep those that you have seen."),
        _header("webhook-timestamp", "Seconds since 1970. Refuse a message that is older than five minutes."),
        _header("webhook-signature", "`v1,` and the signature; two while a secret is replaced."),
    ],
    "responses": {
        "2XX": {"description": f"The message was taken. Answer within {SECONDS:g} seconds."},
        "410": {"description": "The webhook is switched off."},
        "default": {"description": "The message was not taken, and comes again."},
    },
}
