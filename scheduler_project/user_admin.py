"""Django's admin of users and groups, in the style of the other pages.

Only superusers may change operators, groups and rights. Any other user who could would get all rights, or could set the
password of a user who has them. The permission to change users covers only the other users, the members of tenants.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from plumbing.admin_style import AsShown, OnlyChanged
from scheduler_project import second_factor

RIGHTS = ("is_staff", "is_superuser", "groups", "user_permissions")

admin.autodiscover()  # admin_app.py leaves it to us
admin.site.unregister(TOTPDevice)  # its page shows secrets; operators set up their own devices
admin.site.unregister(User)
admin.site.unregister(Group)


class UserForm(AsShown, UserChangeForm):
    """A form that saves only changed fields. So a user who was deactivated meanwhile does not become active again."""


@admin.register(User)
class UserAdmin(OnlyChanged, DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = UserForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions = ["reset_second_factor"]

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if _is_superuser(request) else fields + RIGHTS

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _may_touch(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _may_touch(request, obj) and super().has_delete_permission(request, obj)

    @transaction.atomic  # with its entry in the audit log
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        return super().user_change_password(request, id, form_url)

    @admin.action(description="Reset the second factor, as after the loss of a phone", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        if not all(_may_touch(request, user) for user in users):
            raise PermissionDenied
        names = [user.get_username() for user in users if second_factor.reset(user)]
        self.message_user(request, f"Was reset: {', '.join(names) or 'none, since no selected user had one'}.")


@admin.register(Group)
class GroupAdmin(OnlyChanged, DjangoGroupAdmin, ModelAdmin):
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_superuser(request)

    has_change_permission = has_delete_permission = has_add_permission


def _is_superuser(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_superuser


def _may_touch(request: HttpRequest, user: User | None) -> bool:
    return user is None or _is_superuser(request) or not (user.is_staff or user.is_superuser)
