"""Schedules: the recurring jobs of all tenants, and what came of their last due times."""

from collections import defaultdict

from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from jobs.console.ops import live, looks, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.looks import Run
from jobs.models import Schedule
from jobs.reading import schedule_view
from jobs.reading.queries import LARGEST_ID
from jobs.reading.schedule_view import state_of
from tenants.conf import TENANT_SLUG

A_PAGE = 50
MAX_RUNS = 10


@page_for("jobs.view_schedule")
def show(request: HttpRequest) -> HttpResponse:
    """`q`: a part of the schedule's name, or its tenant's slug. `after`: the id of the last one on the page before."""
    typed = request.GET.get("q", "").strip()
    found = Schedule.objects.select_related("tenant").order_by("pk")
    if typed:
        found = found.filter(Q(name__icontains=typed) | Q(**{f"tenant__{TENANT_SLUG}": typed}))
    after = request.GET.get("after", "")
    if after.isascii() and after.isdecimal() and int(after[:20]) <= LARGEST_ID:
        found = found.filter(pk__gt=int(after))
    listed = list(found.defer("args")[: A_PAGE + 1])
    schedules = listed[:A_PAGE]
    runs = _runs(schedules)
    shown = {
        "snapshot": snapshot.current(),
        "q": typed,
        "schedules": [
            (one, schedule_view.in_words(one), state_of(one), runs[one.pk][0] if runs[one.pk] else None, runs[one.pk])
            for one in schedules
        ],
        "after": schedules[-1].pk if len(listed) > A_PAGE else None,
    }
    return live.page(request, "schedules", "Schedules", ("schedules",), shown, every=live.REFRESH_SECONDS * 5)


def _runs(schedules: list[Schedule]) -> dict[int, list[Run]]:
    """The last runs of each, latest first."""
    found: dict[int, list[Run]] = defaultdict(list)
    for run in looks.runs([one.pk for one in schedules], most=MAX_RUNS):
        found[run.schedule_id].append(run)
    return found
