"""A tenant's report pages. What runs is submitted and followed by `run.js` through the API."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from reports import runs
from reports.models import DataReport
from tenants.models import Member, Tenant


@login_required
def report_list(request: HttpRequest) -> HttpResponse:
    """The reports of the member's tenant, each with its latest run."""
    tenant = _tenant(request)
    return render(request, "reports/list.html", {"tenant": tenant, "lines": runs.lines(tenant.id)})


@login_required
def report_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One report: its parameters, and the run that `?job=` names, else the latest. 404: another tenant's."""
    tenant = _tenant(request)
    report = get_object_or_404(DataReport.objects.select_related("source"), pk=pk, tenant=tenant)
    run = runs.named(tenant.id, report.pk, request.GET.get("job")) or runs.latest(tenant.id).get(str(pk))
    fields = runs.fields(report.declared_parameters, run)
    shown = {"tenant": tenant, "report": report, "run": run, "fields": fields, "words": runs.WORDS}
    return render(request, "reports/detail.html", shown)


def _tenant(request: HttpRequest) -> Tenant:
    member = Member.objects.select_related("tenant").filter(user__username=request.user.get_username()).first()
    if member is None:
        raise PermissionDenied("This login belongs to no tenant. Ask an administrator to make it a member of one.")
    return member.tenant
