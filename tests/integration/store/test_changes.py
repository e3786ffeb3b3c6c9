"""What a replay needs is written down when it changes, whoever changes it: limits, processes, who left the line."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.engine.verbs.erase import erase
from jobs.lifecycle import Status
from jobs.models import EXPIRED, Job, LeftLine, LimitChange, PausedJobType, Pool, PoolChange, Queue, Worker
from jobs.recording import record, statements
from jobs.store import EVERY_TENANT
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.verbs import REASONS, VERBS

pytestmark = pytest.mark.django_db


def said(kind: str, subject: int) -> list[dict | None]:
    return list(LimitChange.objects.filter(kind=kind, subject=subject).order_by("id").values_list("limits", flat=True))


class TestLimits:
    def test_every_change_of_a_tenants_limits_is_noted_and_no_other(self):
        tenant = TenantFactory(queue__num_slots=3)
        row = TenantQueue.objects.filter(tenant=tenant)
        row.update(max_waiting=7, history_days=3)
        row.update(weight=2)
        row.update(weight=2)
        row.delete()
        first, second, gone = said("tenant", tenant.pk)
        assert (first["num_slots"], first["weight"], first["paused"]) == (3, 1, False)
        assert second == first | {"weight": 2}
        assert gone is None

    def test_a_change_of_a_queue_is_noted(self):
        queue = QueueFactory(name="reports")
        Queue.objects.filter(pk=queue.pk).update(default_timeout=3.0)
        Queue.objects.filter(pk=queue.pk).update(pool="other", concurrency=4)
        Queue.objects.filter(pk=queue.pk).update(name="exports", tenant_slots=2)
        found = [(one["pool"], one["concurrency"], one["name"], one["tenant_slots"]) for one in said("queue", queue.pk)]
        assert found == [("default", None, "reports", None), ("other", 4, "reports", None), ("other", 4, "exports", 2)]

    def test_a_pause_and_a_resume_of_a_job_type_are_noted(self):
        paused = PausedJobType.objects.create(source_type="reports.report", source_method="run")
        pk = paused.pk
        paused.delete()
        assert said("job_type", pk) == [{"source_type": "reports.report", "source_method": "run"}, None]


class TestProcesses:
    def noted(self) -> list[tuple[str, int, int | None, int]]:
        statements.note_pools()
        rows = PoolChange.objects.order_by("at", "pool").values_list("pool", "processes", "seats", "leaving")
        return list(rows)

    def test_a_change_of_the_processes_is_noted(self, register):
        QueueFactory()
        register(concurrency=4)
        assert self.noted() == [("default", 4, None, 0)]
        register(concurrency=2)
        assert self.noted() == self.noted() == [("default", 4, None, 0), ("default", 6, None, 0)]

    def test_a_worker_that_drains_has_none_and_what_it_still_runs_is_told(self, register):
        worker, tenant = register(concurrency=4), TenantFactory()
        make_job(tenant, Status.RUNNING, worker=worker)
        self.noted()
        Worker.objects.update(concurrency=0)
        assert self.noted()[-1] == ("default", 0, None, 1)

    def test_the_seats_of_a_light_pool_are_noted_as_its_workers_have_them_and_without_workers_as_they_are_set(
        self, register
    ):
        QueueFactory(name="mail", pool="mail")
        Pool.objects.create(name="mail", kind="light", seats=50)
        assert self.noted()[-1] == ("mail", 0, 50, 0)
        register(pool="mail", kind="light", concurrency=80, seats=40)
        assert self.noted()[-1] == ("mail", 2, 40, 0)
        register(pool="mail", kind="light", concurrency=100, seats=50)
        assert self.noted()[-1] == ("mail", 4, 45, 0), "as many in all"


class TestLine:
    @pytest.mark.django_db(transaction=True)
    def test_a_job_that_leaves_the_line_without_a_slot_is_noted_once(self, register, subtests):
        register(concurrency=4)
        noted = set()
        for verb in VERBS:
            with subtests.test(verb):
                job = make_job(TenantFactory(), user_key="ada", ready_at=timezone.now() - timedelta(minutes=1))
                REASONS.get(verb, lambda job: None)(job)
                VERBS[verb](job, job.attempt)
                after = Job.objects.get(pk=job.pk)
                rows = list(LeftLine.objects.filter(job_id=job.pk))
                assert len(rows) == (after.ready_at is None and after.slot is None)
                for row in rows:
                    noted.add((verb, row.why.rstrip(" 0123456789")))
                    assert (row.ready_at, row.user_key, row.priority) == (job.ready_at, "ada", job.priority)
            Job.objects.all().delete()
            PausedJobType.objects.all().delete()
        held = {("hold", "scheduled"), ("hold by hold_spent", "scheduled")}
        assert noted == held | {("cancel", "cancelled"), ("lapse", EXPIRED), ("replace", "replaced by")}

    def test_erasing_a_tenant_takes_its_users_from_the_record_and_nobody_elses(self):
        ours, strangers = (make_job(TenantFactory(), user_key="ada") for _ in range(2))
        for job in (ours, strangers):
            store.cancel([job.pk], tenant_id=EVERY_TENANT)
        erase(ours.tenant_id)
        assert dict(LeftLine.objects.values_list("job_id", "user_key")) == {ours.pk: "", strangers.pk: "ada"}


def test_old_changes_are_forgotten_except_those_that_hold(register):
    now = timezone.now()
    tenant, gone = TenantFactory(queue__num_slots=1), TenantFactory()
    TenantQueue.objects.filter(tenant=tenant).update(num_slots=2)
    TenantQueue.objects.filter(tenant=gone).delete()
    job = make_job(tenant)
    store.cancel([job.pk], tenant_id=EVERY_TENANT)
    for n, processes in enumerate((1, 2)):
        PoolChange.objects.create(pool="default", at=now + timedelta(seconds=n), processes=processes, leaving=0)
    record.forget_old(now + record.log_kept() - timedelta(hours=1))
    assert (len(said("tenant", tenant.pk)), LeftLine.objects.count(), PoolChange.objects.count()) == (2, 1, 2)
    record.forget_old(now + record.log_kept() + timedelta(hours=1))
    assert [one["num_slots"] for one in said("tenant", tenant.pk)] == [2]
    assert said("tenant", gone.pk) == []
    assert not LeftLine.objects.exists()
    assert [one.processes for one in PoolChange.objects.all()] == [2]
