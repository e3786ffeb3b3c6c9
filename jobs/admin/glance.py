"""The first page of the admin: how much waits, runs and died, each number with the way to it."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from jobs import counts

PAGES = {
    "waiting": ("Waiting", "/jobs/job/?status=created"),
    "running": ("Queued or running", "/jobs/job/?status=running"),
    "scheduled": ("Due later, or held", "/jobs/job/?status=scheduled"),
    "dead": ("Died within a day", "/jobs/deadletter/"),
    "workers": ("Workers", "/jobs/worker/"),
}


def numbers(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """For who may look at jobs."""
    if not request.user.has_perm("jobs.view_job"):
        return context
    counted = counts.at_a_glance(timezone.now())
    base = request.path.rstrip("/")
    shown = [
        (label, f"{counted[name]:,}" + ("+" if counted[name] >= counts.MOST else ""), f"{base}{page}")
        for name, (label, page) in PAGES.items()
    ]
    return context | {"numbers": shown}
