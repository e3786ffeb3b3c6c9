"""The report pages: the owner's members see their reports and runs, strangers a 404, and nobody the URL."""

import pytest
from django.test import Client
from django.urls import reverse

from reports.models import DataSource
from tests.callers import browser_of
from tests.factories import MemberFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db

SECRET = "postgresql://reader:s3cret@db.example/sales"


@pytest.fixture
def foreign_mate(foreign_report) -> Client:
    """Logged in as a member of the stranger."""
    return browser_of(MemberFactory(tenant=foreign_report.tenant).user)


def page_of(report) -> str:
    return reverse("reports:detail", args=[report.pk])


def test_without_login_there_is_only_the_login_page(report):
    for url in (reverse("reports:list"), page_of(report)):
        response = Client().get(url)
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("login"))


def test_a_login_without_a_tenant_is_told_so(report):
    client = browser_of(UserFactory())
    response = client.get(reverse("reports:list"))
    assert response.status_code == 403
    assert "belongs to no tenant" in response.content.decode()
    assert client.get(page_of(report)).status_code == 403


def test_the_list_shows_the_tenants_reports_and_no_others(mate, report, foreign_report):
    content = mate.get(reverse("reports:list")).content.decode()
    assert report.name in content
    assert foreign_report.name not in content
    assert "Not run yet" in content


def test_the_list_shows_the_latest_run(mate, tenant, report):
    make_job(tenant, "error", source_id=str(report.pk))
    make_job(tenant, "success", source_id=str(report.pk))
    content = mate.get(reverse("reports:list")).content.decode()
    assert "Done" in content
    assert "Failed" not in content


def test_a_stranger_gets_for_a_report_what_it_gets_for_none(foreign_mate, report):
    assert foreign_mate.get(page_of(report)).status_code == 404
    assert foreign_mate.get(reverse("reports:detail", args=[10**9])).status_code == 404


def test_the_page_picks_up_the_latest_run_or_the_one_named(mate, tenant, report):
    older = make_job(tenant, "success", source_id=str(report.pk))
    newer = make_job(tenant, "running", source_id=str(report.pk))
    assert mate.get(page_of(report)).context["run"].pk == newer.pk
    assert mate.get(page_of(report), {"job": older.pk}).context["run"].pk == older.pk


@pytest.mark.parametrize("wrong", ["", "x", "-1", "9" * 30, "²"])
def test_a_run_that_cannot_be_is_ignored(mate, report, wrong):
    response = mate.get(page_of(report), {"job": wrong})
    assert (response.status_code, response.context["run"]) == (200, None)


def test_the_run_of_another_report_or_tenant_is_not_picked_up(mate, tenant, report, make_report, foreign_report):
    for job in (
        make_job(tenant, "success", source_id=str(make_report(tenant).pk)),
        make_job(foreign_report.tenant, "success", source_id=str(report.pk)),
    ):
        assert mate.get(page_of(report), {"job": job.pk}).context["run"] is None


def test_the_form_shows_what_the_run_was_asked_in_the_declared_order(mate, tenant, make_report):
    parameters = [{"name": "state", "default": "CA", "choices": ["CA", "TX"]}, {"name": "rows", "default": 1000}]
    report = make_report(tenant, parameters=parameters, sql="SELECT %(state)s, %(rows)s")
    make_job(tenant, "success", source_id=str(report.pk), args={"parameters": {"state": "TX"}})
    content = mate.get(page_of(report)).content.decode()
    assert "<option selected>TX</option>" in content
    assert 'value="1000"' in content
    assert content.index('name="state"') < content.index('name="rows"')


def test_pages_need_nothing_from_outside(mate, report):
    for url in (reverse("reports:list"), page_of(report)):
        assert "//" not in mate.get(url).content.decode().replace("<!doctype", "")


def test_the_url_of_a_source_is_shown_nowhere(admin_client, mate, report):
    DataSource.objects.filter(pk=report.source_id).update(url=SECRET)
    urls = [
        page_of(report),
        reverse("admin:reports_datasource_changelist"),
        reverse("admin:reports_datasource_change", args=[report.source_id]),
        reverse("admin:reports_datareport_changelist"),
        reverse("admin:reports_datareport_change", args=[report.pk]),
    ]
    for client, url in [(mate, urls[0]), *((admin_client, url) for url in urls[1:])]:
        response = client.get(url)
        assert response.status_code == 200, url
        assert "s3cret" not in response.content.decode()


def test_an_empty_url_in_the_admin_keeps_the_one_that_is_stored(admin_client, report):
    url = reverse("admin:reports_datasource_change", args=[report.source_id])
    source = DataSource.objects.get(pk=report.source_id)
    stored = source.url
    assert admin_client.post(url, {"tenant": source.tenant_id, "name": "Renamed", "url": ""}).status_code == 302
    source.refresh_from_db()
    assert (source.name, source.url) == ("Renamed", stored)
    refused = admin_client.post(url, {"tenant": source.tenant_id, "name": "Renamed", "url": "mysql://x:s3cret@y/z"})
    assert refused.status_code == 200
    assert "not the URL of a PostgreSQL database" in refused.content.decode()
    assert "s3cret" not in refused.content.decode()
