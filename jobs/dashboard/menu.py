"""The pages of the top bar: those that this user may open."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

PAGES = (  # name, label, key after "g", permission
    ("overview", "Overview", "o", "jobs.view_job"),
    ("tenants", "Tenants", "t", "tenants.view_tenantqueue"),
    ("queues", "Queues", "q", "jobs.view_queue"),
    ("jobs", "Jobs", "j", "jobs.view_job"),
    ("dead", "Dead", "d", "jobs.view_deadletter"),
    ("workers", "Workers", "w", "jobs.view_worker"),
    ("schedules", "Schedules", "s", "jobs.view_schedule"),
    ("health", "Health", "h", "jobs.view_worker"),
)


@dataclass(frozen=True)
class Entry:
    label: str
    key: str
    address: str
    here: bool


def menu(request: HttpRequest) -> list[Entry]:
    """The entries, the open page marked."""
    entries = [
        Entry(label, key, reverse(f"ops:{name}"), False)
        for name, label, key, permission in PAGES
        if request.user.has_perm(permission)
    ]
    here = max((entry.address for entry in entries if request.path.startswith(entry.address)), key=len, default="")
    return [Entry(entry.label, entry.key, entry.address, entry.address == here) for entry in entries]
