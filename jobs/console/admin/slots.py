"""The page of a tenant with its slots, members and keys; and the page of the slots of all tenants."""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from jobs.console.admin.limits import LimitsAdmin, LimitsForm, fieldsets, lead
from jobs.console.operations.limits import OF_TENANT
from jobs.console.operations.questions import TENANTS
from jobs.engine.verbs import limits
from jobs.reading import present
from jobs.reading.standing import Standing
from plumbing.admin_style import Kept, OnlyChanged, Searched, StackedInline, Untitled, display
from tenants.admin import ApiKeysInline, MembersInline
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.models import Tenant, TenantQueue


class SlotsForm(LimitsForm):
    def has_changed(self) -> bool:
        # Store an unchanged form of a new tenant, too: without a row the tenant would have no slots.
        return self.instance.pk is None or super().has_changed()


class SlotsInline(Untitled, StackedInline):
    """The slots on the page of a tenant. Their fields link to the what-if page."""

    model = TenantQueue
    form = SlotsForm
    fieldsets = fieldsets(OF_TENANT)
    min_num = max_num = 1
    can_delete = False
    verbose_name = verbose_name_plural = "slots"

    def get_formset(self, request: HttpRequest, obj: Tenant | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        if obj is not None:
            lead(formset.form, TENANTS, obj.jobs_slug, request)
        return formset


@admin.register(Tenant)  # unless the project has a tenant model of its own, with the project's own admin
class TenantAdmin(OnlyChanged, Kept):
    list_display = ["name", "slug", "slots", "paused", "created_at"]
    list_select_related = ["jobs_queue"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def get_inlines(self, request: HttpRequest, obj: Tenant | None) -> list[Any]:
        return [SlotsInline, MembersInline, ApiKeysInline] if obj else [SlotsInline, MembersInline]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        if formset.model is not TenantQueue:
            super().save_formset(request, form, formset, change)
            return
        formset.save(commit=False)
        for slots, changed in [(new, None) for new in formset.new_objects] + formset.changed_objects:
            limits.store(slots, changed)

    @display(description="slots", ordering="jobs_queue__num_slots")
    def slots(self, tenant: Tenant) -> str:
        return f"{tenant.jobs_queue.num_slots:,}" if hasattr(tenant, "jobs_queue") else "0"

    @display(description="paused", label={"paused": "warning"}, empty_value="")
    def paused(self, tenant: Tenant) -> str:
        return "paused" if hasattr(tenant, "jobs_queue") and tenant.jobs_queue.paused else ""


@admin.register(TenantQueue)
class SlotsAdmin(Searched, LimitsAdmin):
    """Edit the slots of all tenants on one page."""

    kind = TENANTS
    list_display = ["tenant", "num_slots", "in_use", "waiting", "user_slots", "weight", "rate", "paused"]
    list_editable = ["num_slots", "user_slots", "weight", "paused"]
    list_filter = ["paused"]
    list_select_related = ["tenant"]
    search_fields = [f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]
    ordering = [f"tenant__{TENANT_NAME}"]
    fieldsets = fieldsets(OF_TENANT, "tenant")

    def get_readonly_fields(self, request: HttpRequest, obj: TenantQueue | None = None) -> list[str]:
        return ["tenant"] if obj else []

    def standings(self, rows: Collection[TenantQueue]) -> Mapping[int, Standing]:
        now = present.tenants([row.tenant_id for row in rows])
        return {row.pk: now[row.tenant_id] for row in rows if row.tenant_id in now}

    def subject(self, obj: TenantQueue) -> str:
        return obj.tenant.jobs_slug
