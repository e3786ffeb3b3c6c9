from django.contrib import admin
from django.urls import path
from ninja import NinjaAPI

api = NinjaAPI(urls_namespace="api")


@api.get("users/")
def users(request) -> list[str]:
    from acme.users.models import User

    return [user.email for user in User.objects.all()]


urlpatterns = [path("admin/", admin.site.urls), path("api/", api.urls)]
