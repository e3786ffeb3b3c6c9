"""Django's admin of users and groups, in the style of the other pages."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from scheduler_project import second_factor

admin.site.unregister(TOTPDevice)  # it shows secrets; an operator sets up their own
admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    actions = ["reset_second_factor"]

    @admin.action(description="Reset the second factor, as after the loss of a phone", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        names = [user.get_username() for user in users if second_factor.reset(user)]
        self.message_user(request, f"Was reset: {', '.join(names) or 'none, since nobody had one'}.")


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    pass
