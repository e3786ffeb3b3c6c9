# Unfold has no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from jobs import counts
from tenants.admin import TenantQueueAdmin
from tenants.models import TenantQueue

admin.site.unregister(TenantQueue)  # `tenants` does not know that jobs exist


@admin.register(TenantQueue)
class SlotsAdmin(TenantQueueAdmin):
    """The slots, and how many of them are in use."""

    list_display = ["tenant", "num_slots", "in_use", "waiting", "user_slots", "weight", "rate", "paused"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[TenantQueue]:
        return super().get_queryset(request).annotate(**counts.columns("tenant", outer="tenant"))

    @display(description="in use")
    def in_use(self, slots: Any) -> int:
        return int(slots.holding_now)

    @display(description="waiting")
    def waiting(self, slots: Any) -> int:
        return int(slots.waiting_now)
