"""Cancel, revive or discard many jobs: chosen ones, or all that match; after a confirmation, 1,000 at a request."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, reverse

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.verbs import CANCEL, DISCARD, REVIVE, Verb
from jobs.console.ops.bulk_change.run import Run, ids, signed_run
from jobs.console.ops.bulk_change.selections import DeadLetters, SearchedJobs, Selection
from jobs.console.ops.shared.access import action_for, page_for, plain_page
from jobs.console.ops.shared.answers import MAX_UNASKED, back, done, refused
from jobs.pages.answers import SeeOther, existing
from jobs.reading import queries

MAX_A_REQUEST = 1000  # jobs
MAX_TICKED = 500  # boxes of one form
MAX_COUNTED = 10_000
EXAMPLES = 3


@dataclass(frozen=True)
class Action:
    """A verb for the jobs of a page, with its own address and permission."""

    verb: Verb
    selection: Selection
    permission: str

    @property
    def name(self) -> str:
        return f"{self.verb.name}-{self.selection.folder}"

    def paths(self) -> list[URLPattern]:
        address = f"{self.selection.folder}/{self.verb.name}"
        return [
            path(address, action_for(self.permission)(self.act), name=self.name),
            path(f"{address}/progress", page_for(self.permission)(self.progress), name=f"{self.name}-progress"),
        ]

    def act(self, request: HttpRequest) -> HttpResponseBase:
        """Begin a run with the choice of a form (`ids`, or `all` that match up to `upto`), or go on with a `run`."""
        if "run" in request.POST:  # refused if its tenant or queue was deleted meanwhile
            return self._continue(request, self._signed(request, request.POST["run"]))
        return self._begin(request, self._chosen(request))

    def _begin(self, request: HttpRequest, run: Run) -> HttpResponse:
        first = self.selection.step(run, self.verb, MAX_COUNTED)
        run = replace(run, total=len(first.ids), more=first.position is not None)
        if not run.total and not run.more:
            return refused(request, f"There is nothing to {self.verb.name}. {self.verb.possible}")
        if self.verb.asks or run.total > MAX_UNASKED or run.more:
            jobs = queries.all_jobs().filter(pk__in=first.ids[:EXAMPLES]).defer("args", "stats")
            examples = [job for job in jobs if queries.is_whole(job)]
            return self._page(request, "confirm", run, {"examples": examples, "warning": self.verb.warning})
        return self._continue(request, run)

    def progress(self, request: HttpRequest) -> HttpResponse:
        """Show how far a run is. The script presses the button until no job is left; without it the operator does."""
        run = self._signed(request, request.GET.get("run", ""))
        return self._page(request, "progress", run, {"most": MAX_A_REQUEST})

    def _chosen(self, request: HttpRequest) -> Run:
        """Return a run with the choice of the form. Raises InvalidRequest."""
        now = store.database_now()
        run = Run(self.name, str(request.user.pk), back(request), now.isoformat(), uuid4().hex)
        if "all" in request.POST:
            filters, upto = self.selection.read(request.POST, now)
            return replace(run, filters=filters, upto=upto)
        chosen = ids(request.POST.getlist("ids"))
        if not chosen or len(chosen) > MAX_TICKED:
            raise InvalidRequest("ids", f"choose 1 to {MAX_TICKED} jobs: tick their boxes")
        return replace(run, chosen=chosen)

    def _signed(self, request: HttpRequest, text: str) -> Run:
        return existing(signed_run(text, self.name, str(request.user.pk)))

    def _continue(self, request: HttpRequest, run: Run) -> HttpResponse:
        step = self.selection.step(run, self.verb, MAX_A_REQUEST)
        outcomes = Counter(run.outcomes)
        bulk = None if len(run.chosen) == 1 else UUID(run.bulk)
        outcomes += Counter(self.verb.each(step.ids, bulk=bulk, filters=run.in_words()).values())
        run = replace(run, outcomes=dict(outcomes), position=step.position)
        if run.position is not None:
            return SeeOther(f"{reverse(f'jobs_ops:{self.name}-progress')}?run={run.signed()}")
        answer = done if self.verb.applied(outcomes) else refused
        return answer(request, self.verb.summary(outcomes) or "No job was left.")

    def _page(self, request: HttpRequest, name: str, run: Run, more: dict[str, Any]) -> HttpResponse:
        address = reverse(f"jobs_ops:{self.name}")
        context = {"run": run, "verb": self.verb, "jobs": self.selection.jobs, "address": address}
        return plain_page(request, f"bulk_change/{name}", self.verb.doing, context | more)


ACTIONS = (
    Action(CANCEL, SearchedJobs(), "jobs.change_job"),
    Action(REVIVE, SearchedJobs(), "jobs.change_job"),
    Action(DISCARD, SearchedJobs(), "jobs.change_deadletter"),
    Action(REVIVE, DeadLetters(), "jobs.change_deadletter"),
    Action(DISCARD, DeadLetters(), "jobs.change_deadletter"),
)
