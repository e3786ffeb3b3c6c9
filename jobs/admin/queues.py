# Unfold has no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from jobs.models import Queue


@admin.register(Queue)
class QueueAdmin(ModelAdmin):
    """Edited in place; what is saved works at the next dispatch."""

    list_display = ["name", "weight", "pool", "concurrency", "default_timeout", "paused"]
    list_editable = ["weight", "concurrency", "default_timeout", "paused"]
    list_filter = ["pool", "paused"]
    search_fields = ["name"]

    def get_readonly_fields(self, request: HttpRequest, obj: Queue | None = None) -> list[str]:
        return ["name"] if obj else []  # code and clients name it

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # Its jobs refer to it; asking whether it has any would count millions. Pause it.
