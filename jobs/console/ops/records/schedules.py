"""New schedules; and the page of a schedule, where its rule is changed."""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from jobs.console.operations.schedule_form import PREVIEW, ScheduleForm
from jobs.console.ops.records.form_page import form_page, parts
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.models import Schedule
from jobs.pages.answers import SeeOther, existing
from jobs.reading import schedule_view
from tenants.models import Tenant

SHOWN = ("job_type", "source_id", "args", "every", "cron", "tz")
MORE = ("queue", "priority", "jitter", "starts_at", "ends_at", "catch_up", "overlap")


class NewScheduleForm(ScheduleForm):
    tenant = forms.CharField(help_text="Its slug.")

    def clean_tenant(self) -> Tenant:
        try:
            return tenant_named(self.cleaned_data["tenant"])
        except InvalidRequest as refused:
            raise forms.ValidationError(f"{refused.message}.") from None


@page_for("jobs.add_schedule")
def new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new schedule. `tenant`: a slug that is filled in."""
    return _page(request, NewScheduleForm(initial={"tenant": request.GET.get("tenant", "")}))


@action_for("jobs.add_schedule")
def add(request: HttpRequest) -> HttpResponse:
    return _store(request, NewScheduleForm(request.POST), "Created")


@page_for("jobs.change_schedule")
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    return _page(request, ScheduleForm(instance=_schedule(pk)))


@action_for("jobs.change_schedule")
def change(request: HttpRequest, pk: int) -> HttpResponse:
    return _store(request, ScheduleForm(request.POST, instance=_schedule(pk)), "Changed")


def _store(request: HttpRequest, form: ScheduleForm, did: str) -> HttpResponse:
    if form.is_valid():
        try:
            with transaction.atomic():
                schedule = form.store()
            return _stored(request, f"{did} schedule {schedule.name}: {schedule_view.in_words(schedule)}.")
        except Schedule.DoesNotExist:
            raise Http404("The schedule was deleted meanwhile.") from None
        except InvalidRequest as refused:  # another user changed it after the form's check
            form.add_error(None, f"{refused}.")
    elif PREVIEW in request.POST and not form.errors:
        times = ", ".join(f"{due:%Y-%m-%d %H:%M:%S}" for due in schedule_view.next_times(form.instance))
        words = f"{schedule_view.in_words(form.instance)}. Next (UTC): {times or 'never'}."
        messages.info(request, f"Not stored yet. {words}")
    return _page(request, form)


def _stored(request: HttpRequest, message: str) -> HttpResponse:
    done(request, message)
    return SeeOther(reverse("jobs_ops:schedules"))


def _page(request: HttpRequest, form: ScheduleForm) -> HttpResponse:
    pk = form.instance.pk
    title = "New schedule" if pk is None else f"Schedule {form.instance.name} of {form.instance.tenant.jobs_name}"
    address = reverse("jobs_ops:add-schedule") if pk is None else reverse("jobs_ops:change-schedule", args=[pk])
    first = ["name"] if pk else ["tenant", "name"]
    shown = parts(form, {"": [*first, *SHOWN], "More": MORE})
    button = "Create schedule" if pk is None else "Save"
    return form_page(request, title, address=address, forms=[form], shown=shown, button=button, preview=PREVIEW)


def _schedule(pk: int) -> Schedule:
    schedule = existing(Schedule.objects.select_related("tenant").filter(pk=pk).first(), "There is no such schedule.")
    if schedule.declared:
        raise Http404(f"The code declares schedule {schedule.name}: change it there. Here you can pause or run it.")
    return schedule
