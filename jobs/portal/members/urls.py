"""The addresses of the members' pages. A product that has a page of its own at /jobs/ includes them elsewhere."""

from django.urls import path

from jobs.portal.members import batches, event_links, tenant, views

app_name = "jobs_members"
urlpatterns = [
    path("", views.job_list, name="jobs"),
    path("cancel-waiting", views.cancel_waiting, name="cancel-waiting"),
    path("usage/", tenant.used, name="usage"),
    path("webhooks/", tenant.webhooks, name="webhooks"),
    path("batches/", batches.batch_list, name="batches"),
    path("batches/<int:pk>/", batches.batch_detail, name="batch"),
    path("batches/<int:pk>/close", batches.close, name="close-batch"),
    path("batches/<int:pk>/cancel", batches.cancel, name="cancel-batch"),
    path("batches/<int:pk>/run-again", batches.run_again, name="run-batch-again"),
    path("events/<str:token>/", event_links.tell, name="event"),
    path("<int:pk>/", views.job_detail, name="job"),
    path("<int:pk>/cancel", views.cancel_job, name="cancel"),
    path("<int:pk>/again", views.again, name="again"),
    path("<int:pk>/run-again", views.run_again, name="run-again"),
]
