"""The page of queues: their limits, and what is in use."""

from collections.abc import Collection, Mapping

from django.contrib import admin
from django.http import HttpRequest

from jobs.console.admin.limits import LimitsAdmin
from jobs.console.operations.questions import QUEUES
from jobs.models import Queue
from jobs.reading import present
from jobs.reading.standing import Standing


@admin.register(Queue)
class QueueAdmin(LimitsAdmin):
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

    def standings(self, rows: Collection[Queue]) -> Mapping[int, Standing]:
        return present.queues()

    def subject(self, obj: Queue) -> str:
        return obj.name
