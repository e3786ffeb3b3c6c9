"""The addresses of the operators' pages and of their actions."""

from django.urls import path, re_path

from jobs import extensions
from jobs.console.ops.batch import view as batch
from jobs.console.ops.batches import view as batches
from jobs.console.ops.bulk_change.view import ACTIONS
from jobs.console.ops.dead import view as dead
from jobs.console.ops.health import view as health
from jobs.console.ops.job import view as job
from jobs.console.ops.job_type import view as job_type
from jobs.console.ops.jobs import view as jobs
from jobs.console.ops.new_job import view as new_job
from jobs.console.ops.overview import view as overview
from jobs.console.ops.queues import view as queues
from jobs.console.ops.run import view as run
from jobs.console.ops.runs import view as runs
from jobs.console.ops.schedules import view as schedules
from jobs.console.ops.shared import themes
from jobs.console.ops.shared.access import no_such_page
from jobs.console.ops.tenant import view as tenant
from jobs.console.ops.tenants import view as tenants
from jobs.console.ops.usage import view as usage
from jobs.console.ops.webhooks import view as webhooks
from jobs.console.ops.workers import view as workers

app_name = "jobs_ops"
urlpatterns = [
    path("", overview.show, name="overview"),
    path("tenants/", tenants.show, name="tenants"),
    path("tenants/<str:slug>/", tenant.show, name="tenant"),
    path("tenants/<str:slug>/change", tenant.change, name="change-tenant"),
    path("usage/", usage.show, name="usage"),
    path("webhooks/", webhooks.show, name="webhooks"),
    path("webhooks/add", webhooks.add, name="add-webhook"),
    path("webhooks/<int:pk>/remove", webhooks.remove, name="remove-webhook"),
    path("webhooks/<int:pk>/switch-on", webhooks.switch_on, name="switch-webhook-on"),
    path("webhooks/<int:pk>/switch-off", webhooks.switch_off, name="switch-webhook-off"),
    path("webhooks/<int:pk>/try-now", webhooks.try_now, name="try-webhook-now"),
    path("webhooks/<int:pk>/replace-secret", webhooks.replace_secret, name="replace-webhook-secret"),
    path("queues/", queues.show, name="queues"),
    path("queues/<slug:name>/change", queues.change, name="change-queue"),
    path("queues/<slug:name>/open", queues.open_queue, name="open-queue"),
    path("types/pause", job_type.pause, name="pause-type"),
    path("types/resume", job_type.resume, name="resume-type"),
    path("types/<str:name>/", job_type.show, name="job-type"),
    path("jobs/", jobs.show, name="jobs"),
    path("jobs/new/", new_job.form, name="new-job"),
    path("jobs/submit", new_job.submit, name="submit"),
    path("jobs/<int:pk>/", job.show, name="job"),
    path("jobs/<int:pk>/stack", job.ask, name="ask-for-stack"),
    path("batches/", batches.show, name="batches"),
    path("batches/<int:pk>/", batch.show, name="batch"),
    path("batches/<int:pk>/close", batch.close, name="close-batch"),
    path("batches/<int:pk>/cancel", batch.cancel, name="cancel-batch"),
    path("dead/", dead.show, name="dead"),
    path("workers/", workers.show, name="workers"),
    path("workers/<uuid:pk>/drain", workers.drain_worker, name="drain"),
    path("schedules/", schedules.show, name="schedules"),
    path("schedules/<int:pk>/act", schedules.act, name="act-on-schedule"),
    path("runs/", runs.show, name="runs"),
    path("runs/<uuid:bulk>/", run.show, name="run"),
    path("health/", health.show, name="health"),
    *(address for action in ACTIONS for address in action.paths()),
    *extensions.pages(),
    path("theme", themes.choose, name="theme"),
    re_path(".*/$", no_such_page, name="elsewhere"),  # with a slash at its end: to other addresses Django adds it first
]
