"""A report's newest result is mailed by a job that only waits; ten tenants do so in the demo."""

import pytest
from asgiref.sync import async_to_sync
from django.core import mail

from jobs.contrib.testing import run
from jobs.models import Job, Pool, Queue
from reports.demo import customer_database, seeding
from reports.demo.mailing import seed_mails
from reports.models import DataReport, DataSource
from tenants.models import Tenant
from tests.factories import QueueFactory, TenantFactory, database_url

pytestmark = pytest.mark.django_db(transaction=True)


def squares(tenant: Tenant, to: int) -> DataReport:
    source = DataSource.objects.create(tenant=tenant, name="Numbers", url=database_url())
    sql = f"SELECT n, n * n AS square FROM generate_series(1, {to}) AS n"
    return DataReport.objects.create(tenant=tenant, source=source, name="Squares", question="How large?", sql=sql)


@pytest.fixture
def report(tenant) -> DataReport:
    return squares(tenant, to=7)


def mailed(report: DataReport) -> tuple[int, str]:
    """How many rows were told of, and the text of the mail."""
    rows = async_to_sync(report.mail)(to="reader@acme.example")
    message = mail.outbox[-1]
    assert (message.subject, message.to) == ("Squares", ["reader@acme.example"])
    return rows, message.body


def test_the_newest_result_is_told_and_never_a_strangers(report):
    theirs = squares(TenantFactory(), to=1)
    run(report.async_.execute)
    run(theirs.async_.execute)
    rows, text = mailed(report)
    assert rows == 7
    assert text.splitlines()[:5] == ["How large?", "", "7 rows. The first:", "n | square", "1 | 1"]
    assert text.splitlines()[-1] == "5 | 25"
    assert mailed(theirs)[0] == 1


def test_a_report_that_has_not_run_says_so(report):
    theirs = squares(TenantFactory(), to=1)
    run(theirs.async_.execute)
    assert mailed(report) == (0, "How large?\n\nIt has not run yet, or its result is no longer kept.")


def test_a_mail_goes_to_the_queue_of_the_light_pool(report):
    Pool.objects.create(name="mail", kind="light", seats=200)
    QueueFactory(name="mail", pool="mail")
    report.async_.mail(to="reader@acme.example")
    assert Job.objects.get().queue.pool == "mail"


@pytest.fixture
def seeded():
    """The demo with its mails; its databases are dropped after the test."""
    QueueFactory(name="reports")
    seeding.seed()
    yield seed_mails()
    for tenant_id in Tenant.objects.values_list("pk", flat=True):
        customer_database.remove(tenant_id)


def test_ten_tenants_mail_in_a_light_pool_and_once_however_often_the_demo_is_seeded(seeded):
    assert seeded == 200
    assert list(Pool.objects.values_list("name", "kind", "seats")) == [("mail", "light", 200)]
    assert Queue.objects.get(name="mail").pool == "mail"
    mails = Job.objects.filter(source_method="mail")
    assert mails.values("tenant").distinct().count() == 10
    assert seed_mails() == 0
    assert mails.count() == 200
