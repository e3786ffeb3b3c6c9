"""What is between two tests that commit: the tables as `migrate` leaves them, however full they were."""

import pytest
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection

from jobs.models import Job
from tests import plans
from tests.factories import MemberFactory, QueueFactory, make_job
from tests.sql import value

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> dict[str, int]:
    """How many each table has."""
    tables = connection.introspection.django_table_names(only_existing=True)
    return {table: value(f"SELECT count(*) FROM {table}") for table in tables}


def flush() -> None:
    call_command("flush", verbosity=0, interactive=False, database="default")


@pytest.mark.parametrize("jobs", [1, 3000], ids=["few rows", "many rows"])
def test_every_table_is_as_after_migrate(jobs):
    flush()
    before = rows()
    tenant = MemberFactory().tenant
    make_job(tenant, "running", batch_id=1)
    plans.fill(QueueFactory(name="other").pk, [tenant.pk], jobs)
    assert Job.objects.count() == jobs + 1
    flush()
    assert rows() == before
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
    assert rows() == before
    assert before["queues"] == 2
    assert before["tenants_tenant"] == before["jobs"] == 0
