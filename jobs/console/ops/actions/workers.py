"""Drain a worker."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused
from jobs.engine import drain
from jobs.models import Worker


@action_for("jobs.change_worker")
def drain_worker(request: HttpRequest, pk: UUID) -> HttpResponse:
    """It takes no more jobs, and stops when those that it runs have ended."""
    worker = Worker.objects.filter(pk=pk).first()
    if worker is None:
        raise Http404
    if not drain.drain(pk):
        return refused(request, f"{worker.name} is gone, or drains already.")
    return done(request, f"{worker.name} takes no more jobs, and stops when those that it runs have ended.")
