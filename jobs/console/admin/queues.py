"""The page of queues: their limits, and what is in use."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.console.admin.asking import AsksWhatIf
from jobs.console.operations.what_if import QUEUES
from jobs.engine import limits
from jobs.models import Queue
from jobs.reading import counts
from tenants.admin_style import Labelled, display, rate


@admin.register(Queue)
class QueueAdmin(AsksWhatIf, Labelled):
    """Edit queues. A saved change takes effect with the next dispatch, which follows at once."""

    kind = QUEUES

    list_display = ["name", "weight", "pool", "in_use", "waiting", "concurrency", "rate", "default_timeout", "paused"]
    list_editable = ["weight", "concurrency", "default_timeout", "paused"]
    list_filter = ["pool", "paused"]
    search_fields = ["name"]
    fieldsets = [
        (None, {"fields": ["name", "paused"]}),
        ("Share", {"fields": ["weight", "pool", "concurrency"]}),
        ("Rate limit", {"fields": [("rate_limit", "rate_window")]}),
        (
            "Defaults for jobs",
            {"fields": ["default_timeout", "default_max_retries", "default_backoff", "backoff_grows"]},
        ),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Queue | None = None) -> list[str]:
        return ["name"] if obj else []  # code and clients refer to it

    def subject(self, obj: Queue) -> str:
        return obj.name

    def get_queryset(self, request: HttpRequest) -> QuerySet[Queue]:
        return super().get_queryset(request).annotate(**counts.columns("queue"))

    @display(description="in use")
    def in_use(self, queue: Any) -> int:
        return int(queue.holding_now)

    @display(description="waiting")
    def waiting(self, queue: Any) -> int:
        return int(queue.waiting_now)

    @display(description="rate limit", empty_value="")
    def rate(self, queue: Queue) -> str | None:
        return rate(queue)

    def save_model(self, request: HttpRequest, obj: Queue, form: Any, change: bool) -> None:
        limits.store(obj, form.changed_data if change else None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # Jobs refer to the queue, and counting them would read millions. Pause it instead.
