"""A tenant's report pages. `run.js` submits and follows the runs through the API."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from reports import runs
from reports.models import DataReport
from tenants.models import Member, Tenant


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the view the tenant of the logged-in member as its second argument."""

    @login_required
    @wraps(view)
    def with_tenant(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        logged_in = Member.objects.filter(user__username=request.user.get_username())
        member = logged_in.select_related("tenant").first()
        if member is None and request.user.is_staff:
            return redirect("admin:index")
        if member is None:
            return render(request, "reports/no_tenant.html", status=403)
        return view(request, member.tenant, *args, **kwargs)

    return with_tenant


@for_members
def report_list(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """The reports of the tenant, each with its latest run; the page reloads while one is under way."""
    lines = runs.lines(tenant.pk)
    shown = {"tenant": tenant, "lines": lines, "under_way": any(line.under_way for line in lines)}
    return render(request, "reports/list.html", shown)


@for_members
def report_detail(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """One report with its parameters, and the run of `?job=` or the latest. 404: another tenant's report."""
    report = get_object_or_404(DataReport.objects.select_related("source"), pk=pk, tenant=tenant)
    run = runs.named(tenant.pk, pk, request.GET.get("job")) or runs.latest(tenant.pk).get(str(pk))
    fields = runs.fields(report.declared_parameters, run)
    shown = {"tenant": tenant, "report": report, "run": run, "fields": fields, "words": runs.WORDS}
    return render(request, "reports/detail.html", shown)
