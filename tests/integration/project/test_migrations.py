"""A database of the release before is carried over: what waits is dispatched, and what is in use is counted."""

import pytest
from django.core.management import call_command
from django.db import connection

from jobs import store
from jobs.models import Job
from tests.factories import QueueFactory, TenantFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

BEFORE = """
INSERT INTO jobs (tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, status, slot,
                  ready_at, due_at, attempt, crashes, retries, progress_note, stats, last_error, worker, start_time)
SELECT %(tenant)s, (SELECT id FROM queues WHERE name = 'default'), 5, '', 'tests.thing', n::text, 'run', '{}',
       CASE n WHEN 1 THEN 'running' WHEN 2 THEN 'scheduled' ELSE 'created' END,
       CASE n WHEN 1 THEN 1 END, CASE WHEN n > 2 THEN now() END, CASE n WHEN 2 THEN now() + interval '1 hour' END,
       1, 0, 0, '', '{}', '', gen_random_uuid(), now()
FROM generate_series(1, 5) n
"""


@pytest.fixture
def tenant():
    """In the schema of before; whatever happens, the present one comes back."""
    tenant = TenantFactory(queue__num_slots=2)
    QueueFactory()
    call_command("migrate", "jobs", "0001", verbosity=0)
    yield tenant
    call_command("migrate", "jobs", verbosity=0)


def test_what_waits_goes_and_what_is_in_use_counts(tenant, register):
    with connection.cursor() as cursor:
        cursor.execute(BEFORE, {"tenant": tenant.pk})
    call_command("migrate", "jobs", verbosity=0)
    register(concurrency=10)
    assert len(store.claim()) == 1  # of two slots, one was in use
    statuses = Job.objects.filter(tenant=tenant).order_by("id").values_list("status", flat=True)
    assert list(statuses) == ["running", "scheduled", "queued", "created", "created"]
    assert not store.excesses()
