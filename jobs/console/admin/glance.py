"""The first page of the admin: the numbers of waiting, running and dead jobs, each with a link."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from jobs.reading import counts
from tenants.names import named

PAGES = {
    "waiting": ("Waiting", "jobs/job/?status=created"),
    "running": ("Queued or running", "jobs/job/?status=running"),
    "scheduled": ("Due later or held", "jobs/job/?status=scheduled"),
    "dead": ("Died in the last day", "jobs/deadletter/"),
    "workers": ("Workers", "jobs/worker/bootstrap/"),
}


def numbers(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the numbers for users who may view jobs."""
    if not request.user.has_perm(named("jobs.view_job")):
        return context
    counted = counts.at_a_glance(timezone.now())
    base = request.path.rstrip("/")
    shown = [
        (label, f"{counted[name]:,}" + ("+" if counted[name] >= counts.MOST else ""), f"{base}/{named(page)}")
        for name, (label, page) in PAGES.items()
    ]
    return context | {"numbers": shown}
