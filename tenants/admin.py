"""The admin of tenants: their slots and members."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.forms import ModelForm
from django.http import HttpRequest

from tenants import key_admin  # noqa: F401 - registers itself
from tenants.admin_style import Kept, Labelled, ModelAdmin, Searched, StackedInline, TabularInline, display, rate
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.models import ApiKey, Member, Tenant, TenantQueue
from tenants.tenant_model import get_tenant_model

get_tenant_model()  # forms of a model that does not exist end in an error that names no setting
SLOTS: list[tuple[str | None, dict[str, Any]]] = [
    (
        "Share",
        {"fields": ["num_slots", "burst_slots", "user_slots", "weight", "max_waiting", "history_days", "queues"]},
    ),
    ("Rate limit", {"fields": [("rate_limit", "rate_window")]}),
]


class SlotsForm(ModelForm):  # type: ignore[type-arg]
    def has_changed(self) -> bool:
        # Store an unchanged form of a new tenant, too: without a row the tenant would have no slots.
        return self.instance.pk is None or super().has_changed()


class SlotsInline(StackedInline):
    model = TenantQueue
    form = SlotsForm
    fields = [
        ("num_slots", "burst_slots", "user_slots"),
        ("weight", "max_waiting"),
        ("rate_limit", "rate_window"),
        ("history_days",),
        ("queues", "paused"),
    ]
    min_num = max_num = 1
    can_delete = False
    hide_title = True
    verbose_name = verbose_name_plural = "slots"


class MembersInline(Searched, TabularInline):
    model = Member
    searched = ("user",)
    hide_title = True
    extra = 0


class ApiKeysInline(TabularInline):
    """Shows the keys only: a key is issued on its own page, which shows its token."""

    model = ApiKey
    fields = readonly_fields = ["name", "prefix", "expires_at", "revoked_at", "last_used_at"]
    show_change_link = True
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Tenant)
class TenantAdmin(Kept):
    list_display = ["name", "slug", "slots", "paused", "created_at"]
    list_select_related = ["jobs_queue"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def get_inlines(self, request: HttpRequest, obj: Tenant | None) -> list[Any]:
        return [SlotsInline, MembersInline, ApiKeysInline] if obj else [SlotsInline, MembersInline]

    @display(description="slots", ordering="jobs_queue__num_slots")
    def slots(self, tenant: Tenant) -> int:
        return tenant.jobs_queue.num_slots if hasattr(tenant, "jobs_queue") else 0

    @display(description="paused", label={"paused": "warning"}, empty_value="")
    def paused(self, tenant: Tenant) -> str:
        return "paused" if hasattr(tenant, "jobs_queue") and tenant.jobs_queue.paused else ""


@admin.register(TenantQueue)
class TenantQueueAdmin(Searched, Labelled, Kept):
    """Edit the slots of all tenants on one page. A saved change takes effect with the next dispatch."""

    list_display = ["tenant", "num_slots", "user_slots", "weight", "rate", "paused"]
    list_editable = ["num_slots", "user_slots", "weight", "paused"]
    list_filter = ["paused"]
    list_select_related = ["tenant"]
    search_fields = [f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]
    ordering = [f"tenant__{TENANT_NAME}"]
    fieldsets = [(None, {"fields": ["tenant", "paused"]}), *SLOTS]

    @display(description="rate limit", empty_value="")
    def rate(self, slots: TenantQueue) -> str | None:
        return rate(slots)

    def get_readonly_fields(self, request: HttpRequest, obj: TenantQueue | None = None) -> list[str]:
        return ["tenant"] if obj else []


@admin.register(Member)
class MemberAdmin(Searched, ModelAdmin):
    """For a project whose own page of a tenant does not have them, and to find whose member a user is."""

    searched = ("user", "tenant")
    list_display = ["user", "tenant"]
    list_filter = ["tenant"]
    list_select_related = ["user", "tenant"]
    ordering = [f"tenant__{TENANT_NAME}", "pk"]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return [f"user__{get_user_model().USERNAME_FIELD}", f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]
