"""The addresses of the members' pages. A product that has a page of its own at /jobs/ includes them elsewhere."""

from django.urls import path

from jobs.portal.members import again, usage, views, webhooks

app_name = "members"
urlpatterns = [
    path("", views.job_list, name="jobs"),
    path("usage/", usage.show, name="usage"),
    path("webhooks/", webhooks.show, name="webhooks"),
    path("<int:pk>/", views.job_detail, name="job"),
    path("<int:pk>/cancel", views.cancel_job, name="cancel"),
    path("<int:pk>/again", again.again, name="again"),
    path("<int:pk>/run-again", views.run_again, name="run-again"),
]
