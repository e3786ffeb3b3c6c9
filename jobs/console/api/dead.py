"""Dead letters: list, revive, discard."""

from urllib.parse import urlencode
from uuid import uuid4

from django.db.models import Q
from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.letters import MAX_CHANGED, Filters, Letter, Letters, Listing, Selection
from jobs.console.operations.filters import Position
from jobs.console.operations.verbs import DISCARD, REVIVE, Verb
from jobs.portal.api.problems import ProblemError
from jobs.reading import queries
from jobs.reading.listing import MAX_LOOKED_AT

CHANGE = may("jobs.change_deadletter")
router = Router(tags=["operators"], auth=may("jobs.view_deadletter"))


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
    """List the dead letters of all tenants, latest death first, in pages. Each looks at 10,000."""
    after = Q() if wanted.after is None else wanted.after.earlier()
    last = queries.dead_letters().filter(after).values_list("died_at", "pk")[MAX_LOOKED_AT - 1 : MAX_LOOKED_AT].first()
    end = None if last is None else Position._make(last)
    found = wanted.matching().filter(after, end.not_earlier() if end else Q())
    letters = list(found.prefetch_related(*queries.RELATED).defer("args", "stats")[: wanted.limit + 1])
    if len(letters) > wanted.limit:  # one extra letter shows that there is another page
        del letters[-1]
        end = Position._make((letters[-1].died_at, letters[-1].pk))
    earlier = None
    if end is not None:
        said = {name: value for name, value in request.GET.items() if name != "after"}
        earlier = f"{reverse('api:dead')}?{urlencode(said | {'after': str(end)})}"
    return Letters(dead=[Letter.of(letter) for letter in letters if queries.is_whole(letter)], next=earlier)


@router.post("dead/revive", auth=CHANGE, response=Revived)
def revive_dead(request: OperatorRequest, wanted: Selection) -> Revived:
    """Give the selected jobs a new series of attempts."""
    done, skipped, more = _each(wanted, REVIVE)
    return Revived(revived=done, skipped=skipped, more=more)


@router.post("dead/discard", auth=CHANGE, response=Discarded)
def discard_dead(request: OperatorRequest, wanted: Selection) -> Discarded:
    """Remove the selected jobs from the dead letters for good; the jobs stay as cancelled."""
    done, skipped, more = _each(wanted, DISCARD)
    return Discarded(discarded=done, skipped=skipped, more=more)


def _each(wanted: Selection, verb: Verb) -> tuple[int, int, bool]:
    """Apply the verb; return the numbers of applied and skipped letters, and whether more match."""
    ids, more = _chosen(wanted)
    bulk = None if wanted.ids and len(ids) == 1 else uuid4()
    done = len(verb.applied(verb.each(ids, bulk=bulk, filters=wanted.in_words()).values()))
    asked = len(ids) if wanted.ids is None else len(set(wanted.ids))
    return done, asked - done, more


def _chosen(wanted: Selection) -> tuple[list[int], bool]:
    """The ids of the matching jobs that are dead now, earliest death first; and whether more match."""
    if (wanted.ids is None) == (not wanted.given()):
        raise ProblemError.unfit(
            {"ids": f"give either ids or at least one of {', '.join(Filters.model_fields)}, not both"}
        )
    dead = wanted.matching() if wanted.ids is None else wanted.matching().filter(pk__in=wanted.ids)
    ids = list(dead.order_by("died_at", "pk").values_list("pk", flat=True)[: MAX_CHANGED + 1])
    return ids[:MAX_CHANGED], len(ids) > MAX_CHANGED
