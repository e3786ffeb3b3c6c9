"""The addresses of the operators' pages and of their actions."""

from django.urls import path, re_path

from jobs import extensions
from jobs.console.ops.batch import view as batch
from jobs.console.ops.batches import view as batches
from jobs.console.ops.bulk_change.view import ACTIONS
from jobs.console.ops.dead import view as dead
from jobs.console.ops.find import view as find
from jobs.console.ops.health import view as health
from jobs.console.ops.job import view as job
from jobs.console.ops.job_type import view as job_type
from jobs.console.ops.jobs import suggestions
from jobs.console.ops.jobs import view as jobs
from jobs.console.ops.new_job import view as new_job
from jobs.console.ops.overview import view as overview
from jobs.console.ops.queues import view as queues
from jobs.console.ops.records import access as access_records
from jobs.console.ops.records import schedules as schedule_records
from jobs.console.ops.records import view as records
from jobs.console.ops.run import view as run
from jobs.console.ops.runbook import view as runbook
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
    path("find/", find.show, name="find"),
    path("find/places", find.offer, name="places"),
    path("tenants/", tenants.show, name="tenants"),
    path("tenants/<str:slug>/", tenant.show, name="tenant"),
    path("tenants/<str:slug>/change", tenant.change, name="change-tenant"),
    path("tenants/<str:slug>/new-key/", access_records.new_key, name="new-key"),
    path("tenants/<str:slug>/add-key", access_records.add_key, name="add-key"),
    path("tenants/<str:slug>/new-member/", access_records.new_member, name="new-member"),
    path("tenants/<str:slug>/add-member", access_records.add_user, name="add-member"),
    path("new-tenant/", records.new_tenant, name="new-tenant"),  # not below tenants/, where it might be a slug
    path("new-tenant/add", records.add_tenant, name="add-tenant"),
    path("usage/", usage.show, name="usage"),
    path("webhooks/", webhooks.show, name="webhooks"),
    path("webhooks/add", webhooks.add, name="add-webhook"),
    path("webhooks/<int:pk>/remove", webhooks.remove, name="remove-webhook"),
    path("webhooks/<int:pk>/switch-on", webhooks.switch_on, name="switch-webhook-on"),
    path("webhooks/<int:pk>/switch-off", webhooks.switch_off, name="switch-webhook-off"),
    path("webhooks/<int:pk>/try-now", webhooks.try_now, name="try-webhook-now"),
    path("webhooks/<int:pk>/replace-secret", webhooks.replace_secret, name="replace-webhook-secret"),
    path("queues/", queues.show, name="queues"),
    path("new-queue/", records.new_queue, name="new-queue"),
    path("new-queue/add", records.add_queue, name="add-queue"),
    path("queues/<slug:name>/change", queues.change, name="change-queue"),
    path("queues/<slug:name>/open", queues.open_queue, name="open-queue"),
    path("types/pause", job_type.pause, name="pause-type"),
    path("types/resume", job_type.resume, name="resume-type"),
    path("types/<str:name>/", job_type.show, name="job-type"),
    path("jobs/", jobs.show, name="jobs"),
    path("jobs/csv", jobs.sheet, name="jobs-csv"),
    path("jobs/suggestions", suggestions.suggest, name="suggestions"),
    path("jobs/keep-search", jobs.keep_search, name="keep-search"),
    path("jobs/new/", new_job.form, name="new-job"),
    path("jobs/submit", new_job.submit, name="submit"),
    path("jobs/<int:pk>/", job.show, name="job"),
    path("jobs/<int:pk>/stack", job.ask, name="ask-for-stack"),
    path("batches/", batches.show, name="batches"),
    path("batches/<int:pk>/", batch.show, name="batch"),
    path("batches/<int:pk>/close", batch.close, name="close-batch"),
    path("batches/<int:pk>/cancel", batch.cancel, name="cancel-batch"),
    path("dead/", dead.show, name="dead"),
    path("dead/csv", dead.sheet, name="dead-csv"),
    path("workers/", workers.show, name="workers"),
    path("workers/<uuid:pk>/drain", workers.drain_worker, name="drain"),
    path("schedules/", schedules.show, name="schedules"),
    path("schedules/new/", schedule_records.new, name="new-schedule"),
    path("schedules/add", schedule_records.add, name="add-schedule"),
    path("schedules/<int:pk>/", schedule_records.edit, name="schedule"),
    path("schedules/<int:pk>/change", schedule_records.change, name="change-schedule"),
    path("schedules/<int:pk>/act", schedules.act, name="act-on-schedule"),
    path("runs/", runs.show, name="runs"),
    path("runs/<uuid:bulk>/", run.show, name="run"),
    path("health/", health.show, name="health"),
    path("runbooks/<slug:name>/", runbook.show, name="runbook"),
    *(address for action in ACTIONS for address in action.paths()),
    *extensions.pages(),
    path("theme", themes.choose, name="theme"),
    re_path(".*/$", no_such_page, name="elsewhere"),  # with a slash at its end: to other addresses Django adds it first
]
