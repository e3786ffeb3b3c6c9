"""Health: is anything wrong that nobody has to look for?"""

from django.http import HttpRequest, HttpResponse

from jobs import store
from jobs.dashboard import live, snapshot, waits
from jobs.dashboard.access import page_for
from jobs.dashboard.views.workers import state_of
from jobs.engine.check import BOUND
from jobs.models import PausedJobType, Repair
from tenants.models import Change

CHANGES = 20
LONG = 600.0  # seconds that a transaction may take without a word here
EVERY = 10  # seconds


@page_for("jobs.view_worker")
def show(request: HttpRequest) -> HttpResponse:
    seen = snapshot.current()
    pools = waits.pools(seen, waits.cuts(seen))
    oldest = seen.counts.oldest_transaction if seen.counts else 0.0
    sees_changes = request.user.has_perm("tenants.view_change")
    shown = {
        "snapshot": seen,
        "odd": store.odd_states(BOUND)[:CHANGES],
        "over": store.excesses()[:CHANGES],
        "leader": next((worker for worker in seen.workers if worker.leads), None),
        "silent": [worker for worker in seen.workers if state_of(worker, seen) == "silent"],
        "short": [pool for pool in pools if pool.may_run],
        "empty": [pool for pool in pools if not pool.processes and pool.may_run],
        "old_transaction": oldest if oldest > LONG else 0,
        "paused_tenants": [tenant for tenant in seen.tenants.values() if tenant.paused],
        "paused_queues": [queue for queue in seen.queues.values() if queue.paused],
        "paused_types": list(PausedJobType.objects.order_by("paused_at")),
        "repairs": list(Repair.objects.order_by("kind")),
        "changes": list(Change.objects.order_by("-pk")[:CHANGES]) if sees_changes else [],
    }
    return live.page(request, "health", "Health", ("old", "conditions", "repairs", "changes"), shown, every=EVERY)
