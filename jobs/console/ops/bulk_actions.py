"""A run: a verb that is applied to many jobs, a step at each request. It chooses dead letters by filters, or jobs by a
search.

The browser carries the state of the run as a signed text. So no link can make it continue a run that its operator has
not confirmed.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.core import signing

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import DeathPosition
from jobs.console.operations.verbs import Verb
from jobs.console.ops import search_language
from jobs.console.ops.dead_letters import filters_of, matching
from jobs.pages.typed import number
from plumbing.bounds import LARGEST_ID

SALT, MAX_AGE = "ops.run.3", 3600  # 3: the version of the fields of Run; seconds for which a run may continue


@dataclass(frozen=True)
class Run:
    """The jobs that an operator chose, and how far the run is.

    action: the name of its address
    user: the primary key of the operator, as a text
    back: the address of the page that asked
    at: the moment of the choice
    bulk: the UUID of its entries in the audit log
    chosen: the ids of the jobs; without ids all that match `filters`
    filters: the filters in the words of the page
    upto: the last job that the page showed; later ones are left out
    position: where the next step begins; None before the first step
    total: the jobs that were counted at the start
    more: whether there were others
    outcomes: the number of jobs by outcome
    """

    action: str
    user: str
    back: str
    at: str
    bulk: str
    chosen: list[int] = field(default_factory=list)
    filters: dict[str, str] = field(default_factory=dict)
    upto: str = ""
    position: str | None = None
    total: int = 0
    more: bool = False
    outcomes: dict[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        return sum(self.outcomes.values())

    @property
    def left(self) -> int:
        """Return how many of the counted jobs are left."""
        return max(self.total - self.done, 0)

    def in_words(self) -> str:
        """Return the filters for the audit log, as the pages take them: status:error tenant:acme"""
        return " ".join(value if name == "q" else f"{name}:{value}" for name, value in self.filters.items())

    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)


def signed_run(text: str, action: str, user: str) -> Run | None:
    """Return the run of this operator and action; None if the text is of no such run, or is too old."""
    try:
        run = Run(**signing.loads(text, salt=SALT, max_age=MAX_AGE))
    except signing.BadSignature:
        return None
    return run if (run.action, run.user) == (action, user) else None


def ids(texts: Iterable[str]) -> list[int]:
    """Return the ids of a form in ascending order, without texts that are no ids."""
    return sorted({found for text in texts if (found := number(text)) is not None})


class Step(NamedTuple):
    """A step of a run.

    ids: the next jobs
    position: where the step after it begins; None if this is the last step
    """

    ids: list[int]
    position: str | None


class Letters:
    """Dead letters by their filters, the earliest death first. `upto` is the last death that the page showed."""

    folder, jobs = "dead", "dead job"  # the folder of the addresses of its actions; the word of the pages

    def read(self, form: Mapping[str, str], now: datetime) -> tuple[dict[str, str], str]:
        """Return `filters` and `upto` for a run of all matching letters. Raises InvalidRequest."""
        filters, upto = filters_of(form), _moment(form.get("upto", ""))
        if not filters or upto is None:
            raise InvalidRequest("all", "filter the dead letters first; an action on all dead letters is refused")
        return filters, upto.isoformat()

    def step(self, run: Run, verb: Verb, most: int) -> Step:
        """Return the next jobs that the verb can change. Raises InvalidRequest if a filter is no longer valid."""
        at = datetime.fromisoformat(run.at)
        if run.chosen:
            return Step(list(matching({}, at).filter(pk__in=run.chosen).values_list("pk", flat=True)), None)
        found = matching(run.filters, at, datetime.fromisoformat(run.upto)).filter(verb.can)
        if run.position is not None:
            found = found.filter(DeathPosition.read(run.position).not_earlier())
        rows = list(found.order_by("died_at", "pk").values_list("died_at", "pk")[: most + 1])
        following = str(DeathPosition._make(rows[most])) if len(rows) > most else None
        return Step([pk for _, pk in rows[:most]], following)


class Found:
    """Jobs by a search, the newest first. `upto` is the highest id that existed when the page was rendered."""

    folder, jobs = "jobs", "job"

    def read(self, form: Mapping[str, str], now: datetime) -> tuple[dict[str, str], str]:
        typed, upto = form.get("q", "").replace("\0", "").strip(), number(form.get("upto", ""), LARGEST_ID - 1)
        if not typed or search_language.job_id(typed) is not None or upto is None:
            raise InvalidRequest("all", "search for some jobs first; an action on all jobs is refused")
        search_language.read(typed, now)
        return {"q": typed}, str(upto)

    def step(self, run: Run, verb: Verb, most: int) -> Step:
        if run.chosen:
            return Step(run.chosen, None)
        sought = search_language.read(run.filters["q"], datetime.fromisoformat(run.at))
        if sought.status is not None and sought.status not in verb.statuses:
            return Step([], None)
        found, end = verb.next(sought, most, before=int(run.position or int(run.upto) + 1))
        return Step(found, None if end is None else str(end))


Selection = Letters | Found


def _moment(written: str) -> datetime | None:
    with suppress(ValueError):
        found = datetime.fromisoformat(written)
        return found if found.tzinfo is not None else None
    return None
