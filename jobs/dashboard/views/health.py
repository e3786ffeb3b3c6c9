"""Health: is anything wrong that nobody has to look for?"""

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from jobs import store
from jobs.dashboard import live, past, snapshot
from jobs.dashboard.access import page_for
from jobs.engine.check import BOUND
from jobs.engine.health import RULES, Facts, conditions, look
from jobs.models import PausedJobType
from tenants.models import Change

CHANGES = 20
EVERY = 10  # seconds


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    seen = snapshot.current()
    known = facts.get()
    found = None if known is None else conditions(known)
    sees_changes = request.user.has_perm("tenants.view_change")
    shown = {
        "snapshot": seen,
        "conditions": found,
        "fine": None if found is None else len(RULES) - len({condition.code for condition in found}),
        "fairness": known and known.sample.fairness,
        "odd": store.odd_states(BOUND)[:CHANGES],
        "over": store.excesses()[:CHANGES],
        "paused_tenants": [tenant for tenant in seen.tenants.values() if tenant.paused],
        "paused_queues": [queue for queue in seen.queues.values() if queue.paused],
        "paused_types": list(PausedJobType.objects.order_by("paused_at")),
        "repairs": known.repairs if known else [],
        "changes": list(Change.objects.order_by("-pk")[:CHANGES]) if sees_changes else [],
    }
    return live.page(request, "health", "Health", ("old", "conditions", "repairs", "changes"), shown, every=EVERY)


def _facts() -> Facts | None:
    """None: the database did not answer in time."""
    try:
        return look()
    except DatabaseError:
        return None


facts: past.Kept[Facts | None] = past.Kept(_facts, None, most=EVERY / 2)  # for all viewers
