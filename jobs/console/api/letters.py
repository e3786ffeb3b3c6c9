"""The schemas of dead letters: filters, selections, pages."""

from datetime import datetime
from typing import Annotated, Any, Self

from django.db.models import Q, QuerySet
from django.utils import timezone
from ninja import Schema
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field, StrictInt

from jobs.console.operations.filters import Filter, Position
from jobs.models import DeadLetter
from jobs.portal.api.inputs import AS_INTEGER, Body, Name, Text, Whole, as_moment
from jobs.reading import queries
from jobs.reading.queries import LARGEST_ID

MAX_CHANGED = 1000  # letters that one request revives or discards

DeadId = Annotated[StrictInt, Field(ge=1, le=LARGEST_ID), AS_INTEGER]
Ids = Annotated[list[DeadId], Field(max_length=MAX_CHANGED, fail_fast=True)]
When = Annotated[AwareDatetime, BeforeValidator(as_moment)]


class Letter(Schema):
    """A dead job."""

    id: int
    tenant: str = Field(description="Its slug.")
    queue: str
    source_type: str
    source_id: str | None
    source_method: str
    user: str
    attempt: int
    retries: int
    crashes: int
    created_at: datetime
    died_at: datetime
    error_class: str
    last_error: str

    @classmethod
    def of(cls, letter: Any) -> Self:
        same = {name: getattr(letter, name) for name in cls.model_fields if hasattr(letter, name)}
        own = {"tenant": letter.tenant.jobs_slug, "queue": letter.queue.name, "user": letter.user_key}
        own["error_class"] = letter.last_error.partition(":")[0]
        return cls(**same | own)


class Letters(Schema):
    dead: list[Letter] = Field(description="Latest death first.")
    next: str | None = Field(
        description="The address of the next page, with earlier deaths, perhaps none that fits. Null: the last page."
    )


class Filters(BaseModel):
    """Filters; a letter must match all that are given."""

    queue: Name | None = None
    tenant: Text | None = Field(None, description="Its slug.")
    source_type: Text | None = None
    source_method: Name | None = None
    error_class: Text | None = Field(None, description='The class of the last error, such as "ValueError".')
    died_after: When | None = None
    died_before: When | None = None

    def matching(self) -> QuerySet[DeadLetter]:
        """The matching dead letters, latest death first. Raises InvalidRequest if the tenant or queue is unknown."""
        wanted = Filter()
        for name, value in self.given().items():
            match name:
                case "died_after":
                    wanted.others &= Q(died_at__gt=self.died_after)
                case "died_before":
                    wanted.others &= Q(died_at__lt=self.died_before)
                case _:
                    wanted.add("error" if name == "error_class" else name, value, timezone.now())
        return queries.dead_letters().filter(wanted.owned, wanted.others)

    def given(self) -> dict[str, Any]:
        """Those that were given, as JSON has them."""
        return self.model_dump(mode="json", include=set(Filters.model_fields), exclude_none=True)


class Listing(Filters):
    after: Annotated[Position, BeforeValidator(Position.read, json_schema_input_type=str)] | None = Field(
        None, description="Copied from `next` of the previous page."
    )
    limit: Whole = Field(20, ge=1, le=100)


class Selection(Filters, Body):
    """The letters with these ids, or all that match the filters."""

    ids: Ids | None = None

    def in_words(self) -> str:
        """The filters, for the audit log: queue:mail error_class:ValueError"""
        return " ".join(f"{name}:{value}" for name, value in self.given().items())
