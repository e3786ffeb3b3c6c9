"""Dead letters: list them; revive or discard those with given ids, or all that match filters."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import uuid4

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field, StrictInt

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.operations.filters import DeathPosition, JobFilters
from jobs.console.operations.verbs import DISCARD, REVIVE, Verb
from jobs.http import pages
from jobs.http.inputs import AS_INTEGER, Body, Name, Text, Whole, as_moment, with_example
from jobs.http.problems import ProblemError
from jobs.models import DeadLetter
from jobs.reading import queries
from jobs.reading.listing import MAX_LOOKED_AT
from plumbing.bounds import LARGEST_ID

CHANGE = may("jobs.change_deadletter")
router = Router(tags=["operators"], auth=may("jobs.view_deadletter"))

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
    def of(cls, job: Any) -> Self:
        copied = {name: getattr(job, name) for name in cls.model_fields if hasattr(job, name)}
        renamed = {
            "tenant": job.tenant.jobs_slug,
            "queue": job.queue.name,
            "user": job.user_key,
        }
        renamed["error_class"] = job.last_error.partition(":")[0]
        return cls(**copied | renamed)


class Letters(Schema):
    dead: list[Letter] = Field(description="Latest death first.")
    next: str | None = Field(
        description="The address of the next page, with earlier deaths; perhaps none matches. Null: the last page."
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
        wanted = JobFilters()
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
        """Return the given filters, as JSON values."""
        return self.model_dump(mode="json", include=set(Filters.model_fields), exclude_none=True)


class Listing(Filters):
    after: Annotated[DeathPosition, BeforeValidator(DeathPosition.read, json_schema_input_type=str)] | None = Field(
        None, description="Copied from `next` of the previous page."
    )
    limit: Whole = Field(20, ge=1, le=100)


class Selection(Filters, Body):
    """The letters with these ids, or all that match the filters."""

    model_config = with_example(source_type="reports.datareport", error_class="TimeoutError")

    ids: Ids | None = None

    def in_words(self) -> str:
        """The filters, for the audit log: queue:mail error_class:ValueError"""
        return " ".join(f"{name}:{value}" for name, value in self.given().items())


class Revived(Schema):
    revived: int
    skipped: int = Field(description="Jobs that are not dead, or no longer; and those whose arguments were erased.")
    more: bool = Field(description=f"More than {MAX_CHANGED} jobs match: repeat the request for the others.")


class Discarded(Schema):
    discarded: int
    skipped: int = Field(description="Jobs that are not dead, or no longer.")
    more: bool = Field(description=f"More than {MAX_CHANGED} jobs match: repeat the request for the others.")


@router.get("dead", url_name="dead", response=Letters)
def list_dead(request: OperatorRequest, wanted: Query[Listing]) -> Letters:
    """List the dead letters of all tenants, latest death first, in pages. Each page looks at up to 10,000 letters."""
    after = Q() if wanted.after is None else wanted.after.earlier()
    last = queries.dead_letters().filter(after).values_list("died_at", "pk")[MAX_LOOKED_AT - 1 : MAX_LOOKED_AT].first()
    end = None if last is None else DeathPosition._make(last)
    matching = wanted.matching().filter(after, end.not_earlier() if end else Q())
    jobs = list(matching.prefetch_related(*queries.RELATED).defer("args", "stats")[: wanted.limit + 1])
    if len(jobs) > wanted.limit:  # one extra letter shows that there is another page
        del jobs[-1]
        end = DeathPosition._make((jobs[-1].died_at, jobs[-1].pk))
    earlier = pages.onward(reverse("jobs_api:dead"), wanted, after=end)
    return Letters(dead=[Letter.of(job) for job in jobs if queries.is_whole(job)], next=earlier)


@router.post("dead/revive", auth=CHANGE, response=Revived)
def revive_dead(request: OperatorRequest, wanted: Selection) -> Revived:
    """Give the selected jobs a new series of attempts."""
    done, skipped, more = _apply(wanted, REVIVE)
    return Revived(revived=done, skipped=skipped, more=more)


@router.post("dead/discard", auth=CHANGE, response=Discarded)
def discard_dead(request: OperatorRequest, wanted: Selection) -> Discarded:
    """Remove the selected jobs from the dead letters for good; the jobs stay as cancelled."""
    done, skipped, more = _apply(wanted, DISCARD)
    return Discarded(discarded=done, skipped=skipped, more=more)


def _apply(wanted: Selection, verb: Verb) -> tuple[int, int, bool]:
    """Apply the verb; return the numbers of applied and skipped letters, and whether more match."""
    ids, more = _chosen(wanted, verb)
    bulk = None if wanted.ids and len(ids) == 1 else uuid4()
    done = len(verb.applied(verb.each(ids, bulk=bulk, filters=wanted.in_words()).values()))
    selected = len(ids) if wanted.ids is None else len(set(wanted.ids))
    return done, selected - done, more


def _chosen(wanted: Selection, verb: Verb) -> tuple[list[int], bool]:
    """The ids of the matching jobs that are dead now, earliest death first; and whether more match."""
    if (wanted.ids is None) == (not wanted.given()):
        raise ProblemError.unfit(
            {"ids": f"give either ids or at least one of {', '.join(Filters.model_fields)}, not both"}
        )
    dead = wanted.matching() if wanted.ids is None else wanted.matching().filter(pk__in=wanted.ids)
    # Without those that it can never change: a repeated request would choose the same ones again.
    ids = list(dead.filter(verb.can).order_by("died_at", "pk").values_list("pk", flat=True)[: MAX_CHANGED + 1])
    return ids[:MAX_CHANGED], len(ids) > MAX_CHANGED
