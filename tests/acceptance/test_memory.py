"""What a job type remembers, with real Celery workers."""

import pytest

from jobs.models import JobMemory
from jobs.store import results
from tests.acceptance.following import ended
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run

pytestmark = pytest.mark.django_db(transaction=True)
RUNS = 12


def test_a_job_type_counts_its_runs_in_two_processes_and_none_is_lost(start_worker):
    start_worker(concurrency=2)
    things = [ThingFactory(tenant=TenantFactory(queue__num_slots=2)) for _ in range(2)]
    ids = [[thing.async_.count_runs() for _ in range(RUNS)] for thing in things]
    counted = [sorted(results.load(ended(job_id)).value for job_id in of_one) for of_one in ids]
    assert counted == [list(range(1, RUNS + 1))] * 2
    kept = JobMemory.objects.values_list("tenant", "source_method", "source_id", "content")
    assert set(map(str, kept)) == {str((thing.tenant_id, "count_runs", "", {"runs": RUNS})) for thing in things}
    assert Run.objects.count() == 2 * RUNS
