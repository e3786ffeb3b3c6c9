"""The page of queues: their limits and their use; what jobs hold; and paused job types, to pause and resume."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.calls import registry
from jobs.console.operations.limits import OF_QUEUE
from jobs.console.operations.questions import QUEUES
from jobs.console.ops.queues.emptying import emptying
from jobs.console.ops.queues.reads import ended_in_last_hour, held_types, waits_by_hour
from jobs.console.ops.shared import history, live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.console.ops.shared.limits_form import change_limits, form_of
from jobs.engine.verbs import limits
from jobs.engine.verbs.open_line import open_line
from jobs.models import PausedJobType, Queue
from jobs.pages.answers import existing
from jobs.pages.typed import texts
from jobs.reading.holds import held_lines
from jobs.reading.looking import Queue as ListedQueue
from jobs.reading.standing import QueueStanding, of_queues
from jobs.reading.statistics import Summary
from jobs.reading.wait_targets import WaitTarget
from plumbing.names import named
from plumbing.text import storable
from tenants.tenant_model import tenant_of_slug


@dataclass(frozen=True)
class QueueRow:
    """A queue, as the page lists it.

    past: the attempts that ended in the last hour
    target: how often its wait target was kept
    curve: its waiting jobs in the last hour
    emptying: when its line is empty, in words
    form: the form of its limits, if that is open
    """

    standing: QueueStanding
    past: Summary | None
    target: WaitTarget | None
    curve: str | None
    emptying: str
    form: "ModelForm[Any] | None"

    @property
    def queue(self) -> ListedQueue:
        return self.standing.queue


@page_for("jobs.view_queue")
def show(request: HttpRequest) -> HttpResponse:
    """Show the queues.

    `change`: the queue whose form is shown. With the forms of 200 queues each refresh would take seconds.
    """
    present = snapshot.current()
    paused = list(PausedJobType.objects.order_by("source_type", "source_method"))
    ended, hour = ended_in_last_hour(), history.use_of_last_hour()
    held = held_types() if paused else {}
    names, may_pause = set(map(str, paused)), request.user.has_perm(named("jobs.add_pausedjobtype"))
    may_change = request.user.has_perm(named("jobs.change_queue"))
    form = _form(texts(request.GET, ("change",))["change"]) if may_change else {}
    # Without a target, no read.
    targets = history.targets_kept() if any(queue.wait_target for queue in present.queues.values()) else ()
    kept = {target.queue: target for target in targets}
    regions = {
        "snapshot": present,
        "targets": targets,
        "queues": [
            QueueRow(
                standing,
                ended.get((standing.queue.name,)),
                kept.get(standing.queue.name),
                hour.queues.get(pk),
                "" if standing.queue.paused else emptying(hour.waiting.get(pk, ()), standing.waiting),
                form.get(pk),
            )
            for pk, standing in of_queues(present.lanes, present.queues).items()
        ],
        "heat": waits_by_hour(reverse("jobs_ops:jobs") if request.user.has_perm(named("jobs.view_job")) else ""),
        "held": held_lines(),
        "paused": [
            (paused_type, held.get((paused_type.source_type, paused_type.source_method), 0)) for paused_type in paused
        ],
        "types": sorted({str(target) for target in registry.targets()} - names) if may_pause else [],
    }
    return live.page(request, "queues", "Queues", ("old", "queues", "heat", "held", "types"), regions)


@action_for("jobs.change_queue")
@transaction.atomic
def change(request: HttpRequest, name: str) -> HttpResponse:
    queue = existing(limits.locked_queue(name))
    return change_limits(request, queue, OF_QUEUE, f"Queue {name}", subject=(QUEUES, name))


@action_for("jobs.change_queue")
def open_queue(request: HttpRequest, name: str) -> HttpResponse:
    """Let the held jobs of a queue, or of a tenant in it, start again. An operator who comes second gets a refusal."""
    queue, slug = existing(Queue.objects.filter(name=name).first()), texts(request.POST, ("tenant",))["tenant"]
    open_line(queue, existing(tenant_of_slug(storable(slug))) if slug else None)
    return done(request, f"Opened queue {name}{f' for tenant {slug}' if slug else ''}.")


def _form(name: str) -> dict[int, "ModelForm[Any]"]:
    """Return the form of the queue by its id; empty if there is no such queue."""
    return {queue.pk: form_of(queue, OF_QUEUE) for queue in Queue.objects.filter(name=name)} if name else {}
