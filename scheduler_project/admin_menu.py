"""The menu of the admin, grouped by the tasks of operators, not by the apps of the tables."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

SECTIONS = {
    "Work": {
        "Schedule": "event_repeat",
        "JobMemory": "psychology",
    },
    "Capacity": {
        "TenantQueue": "speed",
        "Queue": "stacks",
        "Pool": "dns",
    },
    "Access": {
        "Tenant": "apartment",
        "Member": "badge",
        "ApiKey": "key",
        "OperatorKey": "vpn_key",
        "User": "person",
        "Group": "group",
        "Change": "history",
    },
}
OTHERS, ICON = "Data", "table"


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sections with the pages that exist here and that this user may see."""
    live = {"name": "Live pages", "admin_url": reverse("jobs_ops:overview")}
    pages = {model["object_name"]: model for app in admin.site.get_app_list(request) for model in app["models"]}
    sections = {
        title: [(pages.pop(name), icon) for name, icon in known.items() if name in pages]
        for title, known in SECTIONS.items()
    }
    sections[OTHERS] = [(page, ICON) for page in pages.values()]
    if request.user.has_perm("jobs.view_job"):
        sections = {"Now": [(live, "monitoring")], **sections}
    return [
        {
            "title": title,
            "separator": title not in ("Now", *list(SECTIONS)[:1]),
            "items": [{"title": str(page["name"]), "icon": icon, "link": page["admin_url"]} for page, icon in pages],
        }
        for title, pages in sections.items()
        if pages
    ]
