"""Links to pages that a project may not have."""

import pytest
from django.contrib.admin import AdminSite
from django.urls import path

from plumbing import addresses

site = AdminSite(name="backoffice")
urlpatterns = [path("backoffice/", site.urls)]


def test_an_admin_of_another_name_is_linked_as_far_as_it_has_our_pages(settings):
    settings.ROOT_URLCONF = __name__
    assert addresses.in_admin("index") == "/backoffice/"
    assert addresses.in_admin("jobs_queue_add") == ""
    assert addresses.logout() == "/backoffice/logout/"


@pytest.mark.parametrize(("page", "address"), [("index", "/admin/"), ("jobs_queue_add", "/admin/jobs/queue/add/")])
def test_the_default_admin_is_linked(page, address):
    assert addresses.in_admin(page) == address


def test_the_projects_own_logout_comes_first():
    assert addresses.logout() == "/accounts/logout/"
