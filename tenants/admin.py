"""The admin of members and keys. The pages of tenants and slots are in `jobs`, which knows the slots in use."""

from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.http import HttpRequest

from plumbing.admin_style import ModelAdmin, Searched, TabularInline, Untitled
from tenants import key_admin  # noqa: F401 - registers itself
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.models import ApiKey, Member
from tenants.tenant_model import get_tenant_model

get_tenant_model()  # here, since its error names the setting if there is no such model; that of a form would not


class MembersInline(Untitled, Searched, TabularInline):
    model = Member
    searched = ("user",)
    extra = 0


class ApiKeysInline(TabularInline):
    """The keys of a tenant, read only: a key is issued on its own page, which shows its token."""

    model = ApiKey
    fields = readonly_fields = ["name", "prefix", "expires_at", "revoked_at", "last_used_at"]
    show_change_link = True
    can_delete = False
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Member)
class MemberAdmin(Searched, ModelAdmin):
    """The members of tenants: for projects whose page of a tenant lacks them, and to find the tenant of a user."""

    searched = ("user", "tenant")
    list_display = ["user", "tenant"]
    list_select_related = ["user", "tenant"]
    ordering = [f"tenant__{TENANT_NAME}", "pk"]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return [f"user__{get_user_model().USERNAME_FIELD}", f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]
