"""The page of schedules: what each calls, its rule in words, its next times, and its last runs."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join

from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.console.admin.base import cut
from jobs.console.operations.schedule_form import PREVIEW, ScheduleForm
from jobs.engine.schedules import change
from jobs.models import Schedule, ScheduleRun
from jobs.reading import schedule_view
from plumbing.addresses import address
from plumbing.admin_style import WITH_UNFOLD, ModelAdmin, Searched, Select, display
from plumbing.names import named
from tenants.conf import TENANT_NAME, TENANT_SLUG

MAX_NAME = 60  # characters of a name in the list, and in a message
RUNS = 10
SHOWN = ["rule", "next_times", "state", "because", "runs"]
COLOURS = {
    "on": "success",
    "late": "warning",
    "paused itself": "danger",
    "paused": "info",
    "undeclared": "info",
    "ended": "",
}
EDITED = [
    (None, {"fields": ["tenant", "name"]}),
    ("Call", {"fields": [("job_type", "source_id"), "args", ("queue", "priority")]}),
    ("When", {"fields": [("every", "cron"), ("tz", "jitter"), ("starts_at", "ends_at"), ("catch_up", "overlap")]}),
    ("In words", {"fields": SHOWN[:2]}),
]
LOOKED_AT = [
    (None, {"fields": ["tenant", "name", "declared"]}),
    ("Call", {"fields": [("source_type", "source_method"), "source_id", "args", ("queue", "priority")]}),
    EDITED[2],
    EDITED[3],
]
HISTORY = ("State and last runs", {"fields": SHOWN[2:]})


def _action(verb: Callable[[Schedule], Any], description: str, did: str) -> Callable[..., None]:
    @admin.action(description=description, permissions=["operate"])
    def action(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
        done = 0
        for schedule in schedules:
            try:
                verb(schedule)
            except (InvalidRequest, TooManyWaiting, Undecided) as refused:
                page.message_user(request, f"{schedule.name[:MAX_NAME]}: {refused}.", messages.WARNING)
            except Schedule.DoesNotExist:
                continue  # another user has deleted it
            else:
                done += 1
        if done:
            count = "1 schedule" if done == 1 else f"{done} schedules"
            page.message_user(request, f"{did} {count}.", messages.SUCCESS)

    action.__name__ = verb.__name__
    return action


ACTIONS = [
    _action(change.pause, "Pause: no due times until it is resumed", "Paused"),
    _action(change.resume, "Resume: due again from now on", "Resumed"),
    _action(change.run_now, "Run now: submit one extra job", "Ran"),
]


class StyledScheduleForm(ScheduleForm):
    job_type = forms.ChoiceField(widget=Select)
    queue = forms.ChoiceField(widget=Select, required=False)


@admin.register(Schedule)
class ScheduleAdmin(Searched, ModelAdmin):
    """The engine stores schedules. Those that the code declares can only be viewed, paused, resumed and run."""

    form = StyledScheduleForm
    change_form_template = None if WITH_UNFOLD else "admin/jobs/schedule_form.html"
    list_display = ["name_cut", "tenant", "rule", "next", "last_run", "state"]
    list_filter = ["paused", ("paused_because", admin.EmptyFieldListFilter), "declared"]
    list_select_related = ["tenant"]
    search_fields = ["name", f"tenant__{TENANT_SLUG}", f"tenant__{TENANT_NAME}"]
    ordering = ["tenant_id", "name"]  # as the index has them
    actions = ACTIONS

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        last = ScheduleRun.objects.filter(schedule=OuterRef("pk"), job_id__isnull=False).order_by("-due")
        return super().get_queryset(request).annotate(last_due=Subquery(last.values("due")[:1]))

    def get_fieldsets(self, request: HttpRequest, obj: Schedule | None = None) -> Any:
        if obj is None:
            return EDITED
        return [*(EDITED if self.has_change_permission(request, obj) else LOOKED_AT), HISTORY]

    def get_readonly_fields(self, request: HttpRequest, obj: Schedule | None = None) -> list[str]:
        return SHOWN if obj is None else ["tenant", "declared", *SHOWN]

    def has_change_permission(self, request: HttpRequest, obj: Schedule | None = None) -> bool:
        return (obj is None or not obj.declared) and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Schedule | None = None) -> bool:
        return (obj is None or not obj.is_of_the_code) and bool(super().has_delete_permission(request, obj))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(named("jobs.change_schedule")))

    def changeform_view(self, request: HttpRequest, *args: Any, **more: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **more)
        except (InvalidRequest, Schedule.DoesNotExist):  # another user changed it after the form's check: check again
            return super().changeform_view(request, *args, **more)

    def save_model(self, request: HttpRequest, obj: Schedule, form: ScheduleForm, *_: Any) -> None:
        obj.__dict__.update(form.store().__dict__)

    def delete_model(self, request: HttpRequest, obj: Schedule) -> None:
        self.delete_queryset(request, [obj])

    def delete_queryset(self, request: HttpRequest, queryset: Iterable[Schedule]) -> None:
        for schedule in queryset:
            with suppress(Schedule.DoesNotExist):  # another user has deleted it
                change.delete(schedule)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **more: Any
    ) -> HttpResponse:
        form = context["adminform"].form
        if "args" in form.fields:
            button = {"action_name": PREVIEW, "description": "Preview", "icon": "visibility", "attrs": {}}
            context["actions_submit_line"] = [button]  # of unfold; without it, the template below has the button
        if PREVIEW in request.POST and not form.errors:
            times = ", ".join(map(_moment, schedule_view.next_times(form.instance)))
            words = f"Not stored yet. {schedule_view.in_words(form.instance)}. Next (UTC): {times or 'never'}."
            self.message_user(request, words, messages.INFO)
        return super().render_change_form(request, context, *args, **more)

    @display(description="name", ordering="name")
    def name_cut(self, schedule: Schedule) -> str:
        return cut(schedule.name, MAX_NAME)

    @display(description="due")
    def rule(self, schedule: Schedule) -> str:
        return schedule_view.in_words(schedule) if _has_rule(schedule) else "Fill in a rule and press Preview."

    @display(description="next times (UTC)", empty_value="")
    def next_times(self, schedule: Schedule) -> str | None:
        times = schedule_view.next_times(schedule) if _has_rule(schedule) else []
        return format_html_join("", "<div>{}</div>", ([_moment(due)] for due in times)) if times else None

    @display(description="next (UTC)", ordering="next_at", empty_value="–")
    def next(self, schedule: Schedule) -> str | None:
        return None if schedule.next_at is None else _moment(schedule.next_at)

    @display(description="last run (UTC)", empty_value="–")
    def last_run(self, schedule: Any) -> str | None:
        return None if schedule.last_due is None else _moment(schedule.last_due)

    @display(description="state", label=COLOURS)
    def state(self, schedule: Schedule) -> str:
        return schedule_view.state_of(schedule)

    @display(description="paused because", empty_value="–")
    def because(self, schedule: Schedule) -> str | None:
        return schedule.paused_because or None

    @display(description="last runs (UTC)")
    def runs(self, schedule: Schedule) -> str:
        runs = schedule.runs.order_by("-due")[:RUNS]
        return (
            format_html_join("", "<div>{} {} {}</div>", ((_moment(r.due), _job(r), r.note) for r in runs))
            or "None yet."
        )


def _has_rule(schedule: Schedule) -> bool:
    return isinstance(schedule.starts_at, datetime) and (schedule.every is None) != (not schedule.cron)


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _job(run: ScheduleRun) -> str:
    if run.job_id is None:
        return ""
    if not (page := address("jobs_ops:job", run.job_id)):  # a project without the live pages
        return f"job {run.job_id}"
    return format_html('<a class="underline" href="{}">job {}</a>', page, run.job_id)
