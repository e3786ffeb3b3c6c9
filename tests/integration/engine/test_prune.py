"""Prune: rows beside the jobs go when they are old, and only then."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends import db as sessions
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.utils import timezone

from jobs import store
from jobs.engine.door.unblock import unblock
from jobs.engine.submitting.batches import open_batch
from jobs.engine.upkeep import prune
from jobs.lifecycle import Status
from jobs.models import Batch, BatchTally, BlockedLoop, DeathNotice, Job, ScheduleRun, Worker
from tenants.models import Change, ChangeSubject
from tests.clock import call_at
from tests.factories import TenantFactory, UserFactory, make_job
from tests.integration.engine.test_schedules import hourly, thing  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db
NOW = timezone.now()
OLD, YOUNG = NOW - timedelta(days=11), NOW - timedelta(days=9)


@pytest.fixture(autouse=True)
def ten_days(settings):
    settings.JOBS_HISTORY_KEEP = settings.JOBS_LOGS_KEEP = 10


def worker(gone_at) -> Worker:
    return Worker.objects.create(id=uuid.uuid4(), name="w", pid=1, pool="default", concurrency=1, gone_at=gone_at)


def test_workers_that_are_gone_for_long():
    kept = {worker(None).pk, worker(YOUNG).pk}
    worker(OLD)
    call_at(NOW, prune.prune)
    assert set(Worker.objects.values_list("pk", flat=True)) == kept


def test_a_gone_worker_that_seems_to_run_a_job_stays():
    gone = worker(OLD)
    make_job(TenantFactory(), Status.RUNNING, worker=gone.pk)
    call_at(NOW, prune.prune)
    assert Worker.objects.get() == gone
    Job.objects.all().delete()
    call_at(NOW, prune.prune)
    assert not Worker.objects.exists()


def test_runs_of_schedules(monkeypatch, thing):  # noqa: F811
    monkeypatch.setattr(prune, "BATCH", 2)
    schedule = hourly(thing)
    for number, at in enumerate([OLD, OLD, OLD, YOUNG]):
        ScheduleRun.objects.create(schedule=schedule, due=NOW - timedelta(hours=number), at=at)
    call_at(NOW, prune.prune)
    assert ScheduleRun.objects.get().at == YOUNG


def test_records_of_notifiers_that_are_not_set_up_any_more(settings):
    settings.JOBS_DEATH_NOTIFIERS = ["a.b"]
    for notifier, upto in [("a.b", OLD), ("gone", OLD), ("just.gone", YOUNG)]:
        DeathNotice.objects.create(notifier=notifier, upto=upto)
    call_at(NOW, prune.prune)
    assert set(DeathNotice.objects.values_list("notifier", flat=True)) == {"a.b", "just.gone"}


def test_logs(monkeypatch):
    monkeypatch.setattr(prune, "BATCH", 2)
    user, kind = UserFactory(), ContentType.objects.get_for_model(Job)
    for at in [OLD, OLD, OLD, YOUNG]:
        change = Change.objects.create(at=at, who="ines", verb="changed", kind="x", subject_id="1", subject="x")
        ChangeSubject.objects.create(change=change, subject_id=1)
        LogEntry.objects.create(
            action_time=at, user=user, content_type=kind, object_id="1", object_repr="x", action_flag=2
        )
        BlockedLoop.objects.create(began_at=at, worker=uuid.uuid4(), pid=1, pool="mail", seats=2)
    call_at(NOW, prune.prune)
    assert Change.objects.get().at == ChangeSubject.objects.get().change.at == YOUNG
    assert LogEntry.objects.get().action_time == BlockedLoop.objects.get().began_at == YOUNG


def test_sessions_that_have_expired_if_their_engine_can(monkeypatch, caplog):
    for name, days in [("over", -1), ("alive", 1)]:
        Session.objects.create(session_key=name, session_data="", expire_date=timezone.now() + timedelta(days=days))
    call_at(NOW, prune.prune)
    assert Session.objects.get().session_key == "alive"
    monkeypatch.setattr(sessions.SessionStore, "clear_expired", SessionBase.clear_expired)
    call_at(NOW, prune.prune)
    assert "sessions not cleared error=NotImplementedError" in caplog.messages


def test_batches_that_nobody_closes_are_closed_when_nothing_was_added_for_long(monkeypatch, settings, thing):  # noqa: F811
    settings.JOBS_DEAD_TTL = 10 * 86400
    monkeypatch.setattr(prune, "BATCH", 1)

    def made(at=OLD, member=None, ended=True, **values) -> int:
        number = open_batch("nightly", "", thing.tenant.pk).id
        Batch.objects.filter(pk=number).update(created_at=at, added=member is not None, **values)
        if member is not None:
            job = make_job(thing.tenant, Status.CREATED, batch_id=number, created_at=member)
            if ended:
                Job.objects.filter(pk=job.pk).update(status="success", ready_at=None, end_time=member)
        return number

    thing.async_(after_end=(empty := made())).echo()
    thing.async_(after_end=(over := made(member=OLD))).echo()
    unblock()
    left = {made(member=OLD, ended=False), made(member=YOUNG), made(at=YOUNG)}
    closed = made(member=OLD, closed_at=YOUNG)
    asks = [store.close_forgotten] * 3  # for two of them, and then for none: who closes one twice never ends

    def ask(*some) -> int:
        return asks.pop()(*some)

    monkeypatch.setattr(store, "close_forgotten", ask)
    call_at(NOW, prune.prune)
    unblock()
    assert set(Batch.objects.filter(closed_at=NOW).values_list("pk", flat=True)) == {empty, over}
    assert set(Batch.objects.filter(closed_at=None).values_list("pk", flat=True)) == left
    assert Batch.objects.get(pk=closed).closed_at == YOUNG
    assert set(Job.objects.filter(batch_id=None).values_list("status", flat=True)) == {"created"}


def test_old_batches_of_which_nothing_is_left(monkeypatch, thing):  # noqa: F811
    monkeypatch.setattr(prune, "BATCH", 1)

    short = TenantFactory(queue__history_days=9)  # that of YOUNG is over

    def made(at=OLD, tenant=thing.tenant, **values) -> int:
        number = open_batch("nightly", "", tenant.pk).id
        Batch.objects.filter(pk=number).update(created_at=at, **values)
        return number

    made(), made(closed_at=OLD), made(YOUNG - timedelta(seconds=1), short)
    kept = [made(at=YOUNG), made(added=1), made(), made(), made(), made(YOUNG, short)]
    thing.async_(after_end=kept[2]).echo()
    make_job(thing.tenant, Status.SUCCESS, batch_id=kept[3], end_time=OLD)
    assert call_at(NOW, store.archive, 0, OLD - timedelta(days=1), NOW) == 1
    make_job(thing.tenant, batch_id=kept[4])
    call_at(NOW, prune.prune)
    for model in (Batch, BatchTally):
        assert list(model.objects.order_by("pk").values_list("pk", flat=True)) == kept
