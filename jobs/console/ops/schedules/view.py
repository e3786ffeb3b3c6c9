"""The page of schedules: the recurring jobs of all tenants with their last runs; to pause, resume and run one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.http import Http404, HttpRequest, HttpResponse

from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.console.ops.shared import live
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, refused
from jobs.console.ops.shared.present_queries import look_objects
from jobs.engine.schedules import change
from jobs.models import Schedule, ScheduleRun
from jobs.pages.answers import existing
from jobs.pages.typed import number
from jobs.reading import schedule_view
from jobs.reading.schedule_view import state_of
from tenants.conf import TENANT_NAME, TENANT_SLUG

MAX_PAGE = 99_999
A_PAGE = 50
MAX_RUNS = 10
BY_NAME = "name, all tenants in one line"
SORTS: dict[str, tuple[Any, ...]] = {
    "next": (F("next_at").asc(nulls_last=True), "pk"),  # so the late ones come first
    "tenant": (f"tenant__{TENANT_NAME}", "name"),
    "newest": ("-pk",),
    BY_NAME: ("name",),
}
VERBS: Mapping[str, tuple[Callable[[Schedule], Any], str]] = {
    "pause": (change.pause, "Paused"),
    "resume": (change.resume, "Resumed"),
    "run": (change.run_now, "Ran"),
}


@page_for("jobs.view_schedule")
def show(request: HttpRequest) -> HttpResponse:
    """List the schedules.

    `q`: a part of the schedule's name, or the slug of its tenant
    `sort`: one of SORTS
    `page`: the number of the page, from 0
    """
    typed = request.GET.get("q", "").strip()
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else "next"
    page = number(request.GET.get("page", ""), MAX_PAGE) or 0
    found = Schedule.objects.select_related("tenant").defer("args").order_by(*SORTS[sort])
    if typed:
        found = found.filter(Q(name__icontains=typed) | Q(**{f"tenant__{TENANT_SLUG}": typed}))
    listed: list[Any] = list((_names(found) if sort == BY_NAME else found)[page * A_PAGE : (page + 1) * A_PAGE + 1])
    context = {
        "q": typed,
        "sort": sort,
        "sorts": list(SORTS),
        "by_name": sort == BY_NAME,
        "listed": _with_rules(listed[:A_PAGE]) if sort == BY_NAME else _with_runs(listed[:A_PAGE]),
        "earlier": page - 1 if page else None,
        "later": page + 1 if len(listed) > A_PAGE else None,
    }
    return live.page(request, "schedules", "Schedules", ("schedules",), context, every=live.REFRESH_SECONDS * 5)


def last_runs(schedule_ids: Collection[int], *, most: int) -> list[ScheduleRun]:
    """Return the last runs of these schedules, up to `most` of each, latest first."""
    return look_objects(ScheduleRun, "look_runs", ids=list(schedule_ids), most=most)


def _with_runs(schedules: list[Schedule]) -> list[tuple[Any, ...]]:
    runs: dict[int, list[ScheduleRun]] = defaultdict(list)  # the latest first
    for run in last_runs([schedule.pk for schedule in schedules], most=MAX_RUNS):
        runs[run.schedule_id].append(run)
    return [
        (one, schedule_view.in_words(one), state_of(one), next(iter(runs[one.pk]), None), runs[one.pk])
        for one in schedules
    ]


def _names(found: QuerySet[Schedule]) -> Any:
    """Return a row for each name of the schedules; its `rules` is the number of different rules."""
    rule = Concat(Cast("every", TextField()), Value("/"), "cron", Value("/"), "tz", output_field=TextField())
    return found.values("name").annotate(
        tenants=Count("pk"),
        paused_ones=Count("pk", filter=Q(paused=True)),
        next=Min("next_at"),
        rules=Count(rule, distinct=True),
        one=Min("pk"),
    )


def _with_rules(names: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    schedules = Schedule.objects.in_bulk([name["one"] for name in names])
    return [
        (name, schedule_view.in_words(schedules[name["one"]]) if name["rules"] == 1 else f"{name['rules']} rules")
        for name in names
        if name["one"] in schedules
    ]


@action_for("jobs.change_schedule")
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Do the `verb` of the form: pause, resume or run."""
    verb, did = VERBS.get(request.POST.get("verb", ""), (None, ""))
    schedule = existing(Schedule.objects.filter(pk=pk).first())
    if verb is None:
        return refused(request, f"verb: must be one of {', '.join(VERBS)}.")
    try:
        verb(schedule)
    except (InvalidRequest, TooManyWaiting, Undecided) as error:
        return refused(request, f"{schedule.name}: {error}.")
    except Schedule.DoesNotExist:
        raise Http404 from None  # another user has deleted it meanwhile
    return done(request, f"{did} {schedule.name}.")
