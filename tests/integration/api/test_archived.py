"""A job in the history is found, listed, explained and revived like any other, by its owner and by nobody else."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.engine.upkeep.history import Archive
from jobs.lifecycle import Status
from jobs.models import ArchivedJob, FailedAttempt, Job
from jobs.reading import listing, queries
from jobs.reading.explain.explanation import explain
from tests.factories import make_job

pytestmark = pytest.mark.django_db
JOBS = "/api/v1/jobs"


@pytest.fixture
def archived(tenant) -> Job:
    """A job that failed two days ago."""
    job = make_job(
        tenant,
        Status.ERROR,
        end_time=timezone.now() - timedelta(days=2),
        args={"region": "EU"},
        last_error="TenantError: no region",
    )
    FailedAttempt.objects.create(
        job=job, attempt=1, error_class="TenantError", error="no region", traceback="line 7", end_time=job.end_time
    )
    return job


@pytest.fixture
def before(archived, owner) -> dict:
    """As its owner read it before it was archived."""
    answer = owner.get(f"{JOBS}/{archived.pk}").json()
    assert Archive().run() == 1
    return answer


def test_its_owner_reads_what_it_read_before(owner, mate, archived, before):
    for reader in (owner, mate):
        assert reader.get(f"{JOBS}/{archived.pk}").json() == before | {"wait_seconds": before["wait_seconds"]}


def test_a_stranger_reads_what_it_reads_of_none(stranger, archived, before):
    missing = stranger.get(f"{JOBS}/{10**9}")
    answer = stranger.get(f"{JOBS}/{archived.pk}")
    assert (answer.status_code, answer.json()) == (404, missing.json())
    assert stranger.post(f"{JOBS}/{archived.pk}/revive").status_code == 404
    assert stranger.post(f"{JOBS}/{archived.pk}/cancel").status_code == 404
    assert stranger.get(JOBS).json()["jobs"] == []
    assert ArchivedJob.objects.exists()


def test_an_archived_job_is_in_the_lists_of_its_owner(owner, archived, before):
    for query in ("", "?status=error", "?source_type=reports.datareport", "?source_method=execute", "?user="):
        assert [job["id"] for job in owner.get(JOBS + query).json()["jobs"]] == [archived.pk], query
    assert owner.get(f"{JOBS}?source_method=other").json() == {"jobs": [], "next": None}


def test_a_list_goes_on_where_the_page_stopped_looking(owner, tenant, archived, before, monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 2)
    for _ in range(3):
        make_job(tenant, Status.SUCCESS)
    first = owner.get(f"{JOBS}?status=error").json()
    assert first["jobs"] == []
    second = owner.get(first["next"]).json()
    assert [job["id"] for job in second["jobs"]] == [archived.pk]


def test_a_long_poll_of_it_ends_at_once(archived, before):
    assert queries.status(archived.tenant_id, archived.pk) is None, "nothing to wait for"


def test_an_archived_job_cannot_be_cancelled(owner, archived, before):
    response = owner.post(f"{JOBS}/{archived.pk}/cancel")
    assert (response.status_code, response.json()["detail"]) == (409, "The job has already ended as error.")


def test_its_owner_revives_it(owner, archived, before):
    response = owner.post(f"{JOBS}/{archived.pk}/revive")
    assert (response.status_code, response.json()["status"]) == (202, "created")
    assert owner.get(f"{JOBS}/{archived.pk}").json()["args"] == {"region": "EU"}


def test_an_archived_job_is_explained(archived, before):
    assert explain(archived.pk, tenant_id=archived.tenant_id).sentence.startswith("Failed at ")


def test_the_command_line_shows_and_lists_and_revives_it(archived, before, capsys):
    call_command("jobs", "show", str(archived.pk))
    assert "TenantError: no region" in capsys.readouterr().out
    call_command("jobs", "list", "--json")
    assert [job["id"] for job in json.loads(capsys.readouterr().out)["jobs"]] == [archived.pk]
    call_command("jobs", "revive", str(archived.pk))
    assert Job.objects.get().status == Status.CREATED


def test_the_command_line_erases_what_it_was_about(archived, before, capsys):
    call_command("jobs", "erase", "--tenant", archived.tenant.slug)
    said = capsys.readouterr().out
    assert f"Erased arguments, statistics, errors and users of {archived.tenant.slug}." in said
    assert "ended jobs       1" in said
    assert ArchivedJob.objects.get().args == {}


def test_an_operator_finds_it_on_the_pages(admin_client, archived, before):
    listed = admin_client.get("/ops/jobs/")
    assert str(archived.pk) in listed.content.decode()
    page = admin_client.get(f"/ops/jobs/{archived.pk}/").content.decode()
    assert "Attempt 1: TenantError" in page
    assert "line 7" in page
