"""The pages, as docs/own-project.md mounts them."""

from django.contrib import admin
from django.urls import include, path

from jobs.api import api

OWN: list = [path("club/", include(([], name))) for name in ("api", "members", "ops")]  # namespaces of the project
urlpatterns = [
    *OWN,
    path("admin/", admin.site.urls),
    path("ops/", include("jobs.console.ops.urls")),
    path("jobs/", include("jobs.portal.members.urls")),
    path("api/v1/", api.urls),
]
