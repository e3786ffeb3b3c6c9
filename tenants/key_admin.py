"""The admin of keys to the API: those of tenants, and those of operators."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html

from plumbing.admin_style import Kept, OnlyChanged, Searched, display
from tenants import auth
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.models import ApiKey, Key, OperatorKey


class KeyAdmin(OnlyChanged, Kept):
    """The page of keys: it issues and revokes them."""

    owner: str
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        facts = ["prefix", "created_at", "last_used_at", "revoked_at"] if obj else []
        return [self.owner, "name", "expires_at", *facts]

    def get_readonly_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        return [self.owner, "prefix", "created_at", "last_used_at", "revoked_at"] if obj else []

    def save_model(self, request: HttpRequest, obj: Key, form: "ModelForm[Key]", change: bool) -> None:
        """Issue a new key and show its token once."""
        token = None if change else auth.mint(obj)
        super().save_model(request, obj, form, change)
        if token:
            text = "The key is <code>{}</code> Copy it now: it is not stored and cannot be shown again."
            self.message_user(request, format_html(text, token), messages.WARNING)

    @display(description="state", label={"good": "success", "expired": "warning", "revoked": "danger"})
    def state(self, key: Key) -> str:
        return key.state

    @admin.action(description="Revoke: refuse these keys from now on", permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[Key]) -> None:
        revoked = [key for key in keys if auth.revoke(key)]
        for key in revoked:
            self.log_change(request, key, "Revoked.")
        self.message_user(
            request, "Revoked 1 key." if len(revoked) == 1 else f"Revoked {len(revoked)} keys.", messages.SUCCESS
        )


@admin.register(ApiKey)
class ApiKeyAdmin(Searched, KeyAdmin):
    owner = "tenant"
    list_display = ["name", "tenant", "prefix", "state", "expires_at", "last_used_at"]
    list_select_related = ["tenant"]
    search_fields = ["name", "prefix", f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]


@admin.register(OperatorKey)
class OperatorKeyAdmin(KeyAdmin):
    """The page of operators' keys. A key acts as its user, so only superusers may issue keys for other users."""

    owner = "user"
    list_display = ["name", "user", "prefix", "state", "expires_at", "last_used_at"]
    list_filter = ["user"]
    list_select_related = ["user"]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return ["name", "prefix", f"user__{get_user_model().USERNAME_FIELD}"]

    def get_fields(self, request: HttpRequest, obj: Key | None = None) -> list[str]:
        fields = super().get_fields(request, obj)
        return fields if obj or _is_superuser(request) else fields[1:]

    def save_model(self, request: HttpRequest, obj: Any, form: "ModelForm[Key]", change: bool) -> None:
        if not change and not _is_superuser(request):
            obj.user = request.user
        super().save_model(request, obj, form, change)


def _is_superuser(request: HttpRequest) -> bool:
    """Return whether the user is a superuser. A project's own user model need not have `is_superuser`."""
    return getattr(request.user, "is_superuser", False)
