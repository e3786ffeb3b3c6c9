"""The backend of Django's tasks: what its peers' own tests ask of a backend, and what tenants need."""

import uuid
from datetime import datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from jobs.authoring.decorator import FUNCTIONS
from jobs.calls.registry import target_of
from jobs.contrib.django_tasks import interface, runner
from jobs.contrib.django_tasks.interface import InvalidTask, TaskResultDoesNotExist
from jobs.contrib.testing import drain, freeze_time
from jobs.models import Job
from tenants.models import Tenant
from tests import settings
from tests.factories import TenantFactory
from tests.integration.django_tasks.asking import BOTH, READY, SUCCESSFUL, backend
from tests.sample import later, tasks


class TestEnqueue:
    @BOTH
    def test_a_task_is_ready(self, task):
        result = task.enqueue(1, two=3)
        assert (result.status, result.is_finished, result.attempts, result.errors) == (READY, False, 0, [])
        assert (result.started_at, result.last_attempted_at, result.finished_at) == (None, None, None)
        assert result.enqueued_at is not None
        assert (result.task, result.args, result.kwargs, result.backend) == (task, [1], {"two": 3}, "default")
        with pytest.raises(ValueError, match="Task has not finished yet"):
            assert result.return_value

    @BOTH
    def test_a_task_runs(self, task):
        result = task.enqueue(1, two=3)
        drain()
        result.refresh()
        assert (result.status, result.is_finished, result.attempts) == (SUCCESSFUL, True, 1)
        assert result.enqueued_at <= result.started_at == result.last_attempted_at <= result.finished_at
        assert (result.args, result.kwargs, result.return_value) == ([1], {"two": 3}, None)
        assert uuid.UUID(*result.worker_ids)

    def test_an_async_task_is_a_coroutine_as_a_job(self):
        bodies = [target_of(runner.function_of(task)) for task in (later.noop_task, later.noop_task_async)]
        assert [body.is_async for body in bodies] == [False, True]

    def test_a_task_is_a_job_of_its_function(self, tenant):
        later.add.enqueue(1, b=3)
        job = Job.objects.get()
        assert (job.source_type, job.source_method, job.source_id) == ("tests.sample.later", "add", None)
        assert (job.tenant, job.args) == (tenant, {"args": [1], "kwargs": {"b": 3}})

    def test_each_call_is_a_task_of_its_own(self):
        assert later.add.enqueue(1).id != later.add.enqueue(1).id

    def test_async(self):
        result = async_to_sync(later.add.aenqueue)(1)
        drain()
        async_to_sync(result.arefresh)()
        assert result.return_value == 3
        assert async_to_sync(later.add.aget_result)(result.id) == result

    def test_called_plainly_it_is_a_function(self):
        assert later.add.call(1) == 3
        assert not Job.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_a_task_exists_if_the_transaction_commits(self):
        with transaction.atomic():
            rolled_back = later.add.enqueue(1)
            transaction.set_rollback(True)
        with pytest.raises(TaskResultDoesNotExist):
            rolled_back.refresh()

    def test_arguments_that_are_not_json_are_refused(self):
        with pytest.raises(TypeError, match="Unsupported type"):
            later.noop_task.enqueue(object())
        assert not Job.objects.exists()

    def test_a_task_is_announced(self):
        heard = []
        interface.task_enqueued.connect(lambda task_result, **_: heard.append(task_result.id), weak=False)
        try:
            assert [later.add.enqueue(1).id] == heard
        finally:
            interface.task_enqueued.receivers.pop()
            interface.task_enqueued.sender_receivers_cache.clear()


class TestOptions:
    def test_priority_and_queue(self):
        result = later.urgent.enqueue()
        job = Job.objects.get()
        assert (job.priority, job.queue.name) == (3, "critical")
        assert backend().get_result(result.id).task == later.urgent

    @pytest.mark.parametrize(
        ("priority", "jobs"), [(100, 0), (99, 0), (50, 3), (1, 5), (0, 5), (-1, 5), (-50, 8), (-100, 10)]
    )
    def test_a_higher_priority_is_a_lower_number(self, priority, jobs):
        task = later.add.using(priority=priority)
        result = task.enqueue(1)
        assert Job.objects.get().priority == jobs
        assert backend().get_result(result.id).task == task

    def test_a_higher_priority_runs_first(self):
        low, high = later.add.using(priority=-100).enqueue(1), later.add.using(priority=100).enqueue(2)
        assert [attempt.value for attempt in drain()] == [4, 3]
        assert low.id != high.id

    def test_a_deferred_task_waits_for_its_moment(self):
        with freeze_time() as time:
            task = later.add.using(run_after=timezone.now() + timedelta(hours=1))
            result = task.enqueue(1)
            time.move(3599)
            assert drain() == []
            assert backend().get_result(result.id).status == READY
            assert backend().get_result(result.id).task == task
            time.move(1)
            assert len(drain()) == 1

    def test_tasks_of_one_moment_are_due_then_and_run_in_the_order_of_their_submission(self):
        moment = timezone.now() + timedelta(hours=1)
        for a in range(4):
            later.add.using(run_after=moment).enqueue(a)
        assert {job.due_at for job in Job.objects.all()} == {moment}
        assert [attempt.value for attempt in drain(later=True)] == [2, 3, 4, 5]

    def test_a_moment_that_has_passed_is_now(self):
        later.add.using(run_after=timezone.now() - timedelta(hours=1)).enqueue(1)
        assert len(drain()) == 1

    def test_a_moment_needs_a_time_zone(self):
        with pytest.raises(InvalidTask, match="run_after must be an aware datetime"):
            later.add.using(run_after=datetime(2031, 1, 1))  # noqa: DTZ001

    def test_a_moment_too_far_is_refused(self):
        with pytest.raises(InvalidTask, match="at: must be within 366 days"):
            later.add.using(run_after=timezone.now() + timedelta(days=1000)).enqueue(1)

    def test_a_queue_that_the_setting_does_not_list_is_refused(self, use):
        task = later.noop_task.using(queue_name="unknown_queue")
        use(QUEUES=["queue-1"])
        with pytest.raises(InvalidTask, match="Queue 'unknown_queue' is not valid for backend"):
            task.enqueue()
        with pytest.raises(InvalidTask, match="Queue 'unknown_queue' is not valid for backend"):
            async_to_sync(task.aenqueue)()

    def test_a_queue_that_does_not_exist_is_refused(self):
        with pytest.raises(InvalidTask, match=r"queue: 'nowhere' is unknown; known: critical, default"):
            later.add.using(queue_name="nowhere").enqueue(1)

    def test_priorities_that_differ_by_twenty_stay_different(self):
        placed = {priority: runner.priority_of(later.add.using(priority=priority)) for priority in range(-100, 101)}
        assert (placed[100], placed[0], placed[-100]) == (0, 5, 10)
        assert all(placed[priority] > placed[priority + 20] for priority in range(-100, 81))

    @pytest.mark.parametrize("priority", [101, -101, 3.1])
    def test_a_priority_out_of_range_is_refused(self, priority):
        with pytest.raises(InvalidTask, match="priority must be a whole number between -100 and 100"):
            later.add.using(priority=priority)

    def test_a_function_inside_another_is_refused(self):
        def within() -> None: ...

        with pytest.raises(InvalidTask, match="must be defined at a module level"):
            later.task(within)

    def test_a_job_is_not_a_task_as_well(self):
        assert ("tests.sample.tasks", "greet") in FUNCTIONS
        with pytest.raises(InvalidTask, match=r"tests\.sample\.tasks\.greet is marked @job"):
            later.task(tasks.greet)


class TestTenants:
    def test_a_function_says_whose_it_is(self, tenant):
        result = later.urgent.enqueue()
        drain()
        result.refresh()
        assert result.return_value == str(tenant)

    def test_an_argument_says_whose_it_is(self, use):
        use(OPTIONS={"tenant_argument": "of"})
        stranger = TenantFactory()
        later.noop_task.enqueue(of=stranger.pk)
        assert Job.objects.get().tenant == stranger
        with pytest.raises(InvalidTask, match="of: there is no tenant 0"):
            later.noop_task.enqueue(of=0)

    def test_the_argument_is_asked_if_the_function_knows_none(self, use, tenant):
        use(OPTIONS=settings.OPTIONS | {"tenant_argument": "of"})
        stranger = TenantFactory()
        later.noop_task.enqueue(of=stranger.pk)
        assert Job.objects.get().tenant == tenant
        Tenant.objects.filter(pk=tenant.pk).update(slug="unknown")
        later.noop_task.enqueue(of=stranger.pk)
        assert Job.objects.latest("id").tenant == stranger

    def test_a_task_of_a_running_job_belongs_to_its_tenant(self, use, tenant):
        later.enqueue_another.enqueue()
        use(OPTIONS={})
        drain()
        assert {job.tenant for job in Job.objects.all()} == {tenant}
        assert Job.objects.count() == 2

    @pytest.mark.parametrize("options", [{}, {"tenant_argument": "of"}])
    def test_without_a_tenant_it_is_refused(self, use, options):
        use(OPTIONS=options)
        with pytest.raises(InvalidTask, match=r"tests\.sample\.later\.noop_task has no tenant: see OPTIONS"):
            later.noop_task.enqueue()

    def test_its_tenants_limits_hold(self, tenant):
        tenant.jobs_queue.num_slots = 0
        tenant.jobs_queue.save()
        later.add.enqueue(1)
        assert drain() == []


class TestCheck:
    def test_a_good_setting(self):
        assert backend().check() == []

    def test_a_bad_one(self, use):
        use(OPTIONS={"tenant": "no.where", "tenants": 1})
        assert [error.msg for error in backend().check()] == [
            "TASKS['default']: unknown option 'tenants'; known: tenant, tenant_argument",
            "TASKS['default']: OPTIONS[\"tenant\"] cannot be imported: No module named 'no'",
        ]
