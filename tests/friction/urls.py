"""The pages of jobs, and nothing of the admin."""

from django.urls import include, path

from jobs.api import api

urlpatterns = [
    path("ops/", include("jobs.console.ops.urls")),
    path("jobs/", include("jobs.portal.members.urls")),
    path("api/v1/", api.urls),
]
