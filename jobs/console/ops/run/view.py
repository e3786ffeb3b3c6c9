"""The page of a run (bulk action): what was done, for which tenants, and the present state of its jobs."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from jobs.console.ops.shared import live, present_queries
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.past_runs import jobs_of, past_run, since
from jobs.pages.answers import existing
from plumbing.names import named

MAX_JOBS, MAX_TENANTS = 100, 100  # that are listed


@page_for("tenants.view_change")
def show(request: HttpRequest, bulk: UUID) -> HttpResponse:
    run = existing(past_run(bulk), "There is no such bulk action, or its log was deleted.")
    sees_jobs = request.user.has_perm(named("jobs.view_job"))
    largest = sorted(run.tenants.items(), key=lambda tenant: -tenant[1])[:MAX_TENANTS]
    tenants = present_queries.tenants({pk for pk, _ in largest if pk is not None})
    regions = {
        "run": run,
        "tenants": [(tenants.get(pk or 0), jobs) for pk, jobs in largest],
        "since": since(bulk) if sees_jobs else None,
        "jobs": jobs_of(bulk, MAX_JOBS) if sees_jobs else [],
    }
    return live.page(request, "run", "Bulk action", (), regions, every=0)
