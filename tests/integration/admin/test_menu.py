"""The menu of the admin: whatever there is, for who may see it."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import RequestFactory

from scheduler_project.admin_menu import navigation
from tests.factories import TenantFactory, UserFactory

pytestmark = pytest.mark.django_db


def menu_of(user):
    request = RequestFactory().get("/admin/")
    request.user = user
    return {section["title"]: [item["link"] for item in section["items"]] for section in navigation(request)}


def test_every_page_is_in_it_once(admin_user):
    links = [link for section in menu_of(admin_user).values() for link in section]
    assert len(links) == len(set(links)) == len(admin.site._registry) + 1
    assert links[0] == "/ops/"
    assert "/admin/jobs/schedule/" in menu_of(admin_user)["Work"]
    assert menu_of(admin_user)["Capacity"][1:] == ["/admin/jobs/queue/", "/admin/jobs/pool/"]


def test_a_user_with_one_permission_sees_one_page(client):
    user = UserFactory(is_staff=True)
    assert menu_of(user) == {}
    user.user_permissions.add(Permission.objects.get(codename="view_schedule"))
    user = type(user).objects.get(pk=user.pk)  # permissions are cached
    assert menu_of(user) == {"Work": ["/admin/jobs/schedule/"]}


def test_every_page_of_it_opens_and_none_lists_all_tenants_to_choose_from(admin_client, admin_user):
    for n in range(2):
        TenantFactory(name=f"One of 10,000: {n}", queue=None)
    for section in menu_of(admin_user).values():
        for link in section:
            page = admin_client.get(link)
            assert page.status_code == 200, link
            if link not in ("/ops/", "/admin/tenants/tenant/"):
                assert "One of 10,000" not in page.content.decode(), link
                assert "One of 10,000" not in admin_client.get(f"{link}add/").content.decode(), link
    assert re.search(r"<title>[^<]*Scheduler", admin_client.get("/admin/").content.decode())
    for _ in range(2):  # Ctrl-K; unfold caches what it has found
        assert "/admin/jobs/queue/" in admin_client.get("/admin/search/?extended=1&s=queue").content.decode()
