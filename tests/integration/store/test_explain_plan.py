"""I9 for explain: a look at one job costs the same whether a thousand jobs wait or a hundred thousand."""

import pytest
from django.db import transaction

from jobs.models import ERASED, Job
from jobs.reading.explain.reads import MAX_COUNTED_PLACE, NAMES, PLANNER, PROBES
from jobs.sql import statement
from tests.factories import QueueFactory, TenantFactory
from tests.plans import buffers, fill, indexes_of_jobs
from tests.sql import sql, value

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long("a plan of `explain` that grows with the jobs")]

FEW, MANY = 5_000, 100_000
INDEXES = {
    "explain": {"jobs_pkey", "jobs_of_tenant"},  # either finds it by its id
    # The users' index reads as little, and is taken where the last ANALYZE found no job that waited.
    "explain_line": {"jobs_pkey", "jobs_claim", "jobs_claim_by_user"},
    "places": {"jobs_pkey", "jobs_of_tenant", "jobs_claim", "jobs_claim_by_user"},
}


def plan_of(name: str, job_id: int, tenant_id: int) -> dict:
    parameters = {"id": job_id, "ids": [job_id], "tenant_id": tenant_id, "erased": ERASED}
    parameters |= {"now": None, "default_timeout": 1.0, "overtime": 1.0}
    parameters |= {"most": MAX_COUNTED_PLACE, "probes": PROBES, "names": NAMES}
    with transaction.atomic():
        sql(PLANNER)
        return value("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement(name), parameters)[0]["Plan"]


@pytest.mark.parametrize("name", INDEXES)
def test_an_explanation_reads_the_same_at_a_hundred_thousand_waiting_jobs(name):
    tenant, queue = TenantFactory(queue__num_slots=1), QueueFactory().pk
    fill(queue, [TenantFactory().pk for _ in range(20)], 10)
    fill(queue, [tenant.pk], FEW)
    plan_of(name, 1, tenant.pk)  # reads the catalogues into this connection's caches
    few = plan_of(name, Job.objects.latest("id").pk, tenant.pk)
    fill(queue, [tenant.pk], MANY - FEW)
    unanalyzed = plan_of(name, Job.objects.latest("id").pk, tenant.pk)
    sql("ANALYZE jobs")
    many = plan_of(name, Job.objects.latest("id").pk, tenant.pk)
    for plan in (few, unanalyzed, many):
        assert plan["Actual Rows"] == 1
        assert indexes_of_jobs(plan) <= INDEXES[name]
    assert max(buffers(unanalyzed), buffers(many)) <= 2 * buffers(few), [buffers(p) for p in (few, unanalyzed, many)]
