"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.db import transaction
from django.http import HttpResponse
from django.urls import include, path, re_path, reverse_lazy

from jobs.api import api
from jobs.http.problems import no_such_address
from scheduler_project import user_admin  # noqa: F401 - it imports all pages of the admin
from scheduler_project.home import Login, login_of_admin
from scheduler_project.second_factor import second_factor

PASSWORD = {"template_name": "registration/password.html", "success_url": reverse_lazy("reports:list")}

# A new password with its entry in the audit log: Django's pages have no transaction.
new_password = transaction.atomic(auth_views.PasswordChangeView.as_view(**PASSWORD))
new_password_of_admin = transaction.atomic(admin.site.admin_view(admin.site.password_change, cacheable=True))

urlpatterns = [
    path("admin/login/", login_of_admin),
    path("admin/password_change/", new_password_of_admin),
    path("admin/", admin.site.urls),
    path("ops/", include("jobs.console.ops.urls")),
    path("jobs/", include("jobs.portal.members.urls")),
    path("api/v1/", api.urls),
    re_path("^api(?:/|$)", no_such_address),
    path("accounts/login/", Login.as_view(), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("accounts/second-factor/", second_factor, name="second_factor"),
    path("accounts/password/", new_password, name="password_change"),
    path("favicon.ico", lambda request: HttpResponse(status=204)),  # requested unless a page names another icon
    path("", include("reports.urls")),
]

handler400 = "scheduler_project.errors.bad_request"
handler403 = "scheduler_project.errors.forbidden"
handler404 = "scheduler_project.errors.not_found"
handler500 = "scheduler_project.errors.failed"
