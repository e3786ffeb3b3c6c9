# Unfold has no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import StackedInline
from unfold.decorators import display

from jobs.admin.base import HugeTableAdmin, ReadOnly
from jobs.admin.filters import StatusFilter
from jobs.admin.search import HELP, search
from jobs.admin.timeline import timeline
from jobs.engine.cancel import cancel
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job

COLOURS = {
    Status.SCHEDULED: "",
    Status.CREATED: "",
    Status.QUEUED: "primary",
    Status.RUNNING: "info",
    Status.SUCCESS: "success",
    Status.ERROR: "danger",
    Status.DEAD: "danger",
    Status.CANCELLED: "warning",
}

FIELDS: dict[str | None, list[str | tuple[str, ...]]] = {
    None: [("state", "tenant"), ("source_type", "source_id", "source_method"), "args", "last_error"],
    "Line": [("queue", "priority"), ("user_key", "slot"), ("attempt", "crashes"), ("timeout", "worker")],
    "Times": ["timeline"],
    "What it tells": [("progress", "progress_note"), "stats"],
}


class FailedAttemptInline(ReadOnly, StackedInline):
    model = FailedAttempt
    ordering = ["attempt"]
    fields = readonly_fields = ["error_class", "error", "worker", "timeline", "trace"]
    extra = 0

    @display(description="times (UTC)")
    def timeline(self, failed: FailedAttempt) -> str:
        return timeline(queued=failed.queued_at, started=failed.start_time, ended=failed.end_time)

    @display(description="traceback")
    def trace(self, failed: FailedAttempt) -> str:
        wrapped = '<pre class="text-xs" style="white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>'
        return format_html(wrapped, failed.traceback or "none")


@admin.register(Job)
class JobAdmin(HugeTableAdmin):
    list_display = ["id", "state", "tenant", "call", "queue", "priority", "user_key", "created", "took"]
    list_select_related = ["tenant", "queue"]
    list_filter = [StatusFilter, "queue", "tenant", "created_at"]
    search_fields = ["id"]  # shows the box; what is typed is read by `search`
    search_help_text = HELP
    actions = ["cancel_jobs"]
    inlines = [FailedAttemptInline]
    fieldsets = [(title, {"fields": fields}) for title, fields in FIELDS.items()]
    readonly_fields = ["state", "timeline"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Job], search_term: str
    ) -> tuple[QuerySet[Job], bool]:
        return search(queryset, search_term), False

    @display(description="status", label=COLOURS)
    def state(self, job: Job) -> str:
        return job.status

    @display(description="call")
    def call(self, job: Job) -> str:
        source = job.source_type if job.source_id is None else f"{job.source_type}:{job.source_id}"
        return f"{source} {job.source_method}"

    @display(description="created (UTC)")
    def created(self, job: Job) -> str:
        return f"{job.created_at:%Y-%m-%d %H:%M:%S}"

    @display(description="times (UTC)")
    def timeline(self, job: Job) -> str:
        return timeline(
            created=job.created_at,
            due=job.due_at,
            queued=job.queued_at,
            started=job.start_time,
            ended=job.end_time,
            result_expires=job.result_expires_at,
        )

    @display(description="ran for", empty_value="")
    def took(self, job: Job) -> str | None:
        if job.start_time is None or job.end_time is None:
            return None
        return f"{(job.end_time - job.start_time).total_seconds():.1f} s"

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("jobs.change_job"))

    @admin.action(description="Cancel those that have not started", permissions=["cancel"])
    def cancel_jobs(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        cancelled = [job for job in jobs if cancel(job.pk)]
        for job in cancelled:
            self.log_change(request, job, "Cancelled.")
        late = len(jobs) - len(cancelled)
        if cancelled:
            self.message_user(request, f"Cancelled {len(cancelled)} jobs.", messages.SUCCESS)
        if late:
            self.message_user(request, f"{late} had started or ended, and were left alone.", messages.WARNING)
