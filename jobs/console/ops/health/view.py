"""The health page: the conditions that hold, odd states, repairs and the last changes."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from jobs import store
from jobs.console.operations.audited import folded
from jobs.console.ops.health.reliability import diagram
from jobs.console.ops.shared import history, live, snapshot
from jobs.console.ops.shared.access import page_for
from jobs.engine.door.repairs import in_words
from jobs.models import PausedJobType
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading.health import RULES, conditions
from jobs.recording.inspection import BOUND
from plumbing.names import named
from tenants.models import Change

MAX_LISTED = 20  # changes, and findings of each check
MAX_READ = 200  # changes: a bulk action has one for each tenant, and is one line


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    present = snapshot.current()
    known = live.known_now(present)
    odd, over = checks()
    found = {condition.code for condition in conditions(known)} if known else None
    sees_changes = request.user.has_perm(named("tenants.view_change"))
    context = {
        "snapshot": present,
        "fine": None if found is None else len(RULES) - len(found),
        "fairness": known and known.sample.fairness,
        "predictions": known and known.predictions,
        "diagram": diagram(known.predictions.points) if known else "",
        "targets": history.targets_kept() if any(queue.wait_target for queue in present.queues.values()) else (),
        "odd": odd,
        "over": over,
        "paused_tenants": [tenant for tenant in present.tenants.values() if tenant.paused],
        "paused_queues": [queue for queue in present.queues.values() if queue.paused],
        "paused_types": list(PausedJobType.objects.order_by("paused_at")),
        "repairs": [(in_words(repair.kind), repair) for repair in known.repairs] if known else [],
        "changes": folded(Change.objects.order_by("-pk")[:MAX_READ], MAX_LISTED) if sees_changes else [],
    }
    return live.page(
        request, "health", "Health", ("old", "conditions", "forecasts", "repairs", "changes"), context, every=10
    )


@cached(PAST_SECONDS, before=([], []))
def checks() -> tuple[list[Any], list[Any]]:
    """Return the odd states of jobs and the exceeded limits; cached, since the statements read much."""
    return store.odd_states(BOUND)[:MAX_LISTED], store.excesses()[:MAX_LISTED]
