"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path

from jobs.api.api import api
from jobs.api.problems import no_such_address

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("api/<path:path>", no_such_address),
    path("accounts/login/", auth_views.LoginView.as_view(), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("", include("reports.urls")),
]
