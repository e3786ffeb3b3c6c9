"""A tenant's report pages. `run.js` submits and follows the runs through the API."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from jobs.reading.status_words import WORDS
from reports import runs
from reports.models import DataReport
from tenants.members import for_members
from tenants.models import Tenant


@for_members
def report_list(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """List the reports of the tenant, each with its latest run. The page reloads while a run is under way."""
    lines = runs.lines(tenant.pk)
    context = {"tenant": tenant, "lines": lines, "under_way": any(line.under_way for line in lines)}
    return render(request, "reports/list.html", context)


@for_members
def report_detail(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Show a report with its parameters, and the run of `?job=` or the latest. 404: another tenant's report."""
    report = get_object_or_404(DataReport.objects.select_related("source"), pk=pk, tenant=tenant)
    run = runs.named(tenant.pk, pk, request.GET.get("job")) or runs.latest(tenant.pk).get(str(pk))
    fields = runs.fields(report.declared_parameters, run)
    context = {"tenant": tenant, "report": report, "run": run, "fields": fields, "words": WORDS}
    return render(request, "reports/detail.html", context)
