"""The audit log in the admin: for whoever may see it, and for nobody to change."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.console.admin.changes import ChangeAdmin
from jobs.models import Job
from tenants import audit
from tenants.models import Change
from tests.callers import browser_of, staff, superuser

pytestmark = pytest.mark.django_db
LIST = "/admin/tenants/change/"


@pytest.fixture
def change():
    with audit.acting("olga", "192.0.2.1"):
        audit.note("cancelled", Job, [(7, "<b>job 7</b>")], {"status": ["created", "cancelled"]}, tenant_id=3)
        audit.note("revived", Job, [(8, "job 8")], tenant_id=3)
    return Change.objects.get(subject_id="7")


def test_is_listed_and_filtered(change):
    reader = browser_of(staff("view_change"))
    page = reader.get(LIST).content.decode()
    assert "192.0.2.1" in page
    assert "&lt;b&gt;job 7" in page
    assert "<b>job 7" not in page
    for query, shown in (
        ("verb=revived", "job 8"),
        ("kind=jobs.job", "job 8"),
        ("q=olga", "job 8"),
        ("verb=erased", ""),
    ):
        page = reader.get(f"{LIST}?{query}").content.decode()
        assert ("job 8" in page) == bool(shown), query
    assert "cancelled" in reader.get(f"{LIST}{change.pk}/change/").content.decode()


def test_no_page_counts_or_sorts_the_whole_table(change):
    reader = browser_of(staff("view_change"))
    for query in ("", "?verb=revived", "?q=olga", "?o=6", "?all="):
        with CaptureQueriesContext(connection) as queries:
            assert reader.get(LIST + query).status_code == 200
        *bounds, rows = [one["sql"] for one in queries if 'FROM "changes"' in one["sql"]]
        assert len(bounds) == ("?q" in query or "verb" in query)  # the oldest row that a filter looks at
        for sql in (*bounds, rows):
            assert "COUNT(" not in sql
            assert re.search(r'ORDER BY ("changes"."id"|1) DESC LIMIT', sql), sql


def test_a_filter_says_how_far_it_looked(change, monkeypatch):
    monkeypatch.setattr(ChangeAdmin, "newest_looked_at", 1)
    reader, newest = browser_of(staff("view_change")), Change.objects.latest("pk")
    page = reader.get(f"{LIST}?kind=jobs.job")
    assert [row.pk for row in page.context["cl"].result_list] == [newest.pk]
    assert f"Searched the newest 1, down to number {newest.pk}" in page.content.decode()
    assert [row.pk for row in reader.get(f"{LIST}?q=7").context["cl"].result_list] == [change.pk], "a number"
    assert "Searched" not in reader.get(LIST).content.decode()


def test_no_user_changes_an_entry(change):
    master = browser_of(superuser())
    assert master.get(f"{LIST}add/").status_code == 403
    assert master.post(f"{LIST}{change.pk}/delete/", {"post": "yes"}).status_code == 403
    assert master.post(f"{LIST}{change.pk}/change/", {"who": "anna"}).status_code == 403
    assert Change.objects.get(pk=change.pk).who == "olga"


def test_without_the_permission_it_is_not_there(change):
    assert browser_of(staff("view_tenant")).get(LIST).status_code == 403


def test_a_change_in_the_admin_has_its_address(tenant):
    master = browser_of(superuser(username="olga"))
    master.post("/admin/tenants/apikey/add/", {"tenant": tenant.pk, "name": "nightly"}, REMOTE_ADDR="192.0.2.9")
    added = Change.objects.get(kind="tenants.apikey")
    assert (added.who, added.address, added.tenant_id, added.actor_tenant_id) == ("olga", "192.0.2.9", tenant.pk, None)
