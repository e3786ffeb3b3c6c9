"""The pages of the top bar: those that this user may open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.urls import reverse

from tenants.names import named

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
    """count: a number beside the label that somebody should look at; "" for none."""

    label: str
    key: str
    address: str
    here: bool
    count: str = ""


def menu(request: HttpRequest, counts: Mapping[str, str] | None = None) -> list[Entry]:
    """The entries, the open page marked. counts: by the name of the page."""
    entries = [
        Entry(label, key, reverse(f"ops:{name}"), False, (counts or {}).get(name, ""))
        for name, label, key, permission in PAGES
        if request.user.has_perm(named(permission))
    ]
    here = max((entry.address for entry in entries if request.path.startswith(entry.address)), key=len, default="")
    return [replace(entry, here=entry.address == here) for entry in entries]
