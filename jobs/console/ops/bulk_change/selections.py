"""Choose the jobs of a run: dead letters by filters, or jobs by a search."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import DeathPosition
from jobs.console.operations.verbs import Verb
from jobs.console.ops.bulk_change.run import Run
from jobs.console.ops.shared import search_language
from jobs.console.ops.shared.dead_letters import filters_of, matching
from jobs.pages.typed import number
from plumbing.bounds import LARGEST_ID


class Step(NamedTuple):
    """A step of a run.

    ids: the next jobs
    position: where the step after it begins; None if this is the last step
    """

    ids: list[int]
    position: str | None


class DeadLetters:
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
        letters = matching(run.filters, at, datetime.fromisoformat(run.upto)).filter(verb.can)
        if run.position is not None:
            letters = letters.filter(DeathPosition.read(run.position).not_earlier())
        rows = list(letters.order_by("died_at", "pk").values_list("died_at", "pk")[: most + 1])
        following = str(DeathPosition._make(rows[most])) if len(rows) > most else None
        return Step([pk for _, pk in rows[:most]], following)


class SearchedJobs:
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
        search = search_language.read(run.filters["q"], datetime.fromisoformat(run.at))
        if search.status is not None and search.status not in verb.statuses:
            return Step([], None)
        jobs, end = verb.next(search, most, before=int(run.position or int(run.upto) + 1))
        return Step(jobs, None if end is None else str(end))


Selection = DeadLetters | SearchedJobs


def _moment(written: str) -> datetime | None:
    with suppress(ValueError):
        moment = datetime.fromisoformat(written)
        return moment if moment.tzinfo is not None else None
    return None
