"""The page of queues: their limits, and what is in use."""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest

from jobs.console.admin.limits import LimitsAdmin, fieldsets
from jobs.console.operations import pools
from jobs.console.operations.limits import OF_QUEUE
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
    fieldsets = fieldsets(OF_QUEUE, "name")

    def get_readonly_fields(self, request: HttpRequest, obj: Queue | None = None) -> list[str]:
        return ["name"] if obj else []  # code and clients refer to it

    def save_model(self, request: HttpRequest, obj: Queue, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for sentence in pools.after_move(obj) if "pool" in form.changed_data or not change else ():
            messages.warning(request, sentence)

    def standings(self, rows: Collection[Queue]) -> Mapping[int, Standing]:
        return present.queues()

    def subject(self, obj: Queue) -> str:
        return obj.name
