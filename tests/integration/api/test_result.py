"""GET /api/v1/jobs/{id}/result: the value, or exactly why there is none."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache

from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL
from jobs.store import results
from tests.factories import make_job

pytestmark = pytest.mark.django_db
AN_HOUR = timedelta(hours=1)


def finished(tenant, value, ttl=AN_HOUR, keep=True):
    """A job that succeeded with that value, kept until then."""
    job = make_job(tenant, Status.SUCCESS, result_expires_at=datetime.now(UTC) + ttl)
    if keep:
        job.result_bytes = results.keep(job, results.as_text(value), ttl=60)
        job.save(update_fields=["result_bytes"])
    return job


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


@pytest.mark.parametrize(
    "value", [{"columns": ["n"], "rows": [[1], [2.5]]}, [], None, 0, False, "", "müsli 🥣", 10**20]
)
def test_the_value_is_what_the_job_returned(owner, mate, tenant, value):
    url = f"/api/v1/jobs/{finished(tenant, value).pk}/result"
    for caller in (owner, mate):
        response = caller.get(url)
        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        assert response.json() == value


def test_a_table_is_a_file_for_spreadsheets_that_runs_nothing(owner, stranger, tenant):
    job = finished(tenant, {"columns": ["name", "n"], "rows": [["=cmd()", -1], ["a, b", None]]})
    url = f"/api/v1/jobs/{job.pk}/result?format=csv"
    response = owner.get(url)
    assert response.content.decode() == '"name","n"\r\n"\'=cmd()",-1\r\n"a, b",""\r\n'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == f'attachment; filename="job-{job.pk}.csv"'
    assert stranger.get(url).status_code == 404


@pytest.mark.parametrize("value", [[], 1, {"columns": 1, "rows": []}, {"columns": [], "rows": [1]}])
def test_a_value_that_is_no_table_is_no_csv(owner, tenant, value):
    response = owner.get(f"/api/v1/jobs/{finished(tenant, value).pk}/result?format=csv")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "format")


def test_the_job_says_where_its_result_is(owner, tenant):
    job = finished(tenant, [1])
    url = owner.get(f"/api/v1/jobs/{job.pk}").json()["result_url"]
    assert owner.get(url).json() == [1]


@pytest.mark.parametrize("status", sorted(set(Status) - FINAL))
def test_a_job_that_has_not_ended_has_no_result_yet(owner, tenant, status):
    response = owner.get(f"/api/v1/jobs/{make_job(tenant, status).pk}/result")
    assert response.status_code == 202
    assert int(response["Retry-After"]) >= 1
    assert response.json()["status"] == status


def test_a_held_job_has_no_result_yet(owner, tenant):
    response = owner.get(f"/api/v1/jobs/{make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL).pk}/result")
    assert (response.status_code, response.json()["held"]) == (202, True)


def test_a_job_that_was_asked_to_stop_has_not_ended(owner, tenant):
    job = make_job(tenant, Status.RUNNING, cancel_requested_at=datetime.now(UTC))
    assert owner.get(f"/api/v1/jobs/{job.pk}/result").status_code == 202


@pytest.mark.parametrize("status", sorted(FINAL - {Status.SUCCESS}))
def test_a_job_that_ended_badly_says_how(owner, tenant, status):
    job = make_job(tenant, status, last_error="ReportFailed: no such column")
    response = owner.get(f"/api/v1/jobs/{job.pk}/result")
    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    assert status in response.json()["detail"]
    assert "ReportFailed: no such column" in response.json()["detail"]


@pytest.mark.parametrize("status", sorted(FINAL - {Status.SUCCESS}))
def test_a_failed_job_without_an_error_is_refused_by_its_status(owner, tenant, status):
    response = owner.get(f"/api/v1/jobs/{make_job(tenant, status).pk}/result")
    assert response.status_code == 409
    assert response.json()["detail"].endswith(f"{status}.")


def test_a_result_that_has_expired_is_gone(owner, tenant):
    job = finished(tenant, [1], ttl=-AN_HOUR, keep=False)
    response = owner.get(f"/api/v1/jobs/{job.pk}/result")
    assert response.status_code == 410
    assert "kept until" in response.json()["detail"]
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["result_url"] is None
    nothing = finished(tenant, None, ttl=-AN_HOUR)  # by the clock of this machine, which may be ahead
    assert owner.get(f"/api/v1/jobs/{nothing.pk}/result").json() is None


def test_a_result_that_the_cache_lost_early_is_gone_too(owner, tenant):
    job = finished(tenant, [1], keep=False)
    response = owner.get(f"/api/v1/jobs/{job.pk}/result")
    assert response.status_code == 410
    assert "The result is not available" in response.json()["detail"]


def test_a_result_that_was_never_kept_is_gone(owner, tenant):
    response = owner.get(f"/api/v1/jobs/{make_job(tenant, Status.SUCCESS).pk}/result")
    assert response.status_code == 410
    assert "not kept" in response.json()["detail"]


def test_a_stranger_gets_no_result(stranger, tenant):
    job = finished(tenant, ["secret"])
    response = stranger.get(f"/api/v1/jobs/{job.pk}/result")
    assert response.status_code == 404
    assert b"secret" not in response.content
