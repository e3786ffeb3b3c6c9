"""Pausing and resuming job types from the admin: the engine does it, and what it held or released is said."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission

from jobs.engine.pause import resume_job_type
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Job, PausedJobType
from tests.factories import TenantFactory, UserFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)  # pausing waits for the commit of the page
PAUSED = "/admin/jobs/pausedjobtype/"


def pause(client, job_type):
    return client.post(f"{PAUSED}add/", {"job_type": job_type})


def resume(client, *rows):
    form = {"action": "resume", "_selected_action": [row.pk for row in rows]}
    return client.post(PAUSED, form, follow=True).content.decode()


def test_pausing_holds_the_waiting_jobs(admin_client):
    waiting, running = (make_job(TenantFactory(), status) for status in (Status.CREATED, Status.RUNNING))
    assert pause(admin_client, "reports.datareport.execute").status_code == 302
    waiting.refresh_from_db()
    running.refresh_from_db()
    assert (waiting.status, waiting.due_at, running.status) == ("scheduled", HELD_UNTIL, "running")
    page = admin_client.get(PAUSED).content.decode()
    assert "Paused reports.datareport.execute: 1 job held." in page
    assert LogEntry.objects.get().change_message == "Paused."


def test_resuming_releases_them(admin_client):
    job = make_job(TenantFactory())
    pause(admin_client, "reports.datareport.execute")
    page = resume(admin_client, PausedJobType.objects.get())
    assert "Resumed reports.datareport.execute: 1 job released." in page
    assert Job.objects.get(pk=job.pk).status == "created"
    assert not PausedJobType.objects.exists()


def test_one_whose_code_was_removed_is_resumed_too(admin_client):
    removed = PausedJobType.objects.create(source_type="reports.datareport", source_method="removed")
    job = make_job(TenantFactory(), Status.SCHEDULED, source_method="removed", due_at=HELD_UNTIL)
    assert "Resumed reports.datareport.removed: 1 job released." in resume(admin_client, removed)
    assert Job.objects.get(pk=job.pk).status == "created"


def test_one_that_somebody_else_resumed_meanwhile_is_said_to_be(admin_client, monkeypatch):
    pause(admin_client, "reports.datareport.execute")

    def late(*job_type):
        resume_job_type(*job_type)
        return resume_job_type(*job_type)

    monkeypatch.setattr("jobs.console.admin.paused.resume_job_type", late)
    page = resume(admin_client, PausedJobType.objects.get())
    assert "reports.datareport.execute is not paused; paused: none." in page


@pytest.mark.parametrize("job_type", ["", "reports.datareport.delete", "auth.user.execute", "nonsense"])
def test_what_is_no_job_type_is_refused(admin_client, job_type):
    response = pause(admin_client, job_type)
    assert "job_type" in response.context["adminform"].form.errors
    assert not PausedJobType.objects.exists()


def test_what_is_paused_is_not_offered_again(admin_client):
    offered = b'value="reports.datareport.execute"'
    assert offered in admin_client.get(f"{PAUSED}add/").content
    pause(admin_client, "reports.datareport.execute")
    assert offered not in admin_client.get(f"{PAUSED}add/").content


def test_a_row_is_neither_changed_nor_deleted_by_hand(admin_client):
    pause(admin_client, "reports.datareport.execute")
    row = PausedJobType.objects.get()
    assert admin_client.post(f"{PAUSED}{row.pk}/change/", {"job_type": "x"}).status_code == 403
    assert admin_client.post(f"{PAUSED}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert "delete_selected" not in admin_client.get(PAUSED).content.decode()
    assert PausedJobType.objects.exists()


def test_each_takes_its_permission(client, admin_client):
    pause(admin_client, "reports.datareport.execute")
    user = UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_pausedjobtype"))
    client.force_login(user)
    assert client.get(PAUSED).status_code == 200
    assert pause(client, "reports.datareport.execute").status_code == 403
    resume(client, PausedJobType.objects.get())
    assert PausedJobType.objects.exists()
