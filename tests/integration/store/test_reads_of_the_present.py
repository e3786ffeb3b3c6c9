"""Who lists queues, tenants or statistics reads as few jobs however many wait."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from jobs.models import Job, Queue
from jobs.reading import last_day
from tests.callers import browser_of, superuser
from tests.factories import TenantFactory
from tests.plans import fill
from tests.sql import value

pytestmark = pytest.mark.django_db(transaction=True)  # each fill arrives in a transaction of its own

READ = """
SELECT sum(pg_stat_get_xact_tuples_returned(oid))::int FROM pg_class
WHERE oid = %(jobs)s::regclass OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = %(jobs)s::regclass)
"""


def rows_read(look: Callable[[], object]) -> int:
    """The rows that left `jobs` or an index of it, which PostgreSQL counts for each transaction."""

    def so_far() -> int:
        return int(value(READ, {"jobs": Job._meta.db_table}))

    with transaction.atomic():
        before = so_far()
        look()
        return so_far() - before


def page(path: str) -> Callable[[], object]:
    def look() -> None:
        assert browser_of(superuser()).get(path).status_code == 200

    return look


LOOKS = {
    "queues list": lambda: call_command("queues", "list", stdout=StringIO()),
    "queues stats": lambda: call_command("queues", "stats", stdout=StringIO()),
    "tenants slots": lambda: call_command("tenants", "slots", stdout=StringIO()),
    "the day of all queues": lambda: last_day.of_queues(timezone.now()),
    "queues in the admin": page("/admin/jobs/queue/"),
    "slots in the admin": page("/admin/tenants/tenantqueue/"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_reads_as_few_jobs_at_ten_thousand_waiting_as_at_a_thousand(look):
    queue = Queue.objects.get_or_create(name="default")[0]
    owner, stranger = TenantFactory(), TenantFactory()
    fill(queue.pk, [owner.pk, stranger.pk], 500)
    few = rows_read(LOOKS[look])
    fill(queue.pk, [owner.pk, stranger.pk], 4500)
    assert rows_read(LOOKS[look]) == few < 100
