"""Erase: what a tenant's ended jobs were about goes everywhere; that they ran stays, and so do other tenants' jobs."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from jobs import current_job, store
from jobs import job as method
from jobs.engine.attempt.execute import execute
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs import erase as steps
from jobs.engine.verbs.erase import Report, erase
from jobs.lifecycle import Status
from jobs.models import ERASED, AnyFailedAttempt, AnyJob, Attempt, Batch, Job, JobMemory, KeptAnswer
from jobs.store import EVERY_TENANT, erasing, results
from tests.factories import TenantFactory, ThingFactory
from tests.integration.store.test_history import ended, values
from tests.sample.models import Thing
from tests.verbs import row

pytestmark = pytest.mark.django_db


def make_batch(tenant, **fields) -> Batch:
    return Batch.objects.create(pk=Batch.objects.count() + 10**9, tenant=tenant, name="nightly", **fields)


def with_result(job) -> None:
    cache.set(results._key(job), '"secret"')
    Job.objects.filter(pk=job.pk).update(result_bytes=8, result_expires_at=timezone.now() + timedelta(hours=1))


def log_of(job) -> dict:
    same = ("tenant_id", "queue_id", "attempt", "start_time", "source_type", "source_method", "user_key", "priority")
    of_attempt = {"job_id": job.pk, "ended_at": job.end_time, "outcome": "error"}
    return of_attempt | {name: getattr(job, name) for name in same}


def an_archived_and_a_recent_job(tenant) -> list[Job]:
    old, new = ended(tenant=tenant), ended(tenant=tenant, end_time=timezone.now())
    for job in (old, new):
        with_result(job)
    assert Archive().run() == 1
    return [old, new]


def test_the_content_of_erased_jobs_goes_and_their_record_stays(tenant, monkeypatch):
    jobs = an_archived_and_a_recent_job(tenant)
    with monkeypatch.context() as away:
        away.setattr(results, "_cache", lambda: RedisCache("redis://127.0.0.1:1", {}))
        with pytest.raises(CommandError, match="out of reach: ConnectionError; erase the rest when it is back"):
            call_command("jobs", "erase", "--tenant", tenant.slug)
    KeptAnswer.objects.create(tenant=tenant, key="k", digest="d", body="secret")
    JobMemory.objects.create(tenant=tenant, source_type="x", source_method="y", content={"a": 1})
    for job in jobs:
        Attempt.objects.create(**log_of(job))
    batches = [make_batch(tenant, user_key="anna"), make_batch(TenantFactory(), user_key="anna")]
    before = {job.pk: values(AnyJob.objects.get(pk=job.pk)) for job in jobs}
    assert erase(tenant.pk) == Report(jobs=2, failed_attempts=4, results=2, answers=1, memories=1)
    gone = {"args": {}, "stats": {}, "last_error": "", "progress_note": "", "user_key": "", "dedup_key": ERASED}
    gone |= {"result_expires_at": None, "result_bytes": None, "cursor": None}
    for job in jobs:
        assert values(AnyJob.objects.get(pk=job.pk)) == before[job.pk] | gone
        assert cache.get(results._key(job)) is None
    assert not AnyFailedAttempt.objects.exists()
    assert not Attempt.objects.exclude(user_key="").exists()
    assert not KeptAnswer.objects.exists()
    assert [Batch.objects.get(pk=one.pk).user_key for one in batches] == ["", "anna"], "a stranger's"
    assert erase(tenant.pk) == Report(jobs=2), "there is nothing left to remove"


@pytest.mark.parametrize("status", [Status.SCHEDULED, Status.CREATED, Status.QUEUED, Status.RUNNING])
def test_a_job_that_has_not_ended_keeps_everything(tenant, status):
    job = ended(tenant=tenant, status=status, end_time=None)
    before = row(job)
    assert erase(tenant.pk) == Report(under_way=1)
    assert row(job) == before
    assert AnyFailedAttempt.objects.count() == 2


def test_a_strangers_jobs_keep_everything(tenant):
    jobs = an_archived_and_a_recent_job(TenantFactory())
    KeptAnswer.objects.create(tenant=jobs[0].tenant, key="k", digest="d", body="secret")
    JobMemory.objects.create(tenant=jobs[0].tenant, source_type="x", source_method="y", content={"a": 1})
    Attempt.objects.create(**log_of(jobs[0]))
    before = [values(job) for job in AnyJob.objects.order_by("id")]
    assert erase(tenant.pk) == Report()
    assert [values(job) for job in AnyJob.objects.order_by("id")] == before
    assert AnyFailedAttempt.objects.count() == 4
    assert KeptAnswer.objects.exists()
    assert JobMemory.objects.exists()
    assert Attempt.objects.get().user_key == "anna"


def test_more_jobs_than_a_batch(tenant, monkeypatch):
    monkeypatch.setattr(erasing, "BATCH", 2)
    for number in range(5):
        ended(tenant=tenant, **({"end_time": timezone.now()} if number % 2 else {}))
    Archive().run()
    assert erase(tenant.pk).jobs == 5
    assert not AnyJob.objects.exclude(args={}).exists()


@pytest.fixture
def erase_while_one_ends(register, sent, monkeypatch):
    """Erase; before that step, a job ends that leaves its user and a memory."""

    def erasing_while(module, step: str) -> Report:
        monkeypatch.setattr(Thing, "echo", method(lambda self: current_job().memory.merge(secret=1)))
        thing, worker = ThingFactory(), register()
        ends = thing.async_(user="anna").echo()
        as_it_is = getattr(module, step)
        monkeypatch.setattr(
            module, step, lambda *said: (execute(ends, 1, AttemptHost(ProcessHost(worker))), as_it_is(*said))[1]
        )
        report = erase(thing.tenant_id)
        assert Job.objects.get().status == Status.SUCCESS
        return report

    return erasing_while


@pytest.mark.django_db(transaction=True)
def test_a_job_that_ends_as_it_begins_leaves_nothing(erase_while_one_ends):
    assert erase_while_one_ends(erasing, "erase_jobs") == Report(jobs=1, memories=1)
    assert Attempt.objects.get().user_key == ""
    assert not JobMemory.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["erase_users", "forget_answers"])
def test_a_job_that_ends_after_its_turn_is_counted(erase_while_one_ends, step):
    report = erase_while_one_ends(steps, step)
    assert (report.jobs, report.under_way) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_a_job_that_is_being_revived_is_counted_among_those_left_alone(tenant, elsewhere, blocked):
    job = ended(tenant=tenant)
    with transaction.atomic():
        assert store.revive(job.pk, tenant_id=EVERY_TENANT)
        erasure = elsewhere(erase, tenant.pk)
        while not blocked():
            assert not erasure.done()
    assert erasure.result() == Report(under_way=1)
    assert Job.objects.get().args == job.args
