"""The page of runs (bulk actions): the latest changes of many jobs at once."""

from django.http import HttpRequest, HttpResponse

from jobs.console.ops.shared import live
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.past_runs import past_runs

MAX_RUNS = 50  # that are listed


@page_for("tenants.view_change")
def show(request: HttpRequest) -> HttpResponse:
    return live.page(request, "runs", "Bulk actions", (), {"runs": past_runs()[:MAX_RUNS]}, every=0)
