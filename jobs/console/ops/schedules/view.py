"""The page of schedules: the recurring jobs of all tenants with their last runs; to pause, resume and run one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.db.models import Case, Count, F, Min, Q, QuerySet, TextField, Value, When
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
from jobs.pages.typed import number, texts
from jobs.reading import schedule_view
from jobs.reading.schedule_view import state_of
from tenants.conf import TENANT_NAME, TENANT_SLUG

MAX_PAGE = 99_999
A_PAGE = 50
MAX_RUNS = 10
BY_NAME, BY_RULE = "name, all tenants in one line", "rule, all schedules in one line"
SORTS: dict[str, tuple[Any, ...]] = {
    "next": (F("next_at").asc(nulls_last=True), "pk"),  # so the late ones come first
    "tenant": (f"tenant__{TENANT_NAME}", "name"),
    "newest": ("-pk",),
    BY_NAME: ("name",),
    BY_RULE: ("-schedules", "rule"),
}
GROUPS = {BY_NAME: "name", BY_RULE: "rule"}  # what the schedules of a line have in common
RULE = Case(  # 3600, or 0 6 * * * Europe/Berlin
    When(cron="", then=Cast("every", TextField())),
    default=Concat("cron", Value(" "), "tz", output_field=TextField()),
)
VERBS: Mapping[str, tuple[Callable[[Schedule], Any], str]] = {
    "pause": (change.pause, "Paused"),
    "resume": (change.resume, "Resumed"),
    "run": (change.run_now, "Ran"),
}


@page_for("jobs.view_schedule")
def show(request: HttpRequest) -> HttpResponse:
    """List the schedules.

    `q`: a part of the schedule's name, or the slug of its tenant
    `rule`: a whole rule, as RULE has it
    `sort`: one of SORTS
    `page`: the number of the page, from 0
    """
    typed, rule, sort = texts(request.GET, ("q", "rule", "sort")).values()
    sort = sort if sort in SORTS else "next"
    page = number(request.GET.get("page", ""), MAX_PAGE) or 0
    found = Schedule.objects.select_related("tenant").defer("args").annotate(rule=RULE)
    if typed:
        found = found.filter(Q(name__icontains=typed) | Q(**{f"tenant__{TENANT_SLUG}": typed}))
    if rule:
        found = found.filter(rule=rule)
    grouped = GROUPS.get(sort, "")
    lines: Any = _groups(found, grouped) if grouped else found
    listed = list(lines.order_by(*SORTS[sort])[page * A_PAGE : (page + 1) * A_PAGE + 1])
    context = {
        "q": typed,
        "rule": rule,
        "sort": sort,
        "sorts": list(SORTS),
        "grouped": grouped,
        "listed": _with_words(listed[:A_PAGE]) if grouped else _with_runs(listed[:A_PAGE]),
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


def _groups(found: QuerySet[Schedule], by: str) -> Any:
    """Return a row for each name, or for each rule; its `names` and `rules` are the numbers of different ones."""
    return found.values(by).annotate(
        schedules=Count("pk"),
        tenants=Count("tenant", distinct=True),
        paused_ones=Count("pk", filter=Q(paused=True)),
        next=Min("next_at"),
        names=Count("name", distinct=True),
        rules=Count("rule", distinct=True),
        one=Min("pk"),
    )


def _with_words(groups: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str, str]]:
    """Return each group with its rule in words and its name, or with how many it has."""
    schedules = Schedule.objects.in_bulk([group["one"] for group in groups])
    return [
        (
            group,
            schedule_view.in_words(one) if group["rules"] == 1 else f"{group['rules']:,} rules",
            one.name if group["names"] == 1 else f"{group['names']:,} names",
        )
        for group in groups
        if (one := schedules.get(group["one"])) is not None
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
