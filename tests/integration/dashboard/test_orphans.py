"""A submit that races the deletion of its tenant or queue leaves a job for a minute: it breaks no page and no duty."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from jobs.engine.door import repairs
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import promote
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.history import Archive
from jobs.lifecycle import Status
from jobs.models import Job, JobMemory, KeptAnswer, Schedule
from jobs.reading.explain.explanation import explain
from jobs.recording import inspection, may_run, sample
from jobs.store import EVERY_TENANT
from plumbing.names import named
from tests.callers import program_of, superuser
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db
PAGES = (
    *("", "tenants/", "queues/", "jobs/", "dead/", "workers/", "schedules/", "health/"),
    *("batches/", "usage/", "webhooks/"),
)
MODELS = ("schedule", "jobmemory")


@pytest.fixture(params=["tenants_tenant", "queues"])
def orphans(request) -> list[Job]:
    """A job in each status, whose tenant or queue is gone, among others."""
    tenant, queue = TenantFactory(queue__num_slots=50), QueueFactory(name="emails")
    found = [make_job(tenant, status, queue=queue) for status in Status]
    for status in Status:
        make_job(TenantFactory(), status)
    call = {"source_type": "sample.thing", "source_method": "echo"}
    Schedule.objects.create(tenant=tenant, name="x", every=60.0, **call)
    JobMemory.objects.create(tenant=tenant, **call)
    KeptAnswer.objects.create(tenant=tenant, key="x", digest="x")
    gone = queue.pk if request.param == "queues" else tenant.pk
    if request.param == "tenants_tenant":
        sql(f"DELETE FROM {named('tenant_queues')} WHERE tenant_id = %s", [gone])
    sql(f"DELETE FROM {request.param} WHERE id = %s", [gone])
    return found


def test_the_pages(orphans, admin_client):
    lists = [reverse(f"admin:{named('jobs')}_{model}_changelist") for model in MODELS]
    for address in (*(f"/ops/{path}" for path in PAGES), *lists):
        assert admin_client.get(address).status_code == 200, address
    for orphan in orphans:
        assert admin_client.get(f"/ops/jobs/{orphan.pk}/").status_code in (200, 404), orphan.status


def test_the_commands(orphans):
    for words in ("jobs list", "jobs list --status dead", "schedules list", "queues list"):
        call_command(*words.split())
    for orphan in orphans:
        with pytest.raises(CommandError, match="there is no job"):
            call_command("jobs", "show", str(orphan.pk))


def test_the_operators_api(orphans):
    operator = program_of(superuser())
    shown = {job["id"] for job in operator.get("/api/v1/operator/jobs").json()["jobs"]}
    assert len(shown) == len(Status), "the others"
    assert shown.isdisjoint(orphan.pk for orphan in orphans)
    assert len(operator.get("/api/v1/operator/dead").json()["dead"]) == 1
    for orphan in orphans:
        assert operator.get(f"/api/v1/operator/jobs/{orphan.pk}").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_duties(orphans, register):
    register(concurrency=100)
    promote()
    dispatch(in_line=False)
    sample.record_sample()
    repairs.recount_waiting()
    recover.take_back_orphans()
    recover.hand_over_again()
    may_run.MayRun().look()
    inspection.Inspection().run()
    for orphan in orphans:
        explain(orphan.pk, tenant_id=EVERY_TENANT)
    statuses = dict(Job.objects.values_list("pk", "status"))
    assert [statuses[one.pk] for one in orphans] == [
        "created" if one.status == Status.SCHEDULED else one.status for one in orphans
    ], "none of them is claimed"


def test_the_archive(orphans, settings):
    settings.JOBS_ARCHIVE_AFTER = 0.0
    Archive().run()
    assert not Job.objects.filter(status=Status.SUCCESS).exists()
