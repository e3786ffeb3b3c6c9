"""The admin of tenants: their slots, members and API keys."""

# Unfold has no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import display

from tenants import auth, user_admin  # noqa: F401 - registers itself
from tenants.models import ApiKey, Key, Member, OperatorKey, Tenant, TenantQueue


class Kept(ModelAdmin):
    """Rows that are not deleted here: with a tenant its jobs would go, even the running ones. Pause it."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


SLOTS: list[tuple[str | None, dict[str, Any]]] = [
    ("Share", {"fields": ["num_slots", "user_slots", "weight"]}),
    ("Rate limit", {"fields": [("rate_limit", "rate_window")]}),
]


class SlotsForm(ModelForm):  # type: ignore[type-arg]
    def has_changed(self) -> bool:
        # An untouched form of a new tenant is stored too: without a row it would have no slots at all.
        return self.instance.pk is None or super().has_changed()


class SlotsInline(StackedInline):
    model = TenantQueue
    form = SlotsForm
    fieldsets = [(None, {"fields": [("num_slots", "user_slots"), "weight", ("rate_limit", "rate_window"), "paused"]})]
    min_num = max_num = 1
    can_delete = False
    hide_title = True
    verbose_name = verbose_name_plural = "slots"


class MembersInline(TabularInline):
    model = Member
    autocomplete_fields = ["user"]
    hide_title = True
    extra = 0


class ApiKeysInline(TabularInline):
    """Only shows them: a key is issued on its own page, where its token appears."""

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
    list_select_related = ["queue"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def get_inlines(self, request: HttpRequest, obj: Tenant | None) -> list[type[TabularInline]]:
        return [SlotsInline, MembersInline, ApiKeysInline] if obj else [SlotsInline, MembersInline]

    @display(description="slots", ordering="queue__num_slots")
    def slots(self, tenant: Tenant) -> int:
        return tenant.queue.num_slots if hasattr(tenant, "queue") else 0

    @display(description="paused", label={"paused": "warning"}, empty_value="")
    def paused(self, tenant: Tenant) -> str:
        return "paused" if hasattr(tenant, "queue") and tenant.queue.paused else ""


@admin.register(TenantQueue)
class TenantQueueAdmin(Kept):
    """All tenants' slots on one page, edited in place; what is saved works at the next dispatch."""

    list_display = ["tenant", "num_slots", "user_slots", "weight", "rate", "paused"]
    list_editable = ["num_slots", "user_slots", "weight", "paused"]
    list_filter = ["paused"]
    list_select_related = ["tenant"]
    search_fields = ["tenant__name", "tenant__slug"]
    autocomplete_fields = ["tenant"]
    ordering = ["tenant__name"]
    fieldsets = [(None, {"fields": ["tenant", "paused"]}), *SLOTS]

    @display(description="rate limit", empty_value="")
    def rate(self, slots: TenantQueue) -> str | None:
        return (
            f"{slots.rate_limit}\N{NO-BREAK SPACE}per\N{NO-BREAK SPACE}{slots.rate_window:g}\N{NO-BREAK SPACE}s"
            if slots.rate_limit
            else None
        )

    def get_readonly_fields(self, request: HttpRequest, obj: TenantQueue | None = None) -> list[str]:
        return ["tenant"] if obj else []


class KeyAdmin(Kept):
    """Issues keys and revokes them; a key is never changed."""

    owner: str
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        seen = ["prefix", "created_at", "last_used_at", "revoked_at"] if obj else []
        return [self.owner, "name", "expires_at", *seen]

    def get_readonly_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        return [self.owner, "prefix", "created_at", "last_used_at", "revoked_at"] if obj else []

    def save_model(self, request: HttpRequest, obj: Key, form: "ModelForm[Key]", change: bool) -> None:
        """Issue a new key, and show its token this one time."""
        token = None if change else auth.mint(obj)
        super().save_model(request, obj, form, change)
        if token:
            text = "The key is <code>{}</code> Copy it now: it is not stored, and cannot be shown again."
            self.message_user(request, format_html(text, token), messages.WARNING)

    @display(description="state", label={"good": "success", "expired": "warning", "revoked": "danger"})
    def state(self, key: Key) -> str:
        if key.revoked_at:
            return "revoked"
        return "expired" if key.expires_at and key.expires_at <= timezone.now() else "good"

    @admin.action(description="Revoke: refuse these keys from now on", permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[Key]) -> None:
        for key in keys:
            auth.revoke(key)
            self.log_change(request, key, "Revoked.")
        self.message_user(request, f"Revoked {len(keys)} keys.", messages.SUCCESS)


@admin.register(ApiKey)
class ApiKeyAdmin(KeyAdmin):
    owner = "tenant"
    list_display = ["name", "tenant", "prefix", "state", "expires_at", "last_used_at"]
    list_filter = ["tenant"]
    list_select_related = ["tenant"]
    search_fields = ["name", "prefix", "tenant__name"]
    autocomplete_fields = ["tenant"]


@admin.register(OperatorKey)
class OperatorKeyAdmin(KeyAdmin):
    """A key acts as its user: who is no superuser issues keys for nobody else."""

    owner = "user"
    list_display = ["name", "user", "prefix", "state", "expires_at", "last_used_at"]
    list_filter = ["user"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix", "user__username"]

    def get_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        fields = super().get_fields(request, obj)
        return fields if obj or request.user.is_superuser else fields[1:]

    def save_model(self, request: HttpRequest, obj: Any, form: "ModelForm[Key]", change: bool) -> None:
        if not change and not request.user.is_superuser:
            obj.user = request.user
        super().save_model(request, obj, form, change)
