"""The page of one job, and its cancellation."""

import re
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import async_
from jobs.engine.upkeep.history import Archive
from jobs.lifecycle import Status
from jobs.models import BlockedLoop, FailedAttempt, Job, JobLog, PausedJobType, Queue
from tenants.models import Change, TenantQueue
from tests.callers import browser_of, superuser
from tests.factories import TenantFactory, make_job
from tests.integration.members.reading import LIST, page, row, why
from tests.sample.gathered import index

pytestmark = pytest.mark.django_db
NEIGHBOUR = "NeighbourEnded: its process was ended because of another job in it"


def test_why_it_waits_is_told_in_words_for_a_tenant(mate, tenant, job, register):
    assert "No worker is ready for it yet." in why(mate, job)
    register(concurrency=1)
    assert "it starts next" in why(mate, job) and "Number 1 in line" in why(mate, job)
    Queue.objects.update(paused=True)
    assert "Its queue is paused for now." in why(mate, job)
    TenantQueue.objects.filter(tenant=tenant).update(paused=True)
    assert "Your jobs are paused for now." in why(mate, job)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.SCHEDULED, "It waits for its time."),
        (Status.QUEUED, "A worker is about to start it."),
        (Status.RUNNING, "It is running."),
        (Status.SUCCESS, "It is done."),
        (Status.ERROR, "It failed."),
        (Status.DEAD, "It failed, and will not be tried again."),
        (Status.CANCELLED, "It was cancelled."),
    ],
)
def test_every_status_has_its_words(mate, tenant, status, words):
    assert words in why(mate, make_job(tenant, status))


def test_a_held_job_and_a_retry_have_theirs(mate, tenant):
    retry = make_job(tenant, Status.SCHEDULED, attempt=1, retries=1, max_retries=3)
    now = timezone.now()
    FailedAttempt.objects.create(job=retry, attempt=1, error_class="ValueError", error="x", end_time=now)
    assert "will be tried again (retry 1 of 3)" in why(mate, retry)
    PausedJobType.objects.create(source_type="reports.datareport", source_method="execute")
    assert "Jobs of this kind are paused" in why(mate, make_job(tenant))


def test_a_job_that_gathers_shows_how_many_calls_it_has_and_another_one_none(mate, tenant):
    gathers = async_(index, tenant=tenant)(calls=list("abc"))
    other = make_job(tenant, args={"calls": ["a", "b"]}).pk
    for path, client in (("/jobs/{}/", mate), ("/ops/jobs/{}/", browser_of(superuser()))):
        facts = page(client, path.format(gathers)).partition("Calls</dt>")[2]
        assert re.match(r" ?<dd[^>]*> ?3 ?</dd>", facts), facts[:99]
        assert "Calls</dt>" not in page(client, path.format(other))


def test_errors_are_told_as_over_http(mate, tenant):
    secret = make_job(tenant, Status.ERROR, last_error="IntegrityError: Key (email)=(eve@example.com)")
    meant = make_job(tenant, Status.ERROR, last_error="TenantError: There is no region Atlantis.")
    for job in (secret, meant):
        kind, _, text = job.last_error.partition(": ")
        FailedAttempt.objects.create(
            job=job, attempt=1, error_class=kind, error=text, traceback="line 7 of /srv", end_time=timezone.now()
        )
    text = page(mate, f"{LIST}{secret.pk}/")
    for shown_text in (text, page(mate)):
        assert "IntegrityError" in shown_text and "eve@" not in shown_text and "/srv" not in shown_text
    assert page(mate, f"{LIST}{meant.pk}/").count("There is no region Atlantis.") == 2


def test_secrets_among_the_arguments_are_masked_and_markup_is_text(mate, tenant, job):
    assert "hunter2" not in page(mate, f"{LIST}{job.pk}/")
    assert "2004" in page(mate, f"{LIST}{job.pk}/")
    odd = make_job(tenant, Status.RUNNING, progress=0.25, progress_note="<b>a\x1b[2J", user_key="<i>")
    for text in (page(mate, f"{LIST}{odd.pk}/"), page(mate)):
        assert "<b>a" not in text and "<i>" not in text and "\x1b" not in text
        assert 'value="0.250"' in text


def test_nothing_of_machines_or_of_others_is_shown(mate, tenant, register):
    worker = register(concurrency=1)
    job = make_job(tenant, Status.RUNNING, worker=worker)
    make_job(TenantFactory(name="Stranger Inc."))
    for path in (LIST, f"{LIST}{job.pk}/", f"{LIST}{make_job(tenant).pk}/"):
        text = page(mate, path)
        assert str(worker) not in text and "pool" not in text and "Stranger" not in text


def test_a_job_in_the_history_has_its_page_and_its_place_in_the_list(mate, tenant):
    job = make_job(tenant, Status.ERROR, end_time=timezone.now() - timedelta(days=2), last_error="ValueError: x")
    assert Archive().run() == 1
    assert "It failed." in why(mate, job)
    assert "Failed" in row(mate, job)


def test_the_log_of_a_job_is_for_operators_alone(mate, tenant):
    job = make_job(tenant, Status.SUCCESS)
    JobLog.objects.create(tenant=tenant, job_id=job.pk, attempt=1, text="connecting to db-7.internal")
    assert "db-7" not in mate.get(f"{LIST}{job.pk}/").content.decode()


def test_a_block_of_a_loop_is_for_operators_alone_and_a_neighbour_that_it_ended_reads_why(mate, foreign_mate, tenant):
    job = make_job(tenant, Status.SCHEDULED, attempt=1, last_error=NEIGHBOUR)
    BlockedLoop.objects.create(
        worker=uuid.uuid4(), pid=1, pool="mail", seats=9, job_id=job.pk, attempt=1, place="/srv/m.py"
    )
    kind, _, error = NEIGHBOUR.partition(": ")
    FailedAttempt.objects.create(job=job, attempt=1, error_class=kind, error=error, end_time=timezone.now())
    told = page(mate, f"{LIST}{job.pk}/")
    assert NEIGHBOUR in told and "It waits for its time." in told
    assert "blocked" not in told and "/srv" not in told
    assert foreign_mate.get(f"{LIST}{job.pk}/").status_code == 404


def test_a_result_is_linked_while_it_is_kept(mate, tenant):
    now = timezone.now()
    kept = make_job(tenant, Status.SUCCESS, result_expires_at=now + timedelta(hours=1))
    gone = make_job(tenant, Status.SUCCESS, result_expires_at=now - timedelta(hours=1))
    assert f"/api/v1/jobs/{kept.pk}/result" in page(mate, f"{LIST}{kept.pk}/")
    assert "/result" not in page(mate, f"{LIST}{gone.pk}/")


def test_a_mate_cancels_a_waiting_job_and_asks_a_running_one_to_stop(mate, tenant, job):
    running = make_job(tenant, Status.RUNNING)
    response = mate.post(f"{LIST}{job.pk}/cancel", {"next": "/jobs/?before=9"})
    assert (response.status_code, response["Location"]) == (303, "/jobs/?before=9")
    assert f"Job {job.pk} is cancelled." in page(mate)
    mate.post(f"{LIST}{running.pk}/cancel")
    assert f"Job {running.pk} was asked to stop." in page(mate)
    assert Job.objects.get(pk=job.pk).status == "cancelled"
    assert Job.objects.get(pk=running.pk).cancel_requested_at is not None
    assert "Stop job" not in row(mate, running)
    noted = Change.objects.order_by("pk").values_list("who", "verb", "subject_id", "tenant_id", "actor_tenant_id")
    assert list(noted) == [
        (mate.user.username, "cancelled", str(job.pk), tenant.pk, tenant.pk),
        (mate.user.username, "asked to stop", str(running.pk), tenant.pk, tenant.pk),
    ]


def test_a_job_that_had_ended_stays_as_it_is(mate, tenant):
    ended = make_job(tenant, Status.SUCCESS)
    assert mate.post(f"{LIST}{ended.pk}/cancel").status_code == 303
    assert "had already ended" in page(mate)
    assert not Change.objects.exists()


@pytest.mark.parametrize("address", ["https://evil.example/jobs/", "//evil.example/jobs/", "/admin/", "/jobs/\\evil"])
def test_a_cancellation_leads_back_to_these_pages_and_nowhere_else(mate, job, address):
    response = mate.post(f"{LIST}{job.pk}/cancel", {"next": address})
    assert response["Location"] in ("/jobs/", "/jobs/%5Cevil")


@pytest.mark.parametrize("status", [Status.ERROR, Status.DEAD, Status.CANCELLED])
def test_a_mate_runs_a_job_again_that_ended_badly(mate, tenant, status):
    job = make_job(tenant, status)
    assert "Run it again" in page(mate, f"{LIST}{job.pk}/")
    mate.post(f"{LIST}{job.pk}/run-again")
    assert f"Job {job.pk} runs again when its turn comes." in page(mate)
    assert Job.objects.get(pk=job.pk).status == "created"
    noted = Change.objects.values_list("who", "verb", "subject_id", "tenant_id", "actor_tenant_id")
    assert list(noted) == [(mate.user.username, "revived", str(job.pk), tenant.pk, tenant.pk)]


def test_a_successful_or_barred_job_is_not_run_again(mate, tenant, job):
    done, barred = make_job(tenant, Status.SUCCESS), make_job(tenant, Status.CANCELLED, barred=True)
    for one in (done, barred, job):
        assert "Run it again" not in page(mate, f"{LIST}{one.pk}/")
    for one in (done, barred, job):
        mate.post(f"{LIST}{one.pk}/run-again")
    text = page(mate)
    assert f"Job {done.pk} has not failed" in text and f"Job {job.pk} has not failed" in text
    assert f"Job {barred.pk} was ended by an operator" in text
    assert [Job.objects.get(pk=one.pk).status for one in (done, barred, job)] == ["success", "cancelled", "created"]
    assert not Change.objects.exists()


def test_a_full_backlog_is_told_and_the_job_stays_as_it_was(mate, tenant, job):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=1)
    dead = make_job(tenant, Status.DEAD)
    mate.post(f"{LIST}{dead.pk}/run-again")
    assert "The backlog is full" in page(mate)
    assert Job.objects.get(pk=dead.pk).status == "dead"
