"""Submit: inside the caller's transaction, any number in one statement, a dispatch when it commits."""

from contextlib import nullcontext

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from jobs.calls.refusals import InvalidRequest
from jobs.engine.submitting.submit import submit, submit_all
from jobs.models import Job
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dispatches(monkeypatch) -> list[int]:
    """One entry for each dispatch: how many jobs were stored by then."""
    seen: list[int] = []
    monkeypatch.setattr("jobs.engine.door.dispatch.dispatch", lambda: bool(seen.append(Job.objects.count())) or 1)
    return seen


class TestTheCallersTransaction:
    def test_a_rollback_leaves_no_job_and_dispatches_nothing(self, tenant, dispatches):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            submit(request_for(tenant))
            assert Job.objects.count() == 1
            raise ZeroDivisionError
        assert Job.objects.count() == 0
        assert dispatches == []

    def test_a_commit_dispatches_once_however_many_submits_there_were(self, tenant, dispatches):
        with transaction.atomic():
            for n in range(5):
                submit(request_for(tenant, n))
            submit_all([request_for(tenant, n) for n in range(5)])
            assert dispatches == []
        assert dispatches == [10]

    def test_each_transaction_has_its_dispatch(self, tenant, dispatches):
        for n in range(3):
            with transaction.atomic():
                submit(request_for(tenant, n))
        submit(request_for(tenant))
        assert dispatches == [1, 2, 3, 4]

    def test_after_a_transaction_that_was_rolled_back_the_next_one_is_dispatched(self, tenant, dispatches):
        with transaction.atomic():
            submit(request_for(tenant))
            transaction.set_rollback(True)
        with transaction.atomic():
            submit(request_for(tenant))
            submit(request_for(tenant))
        assert dispatches == [2]

    def test_a_savepoint_rolled_back_takes_its_own_jobs_with_it_and_no_more(self, tenant, dispatches):
        with transaction.atomic():
            before = submit(request_for(tenant)).id
            with pytest.raises(ZeroDivisionError), transaction.atomic():
                submit(request_for(tenant))
                raise ZeroDivisionError
            after = submit(request_for(tenant)).id
        assert sorted(Job.objects.values_list("pk", flat=True)) == [before, after]
        assert dispatches == [2]

    def test_a_savepoint_rolled_back_at_the_end_takes_no_dispatch_away_from_the_others(self, tenant, dispatches):
        with transaction.atomic():
            submit(request_for(tenant))
            with pytest.raises(ZeroDivisionError), transaction.atomic():
                submit(request_for(tenant))
                raise ZeroDivisionError
        assert dispatches == [1]

    def test_a_savepoint_rolled_back_alone_dispatches_nothing(self, tenant, dispatches):
        with transaction.atomic(), pytest.raises(ZeroDivisionError), transaction.atomic():
            submit(request_for(tenant))
            raise ZeroDivisionError
        assert dispatches == []

    @pytest.mark.parametrize("outer", [True, False], ids=["in a transaction", "alone"])
    def test_a_dispatch_that_fails_does_not_fail_the_submit(self, outer, tenant, monkeypatch):
        def fail() -> None:
            raise RuntimeError("the door is jammed")

        monkeypatch.setattr("jobs.engine.door.dispatch.dispatch", fail)
        with transaction.atomic() if outer else nullcontext():
            job = submit(request_for(tenant)).id
        assert Job.objects.get().pk == job


class TestTheLog:
    def test_a_job_leaves_its_line_when_it_is_committed_and_none_when_it_is_not(self, tenant, caplog):
        with transaction.atomic():
            submit(request_for(tenant))
            transaction.set_rollback(True)
        assert "submit" not in caplog.text
        job = submit(request_for(tenant)).id
        assert f"submit job={job} attempt=0" in caplog.text

    def test_many_leave_one(self, tenant, caplog):
        ids = [job.id for job in submit_all([request_for(tenant, n) for n in range(500)])]
        lines = [record.getMessage() for record in caplog.records if "submit" in record.getMessage()]
        assert lines == [f"submit jobs=500 first={ids[0]} last={ids[-1]} tenant={tenant.pk}"]


class TestOneStatement:
    def test_ten_thousand_jobs_are_stored_by_one_statement_and_their_ids_are_in_order(self, tenant):
        requests = [request_for(tenant, n) for n in range(10_000)]
        with CaptureQueriesContext(connection) as queries:
            ids = [submitted.id for submitted in submit_all(requests)]
        inserts = [query for query in queries if "INSERT" in query["sql"]]
        looks = [query for query in queries if query["sql"].startswith("-- worth")]  # whether a dispatch is worth while
        assert (len(inserts), len(queries) - len(looks)) == (1, 1)
        assert ids == sorted(set(ids))
        stored = dict(Job.objects.values_list("pk", "source_id"))
        assert [stored[job] for job in ids] == [str(n) for n in range(10_000)]

    def test_nothing_to_submit_asks_the_database_nothing(self, db, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert submit_all([]) == []

    def test_one_batch_may_hold_several_tenants_queues_and_moments(self, tenant):
        QueueFactory(name="critical")
        other = TenantFactory()
        ids = [
            submitted.id
            for submitted in submit_all(
                [
                    request_for(tenant, queue="critical", priority=0, user_key="ann"),
                    request_for(other, delay=60, timeout=9.5, args={"a": [1, None]}),
                ]
            )
        ]
        first, second = (Job.objects.select_related("queue").get(pk=job) for job in ids)
        assert (first.tenant, first.queue.name, first.priority, first.user_key) == (tenant, "critical", 0, "ann")
        assert (first.status, first.ready_at) == ("created", first.created_at)
        assert (second.tenant, second.queue.name, second.timeout, second.args) == (
            other,
            "default",
            9.5,
            {"a": [1, None]},
        )
        assert (second.status, (second.due_at - second.created_at).total_seconds()) == ("scheduled", 60)

    def test_an_unknown_queue_in_a_batch_is_named_and_nothing_of_it_is_stored(self, tenant):
        with pytest.raises(InvalidRequest, match=r"^queue: 'slow' is unknown; known: default"):
            submit_all([request_for(tenant), request_for(tenant, queue="slow")])
        assert not Job.objects.exists()

    def test_a_batch_of_many_kinds_is_one_statement_too(self, tenant, django_assert_num_queries):
        QueueFactory(name="critical")
        kinds = [{"queue": queue, "priority": n} for queue in ("default", "critical") for n in range(10)]
        requests = [request_for(tenant, n, **kinds[n % 20]) for n in range(100)]
        with transaction.atomic(), django_assert_num_queries(1):
            submitted = submit_all(requests)
        stored = {job.pk: job for job in Job.objects.select_related("queue")}
        assert [{"queue": stored[one.id].queue.name, "priority": stored[one.id].priority} for one in submitted] == [
            kinds[n % 20] for n in range(100)
        ]

    def test_a_delay_of_nothing_is_no_delay(self, tenant):
        assert Job.objects.get(pk=submit(request_for(tenant, delay=0)).id).status == "created"
