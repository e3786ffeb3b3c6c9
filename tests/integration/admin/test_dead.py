"""The operators' page of dead letters: found by filters, revived and discarded by selection."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job
from tests.factories import QueueFactory, TenantFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db
DEAD = "/admin/jobs/deadletter/"


def dead_job(tenant=None, error_class="ValueError", **fields):
    job = make_job(tenant or TenantFactory(), Status.DEAD, last_error=f"{error_class}: no", **fields)
    FailedAttempt.objects.create(
        job=job, attempt=1, error_class=error_class, error="no", traceback="<line 7>", end_time=timezone.now()
    )
    return job


def shown(response):
    assert response.status_code == 200
    return [letter.pk for letter in response.context["cl"].result_list]


def act(client, action, *jobs):
    form = {"action": action, "_selected_action": [job.pk for job in jobs]}
    return client.post(DEAD, form, follow=True).content.decode()


def status_of(*jobs):
    return [Job.objects.get(pk=job.pk).status for job in jobs]


def test_only_the_dead_are_shown_latest_death_first(admin_client):
    now = timezone.now()
    late, early = dead_job(died_at=now), dead_job(died_at=now - timedelta(days=1))
    for status in set(Status) - {Status.DEAD}:
        make_job(TenantFactory(), status)
    assert shown(admin_client.get(DEAD)) == [late.pk, early.pk]
    assert b"ValueError: no" in admin_client.get(DEAD).content


def test_each_filter_narrows(admin_client):
    tenant, queue = TenantFactory(), QueueFactory(name="mail")
    wanted = dead_job(tenant, "TimeoutError", queue=queue, source_type="shop.order", source_method="send")
    dead_job(died_at=timezone.now() - timedelta(days=40))
    for query in (
        {"tenant__id__exact": tenant.pk},
        {"queue__id__exact": queue.pk},
        {"type": "shop.order.send"},
        {"error": "TimeoutError"},
        {"died_at__gte": f"{timezone.now() - timedelta(days=7):%Y-%m-%d} 00:00:00+00:00"},
    ):
        assert shown(admin_client.get(DEAD, query)) == [wanted.pk], query


def test_what_is_offered_is_what_died(admin_client):
    dead_job(error_class="TimeoutError", source_type="shop.order", source_method="send")
    make_job(TenantFactory(), Status.ERROR, source_type="shop.basket")
    page = admin_client.get(DEAD).content.decode()
    assert "?error=TimeoutError" in page
    assert "?type=shop.order.send" in page
    assert "shop.basket" not in page


def test_the_page_goes_by_the_index_of_the_dead(admin_client):
    dead = dead_job()
    for _ in range(200):
        make_job(dead.tenant, Status.SUCCESS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs")  # what another test has left says nothing of this one
    with CaptureQueriesContext(connection) as queries:
        admin_client.get(DEAD, {"error": "ValueError"})
    of_jobs = [q["sql"] for q in queries if 'FROM "jobs"' in q["sql"]]
    assert len(of_jobs) == 3  # the page, and what two filters offer
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # of one row it would read all
        for query in of_jobs:
            assert '"jobs"."died_at" IS NOT NULL' in query
            assert "COUNT(" not in query
            assert "LIMIT" in query
            cursor.execute(f"EXPLAIN {query}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert "jobs_dead" in plan, plan


def test_the_page_of_one_shows_its_failed_attempts(admin_client):
    page = admin_client.get(f"{DEAD}{dead_job().pk}/change/")
    assert page.status_code == 200
    assert b"&lt;line 7&gt;" in page.content
    assert b'name="_save"' not in page.content


def test_a_selection_is_revived(admin_client):
    first, second, left = (dead_job() for _ in range(3))
    page = act(admin_client, "revive_jobs", first, second)
    assert status_of(first, second, left) == ["created", "created", "dead"]
    assert "Revived 2 jobs." in page
    assert {entry.get_edited_object() for entry in LogEntry.objects.all()} == {first, second}


def test_a_selection_is_discarded(admin_client):
    job, left = dead_job(), dead_job()
    page = act(admin_client, "discard_jobs", job)
    assert status_of(job, left) == ["cancelled", "dead"]
    assert "Discarded 1 job." in page
    assert LogEntry.objects.get().change_message == "Discarded."


def test_what_was_revived_meanwhile_is_not_discarded(admin_client):
    job = dead_job()
    Job.objects.filter(pk=job.pk).update(status="error", died_at=None)
    act(admin_client, "discard_jobs", job)
    assert status_of(job) == ["error"]


@pytest.mark.parametrize("action", ["revive_jobs", "discard_jobs"])
def test_who_may_only_look_changes_nothing(client, action):
    job, user = dead_job(), UserFactory(is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    client.force_login(user)
    assert shown(client.get(DEAD)) == [job.pk]
    assert action not in client.get(DEAD).content.decode()
    act(client, action, job)
    assert status_of(job) == ["dead"]
    user.user_permissions.add(Permission.objects.get(codename="change_deadletter"))
    act(client, action, job)
    assert status_of(job) != ["dead"]
