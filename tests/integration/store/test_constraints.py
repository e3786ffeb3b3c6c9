"""What the database itself refuses, whatever any code does: half-states, and two jobs where one may be."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from jobs.lifecycle import Status
from jobs.models import WITNESSES, Job, Pool, Queue, Worker
from tenants.models import TenantQueue
from tests.factories import TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db

SET = {"blocked_at": "now()", "due_at": "now()", "ready_at": "now()", "slot": "17", "end_time": "now()"}


def update(job: Job, change: str) -> None:
    with transaction.atomic():
        sql(f"UPDATE jobs SET {change} WHERE id = %s", [job.pk])


def refused(constraint: str):
    return pytest.raises(IntegrityError, match=f'"{constraint}"')


def witness(status: Status) -> str:
    return next(column for column, statuses in WITNESSES.items() if status in statuses)


@pytest.mark.parametrize("status", Status)
class TestHalfStates:
    def test_a_job_may_be_in_any_status_with_its_witness(self, status, tenant):
        assert make_job(tenant, status).status == status

    def test_a_status_without_its_witness_is_refused(self, status, tenant):
        job = make_job(tenant, status)
        with refused("jobs_whole"):
            update(job, f"{witness(status)} = NULL")

    def test_a_status_with_the_witness_of_another_is_refused(self, status, tenant):
        job = make_job(tenant, status)
        own = witness(status)
        update(job, f"{own} = {SET[own]}")
        for column in WITNESSES.keys() - {own}:
            with refused("jobs_whole"):
                update(job, f"{column} = {SET[column]}")
            with refused("jobs_whole"):
                update(job, f"{own} = NULL, {column} = {SET[column]}")

    def test_a_status_does_not_change_alone_to_one_with_another_witness(self, status, tenant):
        job = make_job(tenant, status, attempt=1, worker=uuid.uuid4(), start_time="2030-01-01T00:00Z")
        changes = {o: f"status = '{o}', died_at = {'now()' if o == Status.DEAD else 'NULL'}" for o in Status}
        for other in (other for other in Status if witness(other) != witness(status)):
            with refused("jobs_whole"):
                update(job, changes[other])
        for other in (other for other in Status if witness(other) == witness(status)):
            update(job, changes[other])


@pytest.mark.parametrize("status", Status)
def test_a_job_has_a_moment_of_death_if_and_only_if_it_is_dead(status, tenant):
    job = make_job(tenant, status)
    with refused("jobs_whole"):
        update(job, "died_at = NULL" if status == Status.DEAD else "died_at = now()")


@pytest.mark.parametrize("status", Status)
def test_an_unknown_status_is_refused_whatever_the_witness(status, tenant):
    job = make_job(tenant, status)
    with refused("jobs_whole"):
        update(job, "status = 'asleep', died_at = NULL")


@pytest.mark.parametrize("column", ["worker", "start_time"])
def test_a_running_job_without_worker_or_start_is_refused(column, tenant):
    job = make_job(tenant, Status.RUNNING)
    with refused("jobs_whole"):
        update(job, f"{column} = NULL")


def test_a_queued_job_needs_no_worker_yet(tenant):
    update(make_job(tenant, Status.QUEUED), "worker = NULL, start_time = NULL")


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_slot_without_a_counted_attempt_is_refused(status, tenant):
    job = make_job(tenant, status)
    with refused("jobs_whole"):
        update(job, "attempt = 0")


class TestSlots:
    def test_two_jobs_in_one_slot_of_a_tenant_are_refused(self, tenant):
        make_job(tenant, Status.RUNNING, slot=1)
        job = make_job(tenant, Status.QUEUED, slot=2)
        with refused("jobs_one_job_per_slot"):
            update(job, "slot = 1")

    def test_two_tenants_have_a_first_slot_each(self, tenant):
        make_job(tenant, Status.RUNNING, slot=1)
        make_job(TenantFactory(), Status.RUNNING, slot=1)

    @pytest.mark.parametrize("slot", [0, -1])
    def test_slots_count_from_one(self, slot, tenant):
        job = make_job(tenant, Status.QUEUED)
        with refused("jobs_whole"):
            update(job, f"slot = {slot}")

    def test_a_slot_without_the_ticket_of_its_claim_is_refused(self, tenant):
        with refused("jobs_whole"):
            update(make_job(tenant, Status.QUEUED), "ticket = NULL")


class TestIdentical:
    def test_two_unfinished_jobs_with_one_key_are_refused(self, tenant):
        key = uuid.uuid4()
        make_job(tenant, Status.RUNNING, dedup_key=key)
        with refused("jobs_one_identical"), transaction.atomic():
            make_job(tenant, Status.SCHEDULED, dedup_key=key)

    def test_a_finished_one_is_no_obstacle(self, tenant):
        key = uuid.uuid4()
        make_job(tenant, Status.SUCCESS, dedup_key=key)
        make_job(tenant, Status.DEAD, dedup_key=key)
        make_job(tenant, dedup_key=key)

    def test_an_identical_job_of_another_tenant_is_not_refused(self, tenant):
        key = uuid.uuid4()
        make_job(tenant, dedup_key=key)
        make_job(TenantFactory(), dedup_key=key)

    def test_jobs_without_a_key_are_never_identical(self, tenant):
        make_job(tenant, dedup_key=None)
        make_job(tenant, dedup_key=None)


@pytest.mark.parametrize("priority", [-1, 11])
def test_a_priority_beyond_first_and_last_is_refused(priority, tenant):
    job = make_job(tenant)
    with refused("jobs_whole"):
        update(job, f"priority = {priority}")


COUNTED = ["attempt", "crashes", "retries", "max_retries", "memory", "worker_pid", "result_bytes"]


@pytest.mark.parametrize("column", COUNTED)
def test_a_number_below_nothing_is_refused(column, tenant):
    job = make_job(tenant)
    update(job, f"{column} = 0")
    with refused("jobs_whole"):
        update(job, f"{column} = -1")


def test_only_a_light_pool_has_threads_or_more_than_one_seat_in_each_process():
    Pool.objects.create(name="default")
    assert Pool.objects.values_list("name", "kind", "seats").get() == ("default", "ordinary", 1)
    Pool.objects.update(kind="light", seats=1000)
    for columns in (
        {"kind": "ordinary", "seats": 2},
        {"kind": "ordinary", "seats": 1, "threads": True},
        {"kind": "light", "seats": 1001},
        {"kind": "light", "seats": 0},
    ):
        with refused("pools_have_their_seats"), transaction.atomic():
            Pool.objects.update(**columns)


def test_a_worker_of_an_older_release_which_tells_no_seats_has_one_in_each_process():
    sql(
        "INSERT INTO workers (id, name, pid, pool, concurrency) VALUES (%s, 'old', 1, 'default', 4)",
        [uuid.uuid4()],
    )
    assert Worker.objects.values_list("concurrency", "seats").get() == (4, 1)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Queue, {"weight": 0}),
        (Queue, {"default_timeout": 0}),
        (Queue, {"name": "default"}),
        (Queue, {"rate_limit": 5}),
        (Queue, {"rate_window": 5}),
        (Queue, {"rate_limit": 0, "rate_window": 5}),
        (Queue, {"rate_limit": 5, "rate_window": 0}),
        (TenantQueue, {"rate_limit": 5}),
        (TenantQueue, {"rate_window": 5}),
        (TenantQueue, {"weight": 0}),
        (TenantQueue, {"num_slots": 10_001}),
        (TenantQueue, {"num_slots": -1}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value),
)
def test_a_limit_that_makes_no_sense_is_refused(model, change, tenant):
    Queue.objects.get_or_create(name="default")
    made = Queue.objects.create(name="other") if model is Queue else tenant.jobs_queue
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.filter(pk=made.pk).update(**change)


def test_a_queue_with_jobs_is_not_deleted(tenant):
    job = make_job(tenant)
    with pytest.raises(IntegrityError):
        job.queue.delete()
