"""The page of jobs: how each came to be as it is, with its failed attempts; and the actions on them."""

# The bases have no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

import json
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from jobs.console.admin.actions import cancel_jobs, revive_jobs
from jobs.console.admin.base import HugeTableAdmin, cut
from jobs.console.admin.failures import failures
from jobs.console.admin.filters import HELD, StatusFilter
from jobs.console.admin.search import HELP, search
from jobs.console.admin.timeline import timeline
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Job, JobRow
from jobs.reading import queries
from jobs.reading.masked import masked
from tenants.admin_style import badge, display
from tenants.names import named

COLOURS = {
    HELD: "warning",
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
    None: [("status_badge", "tenant"), "source_type", "source_id", "source_method", "arguments", "last_error"],
    "Line": [
        "queue",
        "priority",
        "user_key",
        "slot",
        ("attempt", "tries", "crashes"),
        ("timeout", "memory", "peak_memory"),
        "worker",
    ],
    "Times": ["timeline"],
    "Progress": ["progress", "progress_note", "stats"],
    "Failed attempts": ["failures"],
}


@admin.register(Job)
class JobAdmin(HugeTableAdmin):
    list_display = ["id", "state", "whose", "call", "line", "priority", "user", "created", "took"]
    list_select_related: ClassVar[list[str]] = []  # no joins: see queries.all_jobs
    list_filter = [StatusFilter, "queue", "tenant", "created_at"]
    search_fields = ["id"]  # shows the search box; `search` reads the input
    search_help_text = HELP
    actions = [cancel_jobs, revive_jobs]
    fieldsets = [(title, {"fields": fields}) for title, fields in FIELDS.items()]
    readonly_fields = ["status_badge", "arguments", "tries", "timeline", "failures"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return queries.all_jobs()

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The job as an object of this page's model: Unfold names an object's pages after it."""
        found = super().get_object(request, object_id, from_field)
        fields = queries.all_jobs().model._meta.concrete_fields
        return found and self.model(**{field.attname: getattr(found, field.attname) for field in fields})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return search(queryset, search_term), False

    @display(description="status", label=COLOURS)
    def state(self, job: JobRow) -> str:
        return HELD if job.due_at == HELD_UNTIL else job.status

    @display(description="status")
    def status_badge(self, job: JobRow) -> str:
        state = self.state(job)
        label = badge(state, COLOURS[state])
        note = ""
        if state == HELD:
            note = "its job type is paused"
        elif job.status == Status.RUNNING and job.cancel_requested_at is not None:
            note = "asked to stop"
        return format_html('{}<span class="ml-2">{}</span>', label, note) if note else label

    @display(description="retries")
    def tries(self, job: JobRow) -> str:
        return str(job.retries) if job.max_retries is None else f"{job.retries} of {job.max_retries}"

    @display(description="call")
    def call(self, job: JobRow) -> str:
        source = job.source_type if job.source_id is None else f"{job.source_type}:{job.source_id}"
        return cut(f"{source} {job.source_method}", 50)

    @display(description="tenant")
    def whose(self, job: JobRow) -> str:
        return cut(job.tenant.name, 30)

    @display(description="queue")
    def line(self, job: JobRow) -> str:
        return cut(job.queue.name, 20)

    @display(description="user", empty_value="")
    def user(self, job: JobRow) -> str:
        return cut(job.user_key, 16)

    @display(description="created (UTC)")
    def created(self, job: JobRow) -> str:
        return f"{job.created_at:%Y-%m-%d %H:%M:%S}"

    @display(description="times (UTC)")
    def timeline(self, job: JobRow) -> str:
        return timeline(
            created=job.created_at,
            due=None if job.due_at == HELD_UNTIL else job.due_at,
            queued=job.queued_at,
            started=job.start_time,
            asked_to_stop=job.cancel_requested_at,
            ended=job.end_time,
            result_expires=job.result_expires_at,
        )

    @display(description="args")
    def arguments(self, job: JobRow) -> str:
        """As JSON; values whose names look like secrets are masked."""
        return "erased" if job.is_erased else json.dumps(masked(job.args), ensure_ascii=False)

    @display(description="each attempt")
    def failures(self, job: JobRow) -> str:
        return failures(queries.failed_attempts(job))

    @display(description="ran for", empty_value="")
    def took(self, job: JobRow) -> str | None:
        if job.start_time is None or job.end_time is None:
            return None
        return f"{(job.end_time - job.start_time).total_seconds():.1f} s"

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(named(f"jobs.change_{self.opts.model_name}")))
