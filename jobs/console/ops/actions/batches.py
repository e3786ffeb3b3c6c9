"""Cancel a batch: one act, however many jobs it has."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from jobs.console.ops.access import action_for, frame, menu
from jobs.console.ops.actions.many import MAX_UNASKED
from jobs.console.ops.answers import done
from jobs.console.ops.views.batches import found
from jobs.engine.whole_batch import cancel_batch
from jobs.pages.answers import cancelled
from jobs.store import EVERY_TENANT
from tenants import rendering


@action_for("jobs.change_job")
def cancel(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Cancel what waits of it, and ask what runs to stop; after a confirmation, if they are many."""
    batch = found(pk)
    if batch.total - batch.ended > MAX_UNASKED and "sure" not in request.POST:
        around = {**frame(request, "Cancelling"), "menu": menu(request)}
        return rendering.page(request, "jobs/ops/cancel_batch.html", around | {"batch": batch})
    number = cancel_batch(pk, tenant_id=EVERY_TENANT)
    return done(request, cancelled(number, goes_on=found(pk).cancelling))
