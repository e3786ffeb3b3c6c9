"""The page of queues: their limits and their use; and the paused job types, to pause and resume them."""

from typing import Any

from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse

from jobs.calls import registry
from jobs.console.operations.limits import OF_QUEUE
from jobs.console.ops import history_charts, live, present_queries, snapshot
from jobs.console.ops.access import action_for, page_for
from jobs.console.ops.answers import done
from jobs.console.ops.views.limits import form_of
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.models import PausedJobType, Queue
from jobs.pages.typed import texts
from jobs.reading.standing import of_queues
from plumbing.names import named


@page_for("jobs.view_queue")
def show(request: HttpRequest) -> HttpResponse:
    """Show the queues.

    `change`: the queue whose form is shown. With the forms of 200 queues each refresh would take seconds.
    """
    seen = snapshot.current()
    paused = list(PausedJobType.objects.order_by("source_type", "source_method"))
    ended, curves = history_charts.queues(), history_charts.use_of_last_hour().queues
    held = present_queries.held_types() if paused else {}
    names, may_pause = set(map(str, paused)), request.user.has_perm(named("jobs.add_pausedjobtype"))
    may_change = request.user.has_perm(named("jobs.change_queue"))
    form = _form(texts(request.GET, ("change",))["change"]) if may_change else {}
    shown = {
        "snapshot": seen,
        "queues": [
            {
                "standing": one,
                "queue": one.queue,
                "past": ended.get((one.queue.name,)),
                "curve": curves.get(pk),
                "form": form.get(pk),
            }
            for pk, one in of_queues(seen.lanes, seen.queues).items()
        ],
        "paused": [(one, held.get((one.source_type, one.source_method), 0)) for one in paused],
        "types": sorted({str(target) for target in registry.targets()} - names) if may_pause else [],
    }
    return live.page(request, "queues", "Queues", ("old", "queues", "types"), shown)


@action_for("jobs.add_pausedjobtype")
def pause_type(request: HttpRequest) -> HttpResponse:
    """Hold the waiting jobs of a type; its running jobs continue."""
    source_type, method = _type(request)
    held = pause_job_type(source_type, method)
    return done(request, f"Paused {source_type}.{method}: {held:,} waiting jobs are held.")


@action_for("jobs.delete_pausedjobtype")
def resume_type(request: HttpRequest) -> HttpResponse:
    """Release the held jobs of a type. An operator who comes second gets a refusal."""
    source_type, method = _type(request)
    released = resume_job_type(source_type, method)
    return done(request, f"Resumed {source_type}.{method}: {released:,} jobs are released.")


def _form(name: str) -> dict[int, "ModelForm[Any]"]:
    """Return the form of the queue by its id; empty if there is no such queue."""
    return {one.pk: form_of(one, OF_QUEUE) for one in Queue.objects.filter(name=name)} if name else {}


def _type(request: HttpRequest) -> tuple[str, str]:
    source_type, _, method = texts(request.POST, ("type",))["type"].rpartition(".")
    return source_type, method
