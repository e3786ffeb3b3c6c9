"""The page of usage: what tenants used in a period, for their bills."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from jobs.console.ops.shared import answers, live, present_queries
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.usage.days_chart import days_chart
from jobs.pages.typed import texts
from jobs.reading import usage

MOST_LINES = 1000


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest) -> HttpResponse:
    """Show the usage of a period.

    `from`, `to`: days; the last one is not included
    `by`: how to group: one of PARTS, or several with commas; by default by tenant, or by day if there are too many
    `tenant`: only this tenant
    """
    given = texts(request.GET, (*usage.NAMES, "tenant"))
    now = timezone.now()
    context = {"given": given, "parts": dict.fromkeys((*usage.PARTS, given["by"] or usage.PARTS[0]))}
    try:
        asked = usage.UsageRequest.parse(given["from"], given["to"], given["by"], now=now)
        tenant = tenant_named(given["tenant"]).pk if given["tenant"] else None
        try:
            found = usage.read(asked, tenant, now, MOST_LINES)
        except InvalidRequest:
            if given["by"]:
                raise
            asked = replace(asked, by=("day",))  # without `by` the page must not refuse
            found = usage.read(asked, tenant, now, MOST_LINES)
    except InvalidRequest as refused:
        return live.page(request, "usage", "Usage", (), {**context, "wrong": answers.sentence(refused)}, every=0)
    names = present_queries.tenants({line.tenant_id for line in found.lines if line.tenant_id is not None})
    lines = [(line, names.get(line.tenant_id or 0)) for line in found.lines]
    drawn = {
        "chart": days_chart(found, given["tenant"]),
        "most": max((line.microseconds for line in found.lines), default=0),
    }
    shown = {**context, **drawn, "asked": asked, "usage": found, "lines": lines}
    return live.page(request, "usage", "Usage", (), shown, every=0)
