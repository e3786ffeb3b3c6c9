"""Each customer's database is read by its own role alone; the demo's seed can be repeated."""

from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from reports import query
from reports.demo import customer_database, seeding
from reports.models import DataReport, DataSource
from reports.query import ReportFailed
from tenants.models import ApiKey, Member, Tenant
from tests.factories import TenantFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provide():
    """A customer's database, dropped after the test."""
    made = []

    def provide(tenant: Tenant, *datasets: str, known_url: str = "") -> str:
        made.append(tenant.pk)
        return customer_database.provide(tenant.pk, datasets, known_url)

    yield provide
    for tenant_id in made:
        customer_database.remove(tenant_id)


@pytest.fixture
def seeded():
    """The demo's customers; their databases are dropped after the test."""
    yield seeding.seed()
    for tenant_id in Tenant.objects.values_list("pk", flat=True):
        customer_database.remove(tenant_id)


def read(url: str, statement: str) -> list[list[object]]:
    return query.read(url, statement, {}, timeout=10, row_limit=10).rows


def test_the_owner_reads_its_data_and_a_stranger_does_not(provide):
    owner, stranger = provide(TenantFactory(), "weather"), provide(TenantFactory(), "stocks")
    assert read(owner, "SELECT count(*) FROM weather") == [[1461]]
    assert read(stranger, "SELECT count(*) FROM stocks") == [[560]]
    with pytest.raises(ReportFailed, match="does not exist"):
        read(stranger, "SELECT count(*) FROM weather")


def test_a_stranger_cannot_connect_to_the_owners_database(provide):
    owner, stranger = provide(TenantFactory(), "weather"), provide(TenantFactory())
    owners = psycopg.conninfo.conninfo_to_dict(owner)["dbname"]
    with pytest.raises(psycopg.OperationalError, match=r"permission denied for database|does not have CONNECT"):
        psycopg.connect(stranger, dbname=owners)


def test_the_role_reads_and_nothing_else(provide):
    with psycopg.connect(provide(TenantFactory(), "weather")) as customer:
        customer.read_only = False  # beneath the report's own guard there is the role's
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            customer.execute("DELETE FROM weather")
        customer.rollback()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            customer.execute("CREATE TABLE loot (n int)")


def test_the_role_cannot_read_the_schedulers_tables(provide):
    url = provide(TenantFactory())
    with (
        psycopg.connect(url, dbname=connection.settings_dict["NAME"]) as scheduler,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        scheduler.execute("SELECT url FROM data_sources")


def test_a_customers_name_is_in_no_catalogue(provide):
    tenant = TenantFactory(name="Acme", slug="acme")
    assert read(provide(tenant), "SELECT datname FROM pg_database WHERE datname LIKE '%%acme%%'") == []


def test_a_database_is_dropped_as_soon_as_the_last_session_of_its_customer_ends(elsewhere):
    tenant = TenantFactory()
    drops = f'DROP DATABASE IF EXISTS "{connection.settings_dict["NAME"]}_customer_{tenant.pk}"%'
    with psycopg.connect(customer_database.provide(tenant.pk, [])) as customer, connection.cursor() as onlooker:
        removing = elsewhere(customer_database.remove, tenant.pk)

        def waits() -> bool:
            onlooker.execute("SELECT FROM pg_stat_activity WHERE query LIKE %s AND state = 'active'", [drops])
            return removing.done() or onlooker.rowcount == 1

        wait_until(waits, "it waits for the session, or gave up")
        customer.close()
        removing.result(timeout=10)


def test_providing_again_keeps_the_data_and_the_password(provide):
    tenant = TenantFactory()
    first = provide(tenant, "weather")
    assert provide(tenant, "weather", known_url=first) == first
    assert read(first, "SELECT count(*) FROM weather") == [[1461]]


def test_the_demo_has_three_tenants_and_every_report_of_it_runs(seeded):
    slots = {tenant.name: tenant.jobs_queue.num_slots for tenant in Tenant.objects.select_related("jobs_queue")}
    assert sorted(slots.values()) == [1, 3, 5]
    reports = list(DataReport.objects.all())
    assert len(reports) >= 12
    for report in reports:
        report.full_clean()
        assert report.execute()["rows"], report.name


def test_seeding_again_changes_nothing_and_issues_no_new_keys(seeded):
    assert len(seeded.tokens) == 3
    before = {model: model.objects.count() for model in (Tenant, Member, ApiKey, DataSource, DataReport)}
    again = seeding.seed()
    assert again.tokens == {}
    assert {model: model.objects.count() for model in before} == before


def test_seeding_keeps_what_an_operator_changed(seeded):
    tenant = Tenant.objects.order_by("pk").first()
    tenant.jobs_queue.num_slots = 7
    tenant.jobs_queue.save()
    report = DataReport.objects.filter(tenant=tenant).first()
    report.question = "Mine?"
    report.save()
    seeding.seed()
    tenant.jobs_queue.refresh_from_db()
    report.refresh_from_db()
    assert (tenant.jobs_queue.num_slots, report.question) == (7, "Mine?")


def test_the_demo_is_refused_in_production(settings):
    settings.ENVIRONMENT = "production"
    for command in ("seed_demo", "demo"):
        with pytest.raises(CommandError, match="Not in production"):
            call_command(command, stdout=StringIO())
    assert not Tenant.objects.exists()
