"""The verdict finds each fault that it is there to find, and none where none is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from jobs.lifecycle import Status
from jobs.models import (
    Batch,
    BatchTally,
    FailedAttempt,
    Job,
    JobEnd,
    LimitChange,
    Queue,
    Schedule,
    ScheduleRun,
    TenantHour,
    Worker,
)
from tenants.models import TenantQueue
from tests.chaos.verdict import judge
from tests.concurrency.audit import VIOLATIONS
from tests.factories import TenantFactory, make_job
from tests.integration.engine.test_record import attempt
from tests.sample.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Job:
    """A success, in its second attempt."""
    return make_job(TenantFactory(), Status.SUCCESS, attempt=2, stats={"number": 0, "attempt": 2})


@pytest.fixture
def evidence(job, tmp_path):
    """What its bodies wrote."""
    path = tmp_path / "evidence"
    path.write_text(f"{job.pk} 1 100 1.0\n{job.pk} 2 101 2.0\n")
    return path


def test_a_run_without_faults_has_none(job, evidence):
    assert judge(evidence, {job.pk: 1.0}, []) == []


def test_a_stop_that_counted_as_a_crash_is_found(job, evidence, register):
    worker = register()
    kept = FailedAttempt(job=job, attempt=1, worker=worker, error_class="ProcessDied", end_time=timezone.now())
    for error in ("its process was ended by SIGTERM", "3", "its process was ended by SIGKILL"):
        kept.error = error
        kept.save()
        told = f"job {job.pk}: a stop of its worker counted as a crash of attempt 1: {error}"
        assert judge(evidence, {job.pk: 1.0}, []) == [told]
    assert judge(evidence, {job.pk: 1.0}, [], killed={Worker.objects.get(pk=worker).pid}) == []


def test_a_body_that_started_twice_is_found(job, evidence):
    evidence.write_text(evidence.read_text() + f"{job.pk} 2 102 3.0\n")
    assert judge(evidence, {job.pk: 1.0}, []) == [f"job {job.pk}: the body of attempt 2 started 2 times"]


def test_a_body_of_an_attempt_that_was_undone_is_found(job, evidence):
    evidence.write_text(evidence.read_text() + f"{job.pk} 3 102 3.0\n")
    assert judge(evidence, {job.pk: 1.0}, []) == [f"job {job.pk} is at attempt 2, but the body of attempt 3 started"]


def test_a_success_without_its_body_is_found(job, evidence):
    evidence.write_text(f"{job.pk} 1 100 1.0\n")
    assert judge(evidence, {job.pk: 1.0}, []) == [f"job {job.pk} succeeded in attempt 2, whose body never started"]


def test_stats_of_a_stale_holder_are_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(stats={"number": 0, "attempt": 1})
    assert judge(evidence, {job.pk: 1.0}, []) == [f"job {job.pk}, [0, 2]: stats of [0, 1]"]


def test_stats_of_another_job_are_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(args={"number": 7})
    assert judge(evidence, {job.pk: 1.0}, []) == [f"job {job.pk}, [7, 2]: stats of [0, 2]"]


def test_a_row_of_an_end_that_did_not_come_and_an_end_without_its_row_are_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(source_method="light_book")
    for rows in (0, 1, 2):
        wrong = [] if rows == 1 else [f"job {job.pk} ended as success, and has {rows} rows of its end"]
        assert judge(evidence, {job.pk: 1.0}, [], lost=[(8.0, 9.0)]) == wrong
        Run.objects.create(job_id=job.pk, attempt=2, pid=101)


def test_leaks_between_bodies_and_rows_that_were_rolled_back_are_found(job, evidence):
    evidence.write_text(f"{evidence.read_text()}{job.pk} 2 101 2.1 ['a stranger', 0, None, False]\n")
    Job.objects.filter(pk=job.pk).update(source_method="go_astray")
    leak = f"job {job.pk}, attempt 2: another body had left ['a stranger', 0, None, False] in its session"
    assert judge(evidence, {job.pk: 1.0}, []) == [
        leak,
        f"job {job.pk} succeeded in attempt 2, and the row that it wrote is not there",
    ]
    Run.objects.create(job_id=job.pk, attempt=2, pid=101)
    assert judge(evidence, {job.pk: 1.0}, []) == [leak]


def test_a_batch_that_is_counted_wrong_is_found(job, evidence):
    batch = Batch.objects.create(pk=10**9, tenant=job.tenant, name="nightly", added=1)
    BatchTally.objects.create(batch=batch, error=1)
    Job.objects.filter(pk=job.pk).update(batch_id=batch.pk)
    [words] = judge(evidence, {job.pk: 1.0}, [])
    assert words.startswith(f"batch {batch.pk}: 1 were added, ")
    BatchTally.objects.update(error=0, success=1)
    assert judge(evidence, {job.pk: 1.0}, []) == []


def test_a_callback_that_did_not_run_or_came_too_early_is_found(job, evidence):
    batch = Batch.objects.create(pk=10**9, tenant=job.tenant, name="nightly", added=1)
    BatchTally.objects.create(batch=batch, success=1)
    Job.objects.filter(pk=job.pk).update(batch_id=batch.pk)
    after = make_job(job.tenant, Status.CANCELLED)

    def judged(revived=()):
        return judge(evidence, {job.pk: 1.0}, [], callbacks={batch.pk: after.pk, 1: 2}, revived=revived)

    assert judged() == [f"batch {batch.pk}: the job {after.pk} after it is cancelled"]
    Job.objects.filter(pk=after.pk).update(status="success", stats={"number": 0, "attempt": 1}, attempt=1)
    evidence.write_text(f"{evidence.read_text()}{after.pk} 1 100 1.0\n")
    Job.objects.filter(pk=after.pk).update(start_time=job.end_time - timedelta(seconds=1))
    [words] = judged()
    assert f"job {after.pk} after it started 0:00:01 before its last one ended" in words
    assert judged(revived={job.pk}) == []
    Job.objects.filter(pk=after.pk).update(start_time=job.end_time + timedelta(seconds=1))
    assert judged() == []


def test_a_body_that_started_after_its_time_is_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(expires_at=job.start_time - timedelta(seconds=1))
    [words] = judge(evidence, {job.pk: 1.0}, [])
    assert words.startswith(f"job {job.pk} started at ")


def test_news_that_nobody_read_are_found(job, evidence):
    JobEnd.objects.create(xid=0, job_id=job.pk)
    assert judge(evidence, {job.pk: 1.0}, []) == ["1 news of ends were never read"]


def test_a_gathered_call_that_its_job_does_not_have_is_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(args={"calls": [7]})
    found = judge(evidence, {job.pk: 1.0}, [], calls={7: job.pk, 8: job.pk})
    assert found == [f"job {job.pk} has not gathered call 8"]


def test_a_lost_job_and_one_that_never_ends_are_found(job, evidence):
    stuck = make_job(job.tenant, Status.RUNNING)
    found = judge(evidence, {job.pk: 1.0, 10**9: 2.0}, [])
    assert found == [
        f"job {10**9} was accepted, and is not there",
        f"job {stuck.pk} is still running, attempt 1, slot 2",
    ]


def test_a_bill_that_is_not_what_the_log_has_is_found(job, evidence):
    ended = timezone.now()
    attempt(ended, tenant_id=job.tenant_id, ran=2.0)
    assert judge(evidence, {job.pk: 1.0}, []) == []
    TenantHour.objects.update(run_seconds=2.000_001)
    assert judge(evidence, {job.pk: 1.0}, []) == [
        f"tenant {job.tenant_id}: the log has (1, 2000000) attempts and microseconds, its usage (1, 2000001)"
    ]


def test_an_exceeded_limit_is_found(job, evidence):
    assert judge(evidence, {job.pk: 1.0}, [("tenant 1", 3, 2)]) == ["limit exceeded: tenant 1 held 3, may 2"]


def test_a_lane_may_hold_what_its_tenant_or_its_queue_said_last_or_lately():
    acme = TenantFactory(queue__num_slots=5, queue__queue_slots={"default": 3})
    for number in range(4):
        make_job(acme, Status.RUNNING, slot=number + 1, queued_at=timezone.now())

    def exceeded() -> list[tuple[str, int, int]]:
        with connection.cursor() as cursor:
            cursor.execute(VIOLATIONS)
            return [found for found in cursor.fetchall() if found[0].startswith("lane")]

    def change(**limits) -> None:
        """Now; what was said before is old."""
        LimitChange.objects.update(at=F("at") - timedelta(minutes=1))
        TenantQueue.objects.filter(tenant=acme).update(**limits)

    lane = f"lane {acme.pk} in default"
    assert exceeded() == [(lane, 4, 3)]
    change(queue_slots={})
    assert exceeded() == [], "it may hold there what all may"
    change(queue_slots={"default": 2})
    assert exceeded() == [], "a moment ago it might hold more"
    TenantFactory(queue__queue_slots={"default": 9})
    change()
    assert exceeded() == [(lane, 4, 2)]
    change(queue_slots={})
    Queue.objects.update(tenant_slots=1)
    LimitChange.objects.update(at=F("at") - timedelta(minutes=1))
    assert exceeded() == [(lane, 4, 1)]


class TestTheLastMomentsBeforeAPromotion:
    """Between 10 and 20, whose commits the standby may have lacked."""

    lost = [(10.0, 20.0)]

    def test_may_be_gone(self, job, evidence):
        evidence.write_text(evidence.read_text() + f"{job.pk} 3 102 11.0\n{10**9} 1 103 12.0\n")
        assert judge(evidence, {job.pk: 1.0, 10**9: 11.0}, [], self.lost) == []

    def test_may_run_again(self, job, evidence):
        evidence.write_text(evidence.read_text() + f"{job.pk} 2 102 11.0\n")
        assert judge(evidence, {job.pk: 1.0}, [], self.lost) == []

    def test_may_have_lost_an_end_so_that_the_attempt_starts_again(self, job, evidence):
        evidence.write_text(evidence.read_text() + f"{job.pk} 2 101 21.0\n")
        assert judge(evidence, {job.pk: 1.0}, [], self.lost) == []

    def test_lose_nothing_that_was_before_or_afterwards(self, job, evidence):
        evidence.write_text(evidence.read_text() + f"{job.pk} 2 102 9.0\n{10**9 + 1} 1 103 21.0\n")
        assert judge(evidence, {job.pk: 1.0, 10**9: 9.0}, [], self.lost) == [
            f"job {10**9} was accepted, and is not there",
            f"job {10**9 + 1} ran, and is not there",
            f"job {job.pk}: the body of attempt 2 started 2 times",
        ]


class TestSchedules:
    @pytest.fixture
    def runs(self, job):
        """Of one schedule: three due times, a second apart."""
        Job.objects.filter(pk=job.pk).update(source_method="tick")
        others = [
            make_job(job.tenant, Status.SUCCESS, source_method="tick", attempt=2, stats={"number": 0, "attempt": 2})
            for _ in range(2)
        ]
        call = {"source_type": "sample.thing", "source_method": "tick", "every": 1.0}
        schedule = Schedule.objects.create(tenant=job.tenant, name="tick", paused=True, **call)
        return [
            ScheduleRun.objects.create(schedule=schedule, due=datetime(2026, 1, 1, 0, 0, n, tzinfo=UTC), job_id=one.pk)
            for n, one in enumerate([job, *others])
        ]

    def complaints(self, tmp_path) -> list[str]:
        evidence = tmp_path / "evidence"
        evidence.write_text("".join(f"{job.pk} 2 100 1.0\n" for job in Job.objects.all()))
        return judge(evidence, {}, [])

    def test_schedules_with_one_job_for_each_due_time_are_right(self, runs, tmp_path):
        assert self.complaints(tmp_path) == []

    def test_a_due_time_that_was_left_out_is_found(self, runs, tmp_path):
        runs[1].delete()
        Job.objects.filter(pk=runs[1].job_id).delete()
        assert ["2 s between" in words for words in self.complaints(tmp_path)] == [True]

    def test_a_due_time_without_a_job_is_found(self, runs, tmp_path):
        Job.objects.filter(pk=runs[1].job_id).delete()
        ScheduleRun.objects.filter(pk=runs[1].pk).update(job_id=None, note="why")
        assert ["became no job: why" in words for words in self.complaints(tmp_path)] == [True]

    def test_a_second_job_for_a_due_time_is_found(self, runs, job, tmp_path):
        make_job(job.tenant, Status.SUCCESS, source_method="tick", attempt=2, stats={"number": 0, "attempt": 2})
        assert ["belongs to no due time" in words for words in self.complaints(tmp_path)] == [True]
