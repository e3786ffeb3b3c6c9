"""The pages of tenants and slots of the app `tenants`, with what this app knows: the slots in use."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.console.admin.asking import AsksWhatIf, lead
from jobs.console.operations.what_if import TENANTS
from jobs.engine import limits
from jobs.reading import counts
from tenants.admin import SlotsInline, TenantAdmin, TenantQueueAdmin
from tenants.admin_style import display
from tenants.models import Tenant, TenantQueue

# `tenants` does not know that jobs exist. A project's own tenant model has the project's own admin.
admin.site.unregister([TenantQueue] if Tenant._meta.swapped else [Tenant, TenantQueue])


class AskingSlotsInline(SlotsInline):
    """Its fields lead to the question of what other limits would have done."""

    def get_formset(self, request: HttpRequest, obj: Tenant | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        if obj is not None:
            lead(formset.form, TENANTS, obj.jobs_slug, request)
        return formset


@admin.register(Tenant)
class TenantWithSlotsAdmin(TenantAdmin):
    def get_inlines(self, request: HttpRequest, obj: Tenant | None) -> list[Any]:
        return [AskingSlotsInline if one is SlotsInline else one for one in super().get_inlines(request, obj)]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        if formset.model is not TenantQueue:
            super().save_formset(request, form, formset, change)
            return
        for slots in formset.save(commit=False):
            limits.store(slots)


@admin.register(TenantQueue)
class SlotsAdmin(AsksWhatIf, TenantQueueAdmin):
    kind = TENANTS

    list_display = ["tenant", "num_slots", "in_use", "waiting", "user_slots", "weight", "rate", "paused"]

    def save_model(self, request: HttpRequest, obj: TenantQueue, form: Any, change: bool) -> None:
        limits.store(obj, form.changed_data if change else None)

    def subject(self, obj: TenantQueue) -> str:
        return obj.tenant.jobs_slug

    def get_queryset(self, request: HttpRequest) -> QuerySet[TenantQueue]:
        return super().get_queryset(request).annotate(**counts.columns("tenant", outer="tenant"))

    @display(description="in use")
    def in_use(self, slots: Any) -> int:
        return int(slots.holding_now)

    @display(description="waiting")
    def waiting(self, slots: Any) -> int:
        return int(slots.waiting_now)
