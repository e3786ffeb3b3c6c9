"""The addresses of the operators' pages and of their actions."""

from django.urls import path

from jobs.console.ops.actions import batches as batch_actions
from jobs.console.ops.actions import limits, many, schedules, submit, themes, types
from jobs.console.ops.actions import webhooks as webhook_actions
from jobs.console.ops.actions import what_if as what_if_actions
from jobs.console.ops.actions import workers as worker_actions
from jobs.console.ops.views import (
    batches,
    dead,
    health,
    job,
    overview,
    queues,
    runs,
    tenant,
    tenants,
    usage,
    webhooks,
    what_if,
    workers,
)
from jobs.console.ops.views import jobs as job_list
from jobs.console.ops.views import schedules as schedule_list

app_name = "ops"
urlpatterns = [
    path("", overview.show, name="overview"),
    path("tenants/", tenants.show, name="tenants"),
    path("tenants/<str:slug>/", tenant.show, name="tenant"),
    path("tenants/<str:slug>/change", limits.change_tenant, name="change-tenant"),
    path("usage/", usage.show, name="usage"),
    path("what-if/", what_if.show, name="what-if"),
    path("what-if/ask", what_if_actions.ask, name="ask-what-if"),
    path("what-if/<int:pk>/", what_if.one, name="what-if-answer"),
    path("webhooks/", webhooks.show, name="webhooks"),
    path("webhooks/add", webhook_actions.add, name="add-webhook"),
    path("webhooks/<int:pk>/remove", webhook_actions.remove, name="remove-webhook"),
    path("webhooks/<int:pk>/switch-on", webhook_actions.switch_on, name="switch-webhook-on"),
    path("queues/", queues.show, name="queues"),
    path("queues/<slug:name>/change", limits.change_queue, name="change-queue"),
    path("job-types/pause", types.pause, name="pause-type"),
    path("job-types/resume", types.resume, name="resume-type"),
    path("jobs/", job_list.show, name="jobs"),
    path("jobs/new/", submit.form, name="new-job"),
    path("jobs/submit", submit.submit, name="submit"),
    path("jobs/<int:pk>/", job.show, name="job"),
    path("batches/", batches.show, name="batches"),
    path("batches/<int:pk>/", batches.one, name="batch"),
    path("batches/<int:pk>/cancel", batch_actions.cancel, name="cancel-batch"),
    path("dead/", dead.show, name="dead"),
    path("workers/", workers.show, name="workers"),
    path("workers/<uuid:pk>/drain", worker_actions.drain_worker, name="drain"),
    path("schedules/", schedule_list.show, name="schedules"),
    path("schedules/<int:pk>/act", schedules.act, name="act-on-schedule"),
    path("runs/", runs.show, name="runs"),
    path("runs/<uuid:bulk>/", runs.one, name="run"),
    path("health/", health.show, name="health"),
    *(address for action in many.ACTIONS for address in action.paths()),
    path("theme", themes.choose, name="theme"),
]
