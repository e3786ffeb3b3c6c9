"""The operators' pages of jobs, queues and workers: what they show, and the little that they may change."""

import re
import uuid
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console.admin.jobs import JobAdmin
from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, FailedAttempt, Job, Queue, Worker
from tests.factories import QueueFactory, TenantFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db
JOBS = "/admin/jobs/job/"


@pytest.fixture
def looker() -> Client:
    """An operator who may look at jobs, and no more."""
    user = UserFactory(is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_job"))
    client = Client()
    client.force_login(user)
    return client


def shown(response):
    """The ids of the jobs on the page."""
    return [job.pk for job in response.context["cl"].result_list]


def test_the_list_shows_all_tenants_jobs_newest_first(admin_client):
    made = [make_job(TenantFactory()).pk for _ in range(3)]
    assert shown(admin_client.get(JOBS)) == made[::-1]


@pytest.mark.parametrize("status", Status)
def test_every_status_has_its_label_and_its_filter(admin_client, status):
    wanted = make_job(TenantFactory(), status).pk
    make_job(TenantFactory(), Status.ERROR if status != Status.ERROR else Status.DEAD)
    response = admin_client.get(f"{JOBS}?status={status}")
    assert shown(response) == [wanted]
    assert f">\n\n{status}\n<" in response.content.decode()


def test_jobs_are_found_by_id_source_and_user(admin_client):
    tenant = TenantFactory()
    found = make_job(tenant, source_type="shop.order", source_id="42", user_key="anna").pk
    make_job(tenant)
    for typed in (found, "shop.order", "Shop.Order", "shop.order:42", "user:anna"):
        assert shown(admin_client.get(JOBS, {"q": typed})) == [found], typed
    for typed in (10**30, "shop", "shop.order:4", "user:ann", "user:"):
        assert found not in shown(admin_client.get(JOBS, {"q": typed})), typed


def test_the_list_narrows_by_queue_tenant_and_day(admin_client):
    tenant, queue = TenantFactory(), QueueFactory(name="critical")
    found = make_job(tenant, queue=queue).pk
    old = make_job(tenant, created_at=timezone.now() - timedelta(days=40)).pk
    assert shown(admin_client.get(f"{JOBS}?queue__id__exact={queue.pk}")) == [found]
    assert shown(admin_client.get(f"{JOBS}?tenant__id__exact={tenant.pk}")) == [old, found]
    recent = (timezone.now() - timedelta(days=7)).date()
    assert shown(admin_client.get(f"{JOBS}?created_at__gte={recent}+00:00:00%2B00:00")) == [found]


def test_no_page_counts_or_sorts_the_whole_table(admin_client):
    for _ in range(3):
        make_job(TenantFactory())
    for query in ("", "?status=error", "?q=user:anna", "?o=6", "?all="):
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(JOBS + query).status_code == 200
        *bounds, of_jobs = [q["sql"] for q in queries if 'FROM "all_jobs"' in q["sql"]]
        assert len(bounds) == ("?q" in query or "status" in query)  # the oldest job that a filter looks at
        for sql in (*bounds, of_jobs):
            assert "COUNT(" not in sql
            assert re.search(r'ORDER BY ("all_jobs"."id"|1) DESC LIMIT', sql), sql


def test_a_filter_says_how_far_it_looked(admin_client, monkeypatch):
    monkeypatch.setattr(JobAdmin, "newest_looked_at", 2)
    tenant = TenantFactory()
    old, *newer = (make_job(tenant, Status.ERROR).pk for _ in range(3))
    page = admin_client.get(f"{JOBS}?status=error")
    assert shown(page) == newer[::-1]
    assert f"Looked at the newest 2, down to number {newer[0]}" in page.content.decode()
    assert shown(admin_client.get(f"{JOBS}?q={old}")) == [old], "a number is found however old it is"
    assert "Looked at" not in admin_client.get(JOBS).content.decode()


def test_a_job_is_only_looked_at(admin_client):
    job = make_job(TenantFactory(), Status.RUNNING)
    page = admin_client.get(f"{JOBS}{job.pk}/change/")
    assert page.status_code == 200
    assert b'name="_save"' not in page.content
    assert admin_client.get(f"{JOBS}add/").status_code == 403
    assert admin_client.post(f"{JOBS}{job.pk}/change/", {"status": "success"}).status_code == 403
    assert admin_client.post(f"{JOBS}{job.pk}/delete/", {"post": "yes"}).status_code == 403
    job.refresh_from_db()
    assert job.status == "running"


def test_a_failed_job_shows_each_attempt_with_its_traceback(admin_client):
    job = make_job(TenantFactory(), Status.ERROR, last_error="ValueError: <b>no</b>")
    for attempt in (1, 2):
        FailedAttempt.objects.create(
            job=job,
            attempt=attempt,
            error_class="ValueError",
            error="<b>no</b>",
            traceback=f"<line {attempt}>",
            end_time=timezone.now(),
        )
    page = admin_client.get(f"{JOBS}{job.pk}/change/").content.decode()
    assert page.index("&lt;line 1&gt;") < page.index("&lt;line 2&gt;")
    assert "<b>no</b>" not in page


def cancel(client, *jobs):
    ids = [job.pk for job in jobs]
    return client.post(JOBS, {"action": "cancel_jobs", "_selected_action": ids}, follow=True)


def test_the_action_cancels_what_has_not_started_and_leaves_the_rest(admin_client):
    jobs = {status: make_job(TenantFactory(), status) for status in Status}
    page = cancel(admin_client, *jobs.values()).content.decode()
    after = dict(Job.objects.values_list("pk", "status"))
    for status, job in jobs.items():
        untouched = status == Status.RUNNING or status in FINAL
        assert after[job.pk] == (status if untouched else "cancelled")
    assert Job.objects.get(cancel_requested_at__isnull=False) == jobs[Status.RUNNING]
    assert "Cancelled 3 jobs." in page
    assert "Asked 1 job to stop" in page
    assert "Too late for 4 jobs" in page
    assert LogEntry.objects.filter(change_message="Cancelled.").count() == 3
    assert LogEntry.objects.get(change_message="Asked to stop.").get_edited_object() == jobs[Status.RUNNING]


def test_the_action_revives_what_ended_badly_and_leaves_the_rest(admin_client):
    jobs = {status: make_job(TenantFactory(), status) for status in Status}
    form = {"action": "revive_jobs", "_selected_action": [job.pk for job in jobs.values()]}
    page = admin_client.post(JOBS, form, follow=True).content.decode()
    after = dict(Job.objects.values_list("pk", "status"))
    bad = {Status.ERROR, Status.DEAD, Status.CANCELLED}
    assert {status: after[job.pk] for status, job in jobs.items()} == {s: "created" if s in bad else s for s in Status}
    assert "Revived 3 jobs." in page
    assert "Skipped 5 jobs" in page


def test_a_held_job_says_that_its_type_is_paused_and_no_date(admin_client):
    job = make_job(TenantFactory(), Status.SCHEDULED, due_at=HELD_UNTIL)
    make_job(TenantFactory(), Status.SCHEDULED)
    assert shown(admin_client.get(f"{JOBS}?status=held")) == [job.pk]
    page = admin_client.get(f"{JOBS}{job.pk}/change/").content.decode()
    assert "its job type is paused" in page
    assert "9999" not in page


@pytest.mark.parametrize(("max_retries", "told"), [(None, "2"), (5, "2 of 5")])
def test_a_job_shows_its_retries_and_that_it_was_asked_to_stop(admin_client, max_retries, told):
    asked_at = timezone.now()
    job = make_job(TenantFactory(), Status.RUNNING, retries=2, max_retries=max_retries, cancel_requested_at=asked_at)
    response = admin_client.get(f"{JOBS}{job.pk}/change/")
    assert response.context["adminform"].model_admin.tries(job) == told
    page = response.content.decode()
    assert f">{told}<" in re.sub(r"\s*([<>])\s*", r"\1", page)
    assert "asked to stop" in page
    assert f"{asked_at:%H:%M:%S}" in page


@pytest.mark.parametrize("status", Status)
def test_the_badge_of_a_jobs_page_has_the_colour_of_the_list(admin_client, status):
    job = make_job(TenantFactory(), status)
    label = r'<span class="inline-block[^>]*text-(\w+)-700[^>]*>\s*' + status
    in_list = re.search(label, admin_client.get(JOBS).content.decode())
    on_page = re.search(label, admin_client.get(f"{JOBS}{job.pk}/change/").content.decode())
    assert in_list and on_page and in_list[1] == on_page[1]


def test_who_may_only_look_cancels_nothing(looker):
    job = make_job(TenantFactory())
    assert shown(looker.get(JOBS)) == [job.pk]
    assert b"cancel_jobs" not in looker.get(JOBS).content
    cancel(looker, job)
    job.refresh_from_db()
    assert job.status == "created"


def test_a_link_cancels_nothing(admin_client):
    """A GET is what a foreign page can make an operator's browser send."""
    job = make_job(TenantFactory())
    admin_client.get(JOBS, {"action": "cancel_jobs", "_selected_action": job.pk})
    job.refresh_from_db()
    assert job.status == "created"


def test_a_customers_login_sees_nothing_of_the_admin(mate):
    for page in ("", "jobs/job/", "jobs/queue/", "jobs/worker/bootstrap/", "tenants/tenant/"):
        assert mate.get(f"/admin/{page}").status_code == 302


def test_queues_are_edited_in_the_list(admin_client):
    Queue.objects.all().delete()
    queue = QueueFactory(name="mail")
    form = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-id": queue.pk,
        "form-0-weight": 3,
        "form-0-concurrency": 2,
        "form-0-default_timeout": "",
        "form-0-paused": "on",
        "_save": "Save",
    }
    assert admin_client.post("/admin/jobs/queue/", form).status_code == 302
    queue.refresh_from_db()
    assert (queue.weight, queue.concurrency, queue.default_timeout, queue.paused) == (3, 2, None, True)


@pytest.mark.parametrize("weight", ["0", "-1", "", "x"])
def test_a_queue_without_weight_is_refused(admin_client, weight):
    response = admin_client.post("/admin/jobs/queue/add/", {"name": "mail", "pool": "default", "weight": weight})
    assert response.status_code == 200
    assert "weight" in response.context["adminform"].form.errors
    assert not Queue.objects.filter(name="mail").exists()


def test_a_queue_keeps_its_name_and_is_not_deleted(admin_client):
    queue = QueueFactory(name="mail")
    form = {"name": "post", "pool": "default", "weight": 2, "default_backoff": 10}
    assert admin_client.post(f"/admin/jobs/queue/{queue.pk}/change/", form).status_code == 302
    assert admin_client.post(f"/admin/jobs/queue/{queue.pk}/delete/", {"post": "yes"}).status_code == 403
    queue.refresh_from_db()
    assert (queue.name, queue.weight) == ("mail", 2)


@pytest.mark.parametrize(("rate", "field"), [({"rate_limit": 5}, "rate_window"), ({"rate_window": 60}, "rate_limit")])
def test_half_a_rate_limit_of_a_queue_is_refused_at_the_field_that_is_missing(admin_client, rate, field):
    form = {"name": "mail", "pool": "default", "weight": 1, "default_backoff": 10}
    response = admin_client.post("/admin/jobs/queue/add/", form | rate)
    assert list(response.context["adminform"].form.errors) == [field]
    assert not Queue.objects.filter(name="mail").exists()
    whole = {"rate_limit": 5, "rate_window": 60}
    assert admin_client.post("/admin/jobs/queue/add/", form | whole).status_code == 302
    assert "5 per 60 s" in admin_client.get("/admin/jobs/queue/").content.decode().replace("\N{NO-BREAK SPACE}", " ")


def test_workers_show_whether_they_live(admin_client):
    now, long_ago = timezone.now(), timezone.now() - timedelta(seconds=100 * settings.JOBS_BEAT_INTERVAL)
    for name, beat_at, gone_at in (("a", now, None), ("b", long_ago, None), ("c", now, now)):
        Worker.objects.create(
            id=uuid.uuid4(), name=name, pid=1, pool="default", concurrency=2, beat_at=beat_at, gone_at=gone_at
        )
    response = admin_client.get("/admin/jobs/worker/")
    admin = response.context["cl"].model_admin
    states = {worker.name: admin.state(worker) for worker in response.context["cl"].result_list}
    assert states == {"a": "live", "b": "silent", "c": "gone"}
    assert admin_client.get("/admin/jobs/worker/add/").status_code == 403


def test_arguments_that_look_like_secrets_are_masked(admin_client):
    job = make_job(TenantFactory(), args={"password": "hunter2", "region": "Grüße"})
    page = admin_client.get(f"{JOBS}{job.pk}/change/").content.decode()
    assert "hunter2" not in page
    assert "Grüße" in page
