"""Ended jobs move into the history, and back, whole: in one transaction, and each is always in exactly one place."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from jobs import store
from jobs.engine.upkeep import history
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import FINAL, Status
from jobs.models import AnyFailedAttempt, AnyJob, ArchivedJob, FailedAttempt, Job
from jobs.reading import queries
from jobs.store import EVERY_TENANT
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.sql import sql
from tests.verbs import row

DAY = timedelta(days=1)
NOW = timezone.now()
ARCHIVED = sorted(FINAL - {Status.DEAD})


def values(job) -> dict:
    names = [field.attname for field in AnyJob._meta.concrete_fields]
    return {name: getattr(job, name) for name in names}


def ended(status: str = Status.ERROR, **fields) -> Job:
    """A job that ended two days ago, with everything a job can have."""
    at = timezone.now() - 2 * DAY
    said = {
        "created_at": at - DAY,
        "queued_at": at,
        "start_time": at,
        "end_time": at,
        "attempt": 3,
        "args": {"region": "EU", "n": 12345678901234567890, "x": 0.1, "deep": [None, {"é": "\\u0000"[:1]}]},
        "stats": {"rows": 3},
        "cursor": {"page": 7},
        "handed_back": 2,
        "handed_back_why": "drain",
        "user_key": "anna",
        "dedup_key": uuid.uuid4(),
        "timeout": 1.5,
        "memory": 64,
        "worker": uuid.uuid4(),
        "worker_pid": 7,
        "progress": 0.25,
        "progress_note": "half of a half",
        "last_error": "ValueError: no",
        "trace_parent": f"00-{'a' * 32}-{'b' * 16}-01",
    }
    job = make_job(fields.pop("tenant", None) or TenantFactory(), status, **said | fields)
    for attempt in (1, 3):
        FailedAttempt.objects.create(
            job=job, attempt=attempt, error_class="ValueError", error="no\nno", traceback="…", worker=job.worker,
            queued_at=at, start_time=at, end_time=at + timedelta(microseconds=attempt),
        )  # fmt: skip
    return job


def attempts(job) -> list[dict]:
    fields = [field.attname for field in AnyFailedAttempt._meta.concrete_fields]
    return [{name: getattr(failed, name) for name in fields} for failed in queries.failed_attempts(job)]


@pytest.mark.django_db
class TestArchive:
    @pytest.mark.parametrize("status", ARCHIVED)
    def test_a_job_keeps_every_value_and_its_failed_attempts(self, status):
        job = ended(status)
        job.refresh_from_db()
        before, failed = values(job), attempts(job)
        assert len(failed) == 2
        assert Archive().run() == 1
        assert not Job.objects.exists()
        assert not FailedAttempt.objects.exists()
        assert ArchivedJob.objects.get().status == status
        assert values(AnyJob.objects.get(pk=job.pk)) == before
        assert attempts(job) == failed

    @pytest.mark.parametrize("status", ARCHIVED)
    def test_a_job_waits_for_its_time(self, status, settings):
        settings.JOBS_ARCHIVE_AFTER = 3.0
        job = ended(status)
        after = job.end_time + 3 * DAY
        assert call_at(after, Archive().run) == 0
        assert call_at(after + timedelta(microseconds=1), Archive().run) == 1

    def test_a_job_that_is_due_takes_no_later_one_along(self):
        due, early = ended(Status.SUCCESS), ended(Status.SUCCESS, end_time=timezone.now())
        assert Archive().run() == 1
        assert (ArchivedJob.objects.get().id, Job.objects.get().pk) == (due.pk, early.pk)

    @pytest.mark.parametrize("status", sorted(set(Status) - set(ARCHIVED)))
    def test_dead_jobs_and_those_under_way_stay(self, status):
        job = make_job(TenantFactory(), status)
        before = row(job)
        assert call_at(timezone.now() + 900 * DAY, Archive().run) == 0
        assert row(job) == before

    def test_a_discarded_dead_job_moves_though_it_ended_long_ago(self):
        archive = Archive()
        job = ended(Status.DEAD, died_at=timezone.now())
        ended(Status.CANCELLED)
        assert archive.run() == 1
        store.discard(job.pk)
        archive.run()
        assert Archive().run() == 1, "the next hour's pass begins at the first job"

    def test_each_month_has_a_partition(self):
        moments = [datetime(2020, 1, 31, 23, 59, 59, 999999, UTC), datetime(2020, 2, 1, tzinfo=UTC)]
        for moment in moments:
            ended(Status.SUCCESS, end_time=moment)
        assert Archive().run() == 2
        assert sql("SELECT tableoid::regclass::text FROM job_history ORDER BY end_time") == [
            ("job_history_20200101",),
            ("job_history_20200201",),
        ]

    def test_more_jobs_than_a_batch(self, monkeypatch):
        tenant = TenantFactory()
        for _ in range(5):
            make_job(tenant, Status.SUCCESS, end_time=timezone.now() - 2 * DAY)
        in_pairs = store.archive
        monkeypatch.setattr(store, "archive", lambda *args, **kwargs: in_pairs(*args, **kwargs, batch=2))
        assert Archive().run() == 5


def locking(job, session):
    session.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [job.pk])


@pytest.mark.django_db(transaction=True)
class TestTwoAtOnce:
    def test_a_job_from_the_history_runs_again(self, register, sent):
        register()
        job = ended()
        Archive().run()
        revive(job.pk, tenant_id=job.tenant_id)
        assert [(claimed.id, claimed.attempt) for claimed in sent] == [(job.pk, 4)]

    def test_a_locked_job_stays_and_holds_up_no_other(self, onlooker):
        locked, free = ended(Status.SUCCESS), ended(Status.SUCCESS)
        archive = Archive()
        with onlooker.transaction():
            locking(locked, onlooker)
            assert archive.run() == 1
        assert list(Job.objects.values_list("pk", flat=True)) == [locked.pk]
        assert ArchivedJob.objects.get().id == free.pk
        assert Archive().run() == 1

    def test_a_job_that_is_being_revived_is_not_archived(self, elsewhere):
        job = ended()
        with transaction.atomic():
            assert store.revive(job.pk, tenant_id=EVERY_TENANT)
            assert elsewhere(Archive().run).result() == 0
        assert Job.objects.get().status == Status.CREATED

    def test_a_job_that_is_being_archived_is_revived_in_the_history(self, elsewhere, blocked):
        job = ended()
        with transaction.atomic():
            assert Archive().run() == 1
            revival = elsewhere(revive, job.pk, tenant_id=EVERY_TENANT)
            while not blocked():
                assert not revival.done()
        assert revival.result() is True
        assert Job.objects.get().status == Status.CREATED
        assert not ArchivedJob.objects.exists()

    def test_one_of_two_revivals_in_the_history_applies(self, elsewhere, blocked):
        job = ended()
        Archive().run()
        with transaction.atomic():
            assert revive(job.pk, tenant_id=EVERY_TENANT)
            other = elsewhere(revive, job.pk, tenant_id=EVERY_TENANT)
            while not blocked():
                assert not other.done()
        assert other.result() is False
        assert AnyJob.objects.count() == 1

    def test_two_archives_move_each_job_once(self, elsewhere):
        for _ in range(20):
            ended(Status.SUCCESS)
        moved = [elsewhere(Archive().run) for _ in range(2)]
        assert sum(turn.result() for turn in moved) == 20
        assert ArchivedJob.objects.count() == AnyJob.objects.count() == 20


@pytest.mark.django_db
class TestRestore:
    @pytest.mark.parametrize("status", [Status.ERROR, Status.CANCELLED])
    def test_a_job_is_revived_as_if_it_had_never_been_away(self, status):
        same = {"tenant": TenantFactory(), "worker": uuid.uuid4(), "crashes": 1, "retries": 2}
        went, stayed = ended(status, **same), ended(status, end_time=timezone.now(), **same)
        failed = attempts(went)
        assert Archive().run() == 1
        for job in (stayed, went):
            assert revive(job.pk, tenant_id=EVERY_TENANT)
        moments = {"id", "ready_at", "created_at", "queued_at", "start_time"}
        left, came = (values(Job.objects.get(pk=job.pk)) for job in (stayed, went))
        assert [name for name in came if came[name] != left[name] and name not in moments] == []
        assert attempts(went) == failed

    def test_a_success_is_not_revived(self):
        job = ended(Status.SUCCESS)
        Archive().run()
        assert not revive(job.pk, tenant_id=EVERY_TENANT)
        assert ArchivedJob.objects.exists()

    def test_a_stranger_revives_nothing(self):
        job = ended()
        Archive().run()
        assert not revive(job.pk, tenant_id=TenantFactory().pk)
        assert ArchivedJob.objects.exists()
        assert revive(job.pk, tenant_id=job.tenant_id)

    def test_an_operator_revives_what_an_operator_ended_and_its_tenant_does_not(self):
        job = ended(Status.CANCELLED, barred=True)
        Archive().run()
        assert not revive(job.pk, tenant_id=job.tenant_id)
        assert revive(job.pk, tenant_id=EVERY_TENANT)


@pytest.mark.django_db
class TestRetention:
    def test_a_month_is_dropped_when_its_end_is_old_enough(self, settings):
        settings.JOBS_HISTORY_KEEP = 30
        kept, gone = (ended(Status.SUCCESS, end_time=datetime(2020, month, 1, tzinfo=UTC)) for month in (2, 1))
        Archive().run()
        call_at(datetime(2020, 3, 2, tzinfo=UTC), history.drop_old)
        assert list(ArchivedJob.objects.values_list("id", flat=True)) == [kept.pk]
        assert gone.pk

    def test_a_tenant_may_keep_less(self):
        short, other = TenantFactory(queue__history_days=5), TenantFactory()
        now = timezone.now()
        for tenant in (short, other):
            for days in (4, 6):
                ended(Status.SUCCESS, tenant=tenant, end_time=now - days * DAY)
        Archive().run()
        assert call_at(now, history.drop_old) is None
        assert ArchivedJob.objects.filter(tenant=short).get().end_time == now - 4 * DAY
        assert ArchivedJob.objects.filter(tenant=other).count() == 2

    def test_a_tenant_that_goes_takes_its_history_along(self):
        job = ended(Status.SUCCESS)
        ended(Status.SUCCESS)
        Archive().run()
        job.tenant.delete()
        assert ArchivedJob.objects.count() == 1


@pytest.mark.django_db
def test_the_views_have_the_columns_of_their_models():
    for model in (AnyJob, AnyFailedAttempt, ArchivedJob):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {model._meta.db_table} LIMIT 0")
            columns = {column.name for column in cursor.description}
        assert columns == {field.column for field in model._meta.concrete_fields}
