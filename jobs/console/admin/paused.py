"""The page of paused job types."""

# The bases have no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from jobs.authoring.text import count_of_jobs
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.console.admin.base import ReadOnly
from jobs.engine.pause import pause_job_type, resume_job_type
from jobs.models import PausedJobType
from tenants.admin_style import ModelAdmin, Select, display
from tenants.names import named

if TYPE_CHECKING:
    PausedForm = forms.ModelForm[PausedJobType]
else:
    PausedForm = forms.ModelForm  # generic for the type checker only


class PauseForm(PausedForm):
    """Offers the existing job types."""

    job_type = forms.ChoiceField(
        widget=Select,
        help_text="Its waiting jobs are held and do not block others; its running jobs continue.",
    )

    class Meta:
        model = PausedJobType
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = (str(target) for target in registry.targets())
        paused = set(map(str, PausedJobType.objects.all()))
        choices = [(name, name) for name in sorted(known) if name not in paused]
        self.fields["job_type"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField

    def clean(self) -> dict[str, Any]:
        chosen = self.cleaned_data.get("job_type", "")
        self.instance.source_type, _, self.instance.source_method = chosen.rpartition(".")
        return self.cleaned_data


@admin.register(PausedJobType)
class PausedJobTypeAdmin(ReadOnly, ModelAdmin):
    """The engine pauses and resumes: adding or deleting a row by the ORM would hold or release no jobs."""

    form = PauseForm
    fields = ["job_type"]
    list_display = ["name", "since"]
    list_display_links = None
    ordering = ["source_type", "source_method"]
    actions = ["resume"]

    @display(description="job type")
    def name(self, paused: PausedJobType) -> str:
        return str(paused)

    @display(description="paused since (UTC)")
    def since(self, paused: PausedJobType) -> str:
        return f"{paused.paused_at:%Y-%m-%d %H:%M:%S}"

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm(named("jobs.add_pausedjobtype")))

    def has_resume_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(named("jobs.delete_pausedjobtype")))

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        only_save = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, (extra_context or {}) | only_save)

    def save_model(self, request: HttpRequest, obj: PausedJobType, form: PauseForm, change: bool) -> None:
        # After the page's transaction: the row must be committed before the waiting jobs are held.
        transaction.on_commit(lambda: self._pause(request, obj.source_type, obj.source_method))

    def _pause(self, request: HttpRequest, source_type: str, source_method: str) -> None:
        held = pause_job_type(source_type, source_method)
        paused = PausedJobType.objects.filter(source_type=source_type, source_method=source_method)
        LogEntry.objects.log_actions(cast("User", request.user).pk, paused, ADDITION, "Paused.")
        self.message_user(
            request, f"Paused {source_type}.{source_method}: {count_of_jobs(held)} held.", messages.SUCCESS
        )

    def log_addition(self, request: HttpRequest, obj: PausedJobType, message: Any) -> None:
        """Log nothing yet: the row does not exist."""

    def response_add(
        self, request: HttpRequest, obj: PausedJobType, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.response_post_save_add(request, obj)

    @admin.action(description="Resume: release the held jobs", permissions=["resume"])
    def resume(self, request: HttpRequest, paused: QuerySet[PausedJobType]) -> None:
        for job_type in paused:
            try:
                released = resume_job_type(job_type.source_type, job_type.source_method)
            except InvalidRequest as error:  # another operator was faster
                self.message_user(request, f"{error.message}.", messages.WARNING)
                continue
            LogEntry.objects.log_actions(cast("User", request.user).pk, [job_type], DELETION, "Resumed.")
            self.message_user(request, f"Resumed {job_type}: {count_of_jobs(released)} released.", messages.SUCCESS)
