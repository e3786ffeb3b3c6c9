"""Who calls, wherever a tenant's data is touched: its owner (a key), a team mate (a session), a stranger."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from jobs import job
from reports.models import DataReport, DataSource
from tenants.models import Tenant
from tests.callers import browser_of, caller_with_key
from tests.factories import MemberFactory, QueueFactory, TenantFactory
from tests.sample.models import Thing


@pytest.fixture
def tenant(db: None) -> Tenant:
    return TenantFactory(name="Owner & Co.")


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return caller_with_key(tenant)


@pytest.fixture
def mate(tenant: Tenant) -> Client:
    """Logged in as a member of the same tenant; `mate.user` is who."""
    return browser_of(MemberFactory(tenant=tenant).user)


@pytest.fixture
def stranger(db: None) -> Client:
    return caller_with_key(TenantFactory(name="Stranger Inc."))


@pytest.fixture
def make_report(db: None) -> Callable[..., DataReport]:
    """Makes a report of a tenant; its jobs are never run in these tests."""

    def make(tenant: Tenant, **fields: Any) -> DataReport:
        QueueFactory(name="reports")
        source, _ = DataSource.objects.get_or_create(
            tenant=tenant, name="Sales", defaults={"url": "postgresql://reader:secret@localhost/sales"}
        )
        number = DataReport.objects.count() + 1
        values = {"name": f"Report {number}", "question": "How many?", "sql": "SELECT 1 AS n"} | fields
        return DataReport.objects.create(tenant=tenant, source=source, **values)

    return make


@pytest.fixture
def report(tenant: Tenant, make_report: Callable[..., DataReport]) -> DataReport:
    return make_report(tenant)


@pytest.fixture
def foreign_report(stranger: Client, make_report: Callable[..., DataReport]) -> DataReport:
    """The stranger's."""
    return make_report(Tenant.objects.get(name="Stranger Inc."))


@pytest.fixture
def body(monkeypatch) -> Callable[..., None]:
    """Let Thing.echo be this function, marked as a job: `body(function, retry=...)`."""

    def body(function, **options) -> None:
        monkeypatch.setattr(Thing, "echo", job(**options)(function))

    return body
