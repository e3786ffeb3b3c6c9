"""Runs: what was done to many jobs at once, by whom, and how it went on."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from jobs.console.ops import live, looks, past_runs
from jobs.console.ops.access import page_for
from jobs.pages.answers import existing
from tenants.names import named

MAX_RUNS, MAX_JOBS, MAX_TENANTS = 50, 100, 100


@page_for("tenants.view_change")
def show(request: HttpRequest) -> HttpResponse:
    shown = {"runs": past_runs.latest()[:MAX_RUNS]}
    return live.page(request, "runs", "Runs", (), shown, every=0)


@page_for("tenants.view_change")
def one(request: HttpRequest, bulk: UUID) -> HttpResponse:
    run = existing(past_runs.one(bulk), "There is no such run, or the log of it was deleted.")
    sees_jobs = request.user.has_perm(named("jobs.view_job"))
    largest = sorted(run.tenants.items(), key=lambda tenant: -tenant[1])[:MAX_TENANTS]
    names = looks.tenants({pk for pk, _ in largest if pk is not None})
    shown = {
        "run": run,
        "tenants": [(names.get(pk or 0), number) for pk, number in largest],
        "since": past_runs.since(bulk) if sees_jobs else None,
        "jobs": past_runs.jobs_of(bulk, MAX_JOBS) if sees_jobs else [],
    }
    return live.page(request, "past_run", "Run", (), shown, every=0)
