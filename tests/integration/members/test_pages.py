"""The members' pages of jobs: what the owner's people see and may do, and what nobody else learns."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.engine.history import Archive
from jobs.lifecycle import Status
from jobs.members import shown, waits
from jobs.models import FailedAttempt, Job, PausedJobType, Queue, Schedule
from tenants.models import Change, TenantQueue
from tests.factories import MemberFactory, QueueFactory, TenantFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db
LIST = "/jobs/"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')


@pytest.fixture
def job(tenant, report) -> Job:
    """A waiting one, about the report."""
    return make_job(tenant, source_id=str(report.pk), args={"password": "hunter2", "year": 2004})


@pytest.fixture
def foreign_mate() -> Client:
    client = Client()
    client.force_login(MemberFactory().user)
    return client


def page(client: Client, path: str = LIST) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def row(client: Client, job: Job, path: str = LIST) -> str:
    """The row of a job."""
    return page(client, path).partition(f'<tr id="job-{job.pk}">')[2].partition("</tr>")[0]


def why(client: Client, job: Job) -> str:
    return page(client, f"{LIST}{job.pk}/").partition('id="why"')[2].partition("</section>")[0]


class TestAccess:
    PATHS = (LIST, "{job}/")

    def test_nobody_logged_in_gets_the_login(self, job):
        for client in (Client(), Client(enforce_csrf_checks=True)):
            for path in (LIST, f"{LIST}{job.pk}/"):
                response = client.get(path)
                assert (response.status_code, response["Location"]) == (302, f"/accounts/login/?next={path}")
        assert Client().post(f"{LIST}{job.pk}/cancel").status_code == 302
        assert Job.objects.get().status == "created"

    def test_a_login_without_a_tenant_is_told_so_and_staff_sent_to_the_admin(self, job):
        nobody, staff = Client(), Client()
        nobody.force_login(UserFactory())
        staff.force_login(UserFactory(is_staff=True))
        assert nobody.get(LIST).status_code == nobody.post(f"{LIST}{job.pk}/cancel").status_code == 403
        assert staff.get(LIST)["Location"] == "/admin/"

    def test_a_stranger_sees_no_job_and_gets_for_one_what_it_gets_for_none(self, foreign_mate, job, report):
        assert f"job-{job.pk}" not in page(foreign_mate)
        assert report.name not in page(foreign_mate)
        for method in (foreign_mate.get, foreign_mate.head):
            theirs, none = method(f"{LIST}{job.pk}/"), method(f"{LIST}{10**9}/")
            assert theirs.status_code == none.status_code == 404
            assert TOKEN.sub(b"", theirs.content) == TOKEN.sub(b"", none.content)
        assert foreign_mate.post(f"{LIST}{job.pk}/cancel").status_code == 404
        assert foreign_mate.post(f"{LIST}{10**9}/cancel").status_code == 404
        assert Job.objects.get().status == "created"

    @pytest.mark.parametrize("number", ["0", "9" * 19, "9" * 40])
    def test_a_number_that_is_no_id_is_no_job(self, mate, number):
        assert mate.get(f"{LIST}{number}/").status_code == 404
        assert mate.post(f"{LIST}{number}/cancel").status_code == 404

    def test_the_pages_only_answer_to_get_and_the_cancellation_only_to_a_post_with_its_token(self, mate, job):
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(mate.user)
        assert mate.post(LIST).status_code == mate.post(f"{LIST}{job.pk}/").status_code == 405
        assert mate.get(f"{LIST}{job.pk}/cancel").status_code == 405
        assert strict.post(f"{LIST}{job.pk}/cancel").status_code == 403
        assert Job.objects.get().status == "created"

    def test_the_policy_needs_no_exception(self, mate, job):
        for path in (LIST, f"{LIST}{job.pk}/"):
            response = mate.get(path)
            policy, text = response["Content-Security-Policy"], response.content.decode()
            assert "unsafe" not in policy
            assert " style=" not in text and "<script>" not in text and " onclick=" not in text
            assert "//" not in text.replace("<!doctype", "")
            assert response["Cache-Control"] == "no-store"


class TestList:
    def test_jobs_come_newest_first_with_what_they_are_about(self, mate, tenant, job, report):
        newer = make_job(tenant, Status.SUCCESS, source_id=None, source_method="refresh_all")
        text = page(mate)
        assert text.index(f"job-{newer.pk}") < text.index(f"job-{job.pk}")
        assert report.name in row(mate, job)
        assert "all data reports" in row(mate, newer)

    def test_an_object_of_another_tenant_lends_no_job_its_name(self, mate, tenant, foreign_report):
        job = make_job(tenant, source_id=str(foreign_report.pk))
        assert foreign_report.name not in row(mate, job)
        assert f"reports.datareport {foreign_report.pk}" in row(mate, job)

    @pytest.mark.parametrize(
        "source", [{"source_id": "x" * 100}, {"source_id": "9" * 50}, {"source_type": "gone.model"}]
    )
    def test_a_job_about_what_is_not_there_is_shown_all_the_same(self, mate, tenant, source):
        job = make_job(tenant, **source)
        assert next(iter(source.values())) in page(mate)
        assert mate.get(f"{LIST}{job.pk}/").status_code == 200

    def test_a_status_and_only_mine_can_be_chosen(self, mate, tenant, job):
        mine = make_job(tenant, Status.SUCCESS, user_key=str(mate.user.pk))
        assert (row(mate, mine, "/jobs/?status=success") != "", row(mate, job, "/jobs/?status=success")) == (True, "")
        assert (row(mate, mine, "/jobs/?mine=1") != "", row(mate, job, "/jobs/?mine=1")) == (True, "")
        assert f"{mate.user.username} (you)" in row(mate, mine)

    @pytest.mark.parametrize("odd", ["status=nonsense", "before=x", "before=-1", "before=²", "mine=2", "status=%00"])
    def test_what_cannot_be_asked_for_is_left_out(self, mate, job, odd):
        response = mate.get(f"{LIST}?{odd}")
        assert response.status_code == (400 if "%00" in odd else 200)
        if response.status_code == 200:
            assert f'id="job-{job.pk}"' in response.content.decode()

    def test_a_page_goes_on_with_older_jobs(self, mate, tenant, monkeypatch):
        monkeypatch.setattr("jobs.members.views.A_PAGE", 2)
        first, second, third = (make_job(tenant, Status.SUCCESS) for _ in range(3))
        text = page(mate, "/jobs/?status=success")
        assert f"job-{first.pk}" not in text
        assert f"?status=success&amp;before={second.pk}" in text
        older = page(mate, f"/jobs/?status=success&before={second.pk}")
        assert f"job-{first.pk}" in older and f"job-{third.pk}" not in older

    def test_slots_in_use_are_shown_and_a_pause_is_told(self, mate, tenant):
        make_job(tenant, Status.RUNNING)
        make_job(TenantFactory(), Status.RUNNING)
        assert "<strong>1</strong> of 2 in use" in page(mate)
        TenantQueue.objects.filter(tenant=tenant).update(paused=True, user_slots=1)
        assert "Your jobs are paused for now" in page(mate)
        assert "Of each user at most 1 at once" in page(mate)
        TenantQueue.objects.filter(tenant=tenant).delete()
        assert "You have no slots" in page(mate)

    def test_waiting_jobs_tell_their_place_and_why(self, mate, tenant, register):
        register()
        for _ in range(2):
            make_job(tenant, Status.RUNNING)
        first, second = make_job(tenant), make_job(tenant, priority=9)
        early = make_job(tenant, priority=0)
        other = make_job(tenant, queue=QueueFactory(name="mail"))
        make_job(TenantFactory(), priority=0)
        places = {job.pk: row(mate, job) for job in (early, first, second, other)}
        for job, place in ((early, 1), (first, 2), (second, 3), (other, 1)):
            line = "mail" if job == other else "default"
            assert f"Number {place} in line for {line}. All of your slots are in use (2 of 2)." in places[job.pk]

    def test_the_first_starts_next_and_the_others_after_it(self, mate, tenant, register):
        register()
        first, second = make_job(tenant), make_job(tenant)
        assert "it starts next" in row(mate, first)
        assert "the jobs before it in line go first" in row(mate, second)

    def test_far_behind_the_place_is_not_counted(self, mate, tenant, monkeypatch):
        monkeypatch.setattr("jobs.store.explain.FEW", 2)
        monkeypatch.setattr(waits, "FEW", 2)
        jobs = [make_job(tenant) for _ in range(4)]
        assert "Number 2 in line." in row(mate, jobs[1])
        assert "More than 2 before it." in row(mate, jobs[3])

    def test_however_many_jobs_wait_for_the_same_it_is_explained_once(self, mate, tenant):
        def statements():
            with CaptureQueriesContext(connection) as queries:
                page(mate)
            return len(queries)

        for user in ("", "ann", "ben"):
            make_job(tenant, user_key=user)
        few = statements()
        for number in range(20):
            make_job(tenant, user_key=("", "ann", "ben")[number % 3])
        assert statements() == few

    def test_only_so_many_waits_are_explained(self, mate, tenant):
        jobs = [make_job(tenant, user_key=f"user {number}") for number in range(waits.GROUPS + 1)]
        explained = [job for job in jobs if "No worker is ready" in row(mate, job)]
        assert explained == jobs[:-1]
        assert f"Number {len(jobs)} in line." in row(mate, jobs[-1])

    def test_schedules_are_shown_the_next_one_first(self, mate, tenant):
        now = timezone.now()
        call = {"source_type": "reports.datareport", "source_method": "execute"}
        for name, hours in (("later", 2), ("soon", 1)):
            due = now + timedelta(hours=hours)
            Schedule.objects.create(tenant=tenant, name=name, every=60, next_due=due, next_at=due, **call)
        Schedule.objects.create(tenant=tenant, name="off", every=60, paused=True, paused_because="no region", **call)
        Schedule.objects.create(tenant=TenantFactory(), name="theirs", every=60, **call)
        text = page(mate)
        assert text.index("soon") < text.index("later") < text.index("off") < text.index("no region")
        assert "theirs" not in text


class TestLive:
    def test_the_refresh_asks_for_the_jobs_that_are_shown_and_tells_how_many_are_newer(self, mate, tenant, job):
        ask = f"?before={job.pk + 1}"
        assert f'data-ask="{ask}"' in page(mate)
        assert "newer" not in page(mate, LIST + ask)
        newer = make_job(tenant)
        assert row(mate, newer, LIST + ask) == ""
        assert "1 newer: show" in page(mate, LIST + ask)

    def test_only_what_changed_is_sent(self, mate, tenant, job):
        text = mate.get(f"{LIST}?before={job.pk + 1}").content.decode()
        versions = {}
        for part in text.split('data-region="')[1:]:
            versions[part.partition('"')[0]] = part.partition('data-v="')[2].partition('"')[0]
        known = {"Live": " ".join(f"{name}={version}" for name, version in versions.items())}
        make_job(tenant, Status.RUNNING)
        changed = mate.get(f"{LIST}?before={job.pk + 1}", headers=known)
        assert changed.status_code == 200
        assert 'data-region="slots"' in changed.content.decode()
        assert 'data-region="schedules"' not in changed.content.decode()

    def test_a_job_that_has_ended_is_asked_for_no_more(self, mate, tenant, job):
        ended = make_job(tenant, Status.SUCCESS)
        assert 'data-every="0"' in page(mate, f"{LIST}{ended.pk}/")
        assert 'data-every="3"' in page(mate, f"{LIST}{job.pk}/")


class TestJob:
    def test_why_it_waits_is_told_in_words_for_a_tenant(self, mate, tenant, job, register):
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
            (Status.RUNNING, "It runs."),
            (Status.SUCCESS, "It ended well."),
            (Status.ERROR, "It failed."),
            (Status.DEAD, "It failed, and is not tried again."),
            (Status.CANCELLED, "It was cancelled."),
        ],
    )
    def test_every_status_has_its_words(self, mate, tenant, status, words):
        assert words in why(mate, make_job(tenant, status))

    def test_a_held_job_and_a_retry_have_theirs(self, mate, tenant):
        retry = make_job(tenant, Status.SCHEDULED, attempt=1, retries=1, max_retries=3)
        now = timezone.now()
        FailedAttempt.objects.create(job=retry, attempt=1, error_class="ValueError", error="x", end_time=now)
        assert "will be tried again (retry 1 of 3)" in why(mate, retry)
        PausedJobType.objects.create(source_type="reports.datareport", source_method="execute")
        assert "Jobs of this kind are paused" in why(mate, make_job(tenant))

    def test_errors_are_told_as_over_http(self, mate, tenant):
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

    def test_secrets_among_the_arguments_are_masked_and_markup_is_text(self, mate, tenant, job):
        assert "hunter2" not in page(mate, f"{LIST}{job.pk}/")
        assert "2004" in page(mate, f"{LIST}{job.pk}/")
        odd = make_job(tenant, Status.RUNNING, progress=0.25, progress_note="<b>a\x1b[2J", user_key="<i>")
        for text in (page(mate, f"{LIST}{odd.pk}/"), page(mate)):
            assert "<b>a" not in text and "<i>" not in text and "\x1b" not in text
            assert 'value="0.250"' in text

    def test_nothing_of_machines_or_of_others_is_shown(self, mate, tenant, register):
        worker = register(concurrency=1)
        job = make_job(tenant, Status.RUNNING, worker=worker)
        make_job(TenantFactory(name="Stranger Inc."))
        for path in (LIST, f"{LIST}{job.pk}/", f"{LIST}{make_job(tenant).pk}/"):
            text = page(mate, path)
            assert str(worker) not in text and "pool" not in text and "Stranger" not in text

    def test_a_job_in_the_history_has_its_page_and_its_place_in_the_list(self, mate, tenant):
        job = make_job(tenant, Status.ERROR, end_time=timezone.now() - timedelta(days=2), last_error="ValueError: x")
        assert Archive().run() == 1
        assert "It failed." in why(mate, job)
        assert "Failed" in row(mate, job)

    def test_a_result_is_linked_while_it_is_kept(self, mate, tenant):
        now = timezone.now()
        kept = make_job(tenant, Status.SUCCESS, result_expires_at=now + timedelta(hours=1))
        gone = make_job(tenant, Status.SUCCESS, result_expires_at=now - timedelta(hours=1))
        assert f"/api/v1/jobs/{kept.pk}/result" in page(mate, f"{LIST}{kept.pk}/")
        assert "/result" not in page(mate, f"{LIST}{gone.pk}/")


class TestCancel:
    def test_a_mate_cancels_a_waiting_job_and_asks_a_running_one_to_stop(self, mate, tenant, job):
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
            (mate.user.username, "requested", str(running.pk), tenant.pk, tenant.pk),
        ]

    def test_a_job_that_had_ended_stays_as_it_is(self, mate, tenant):
        ended = make_job(tenant, Status.SUCCESS)
        assert mate.post(f"{LIST}{ended.pk}/cancel").status_code == 303
        assert "had already ended" in page(mate)
        assert not Change.objects.exists()

    @pytest.mark.parametrize(
        "address", ["https://evil.example/jobs/", "//evil.example/jobs/", "/admin/", "/jobs/\\evil"]
    )
    def test_it_leads_back_to_these_pages_and_nowhere_else(self, mate, job, address):
        response = mate.post(f"{LIST}{job.pk}/cancel", {"next": address})
        assert response["Location"] in ("/jobs/", "/jobs/%5Cevil")


def test_the_page_of_the_operators_stays_closed_to_members(mate):
    assert mate.get("/ops/").status_code == 404


def test_the_number_of_newer_jobs_is_bounded(mate, tenant, job, monkeypatch):
    monkeypatch.setattr(shown, "MOST_NEWER", 1)
    for _ in range(2):
        make_job(tenant)
    assert "1 newer" in page(mate, f"{LIST}?before={job.pk + 1}")
