"""GET /api/v1/jobs and /jobs/{id}: what a tenant sees of its jobs, and a stranger does not."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from jobs.http.inputs import State
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, FailedAttempt, Job
from jobs.reading.listing import HELD
from tests.factories import make_job

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def ids(response):
    return [job["id"] for job in response.json()["jobs"]]


def test_a_job_tells_its_whole_story(owner, mate, tenant):
    made = make_job(
        tenant,
        Status.SUCCESS,
        args={"region": "EU"},
        user_key="anna",
        sequence="acct-7",
        priority=3,
        retries=2,
        max_retries=5,
        crashes=1,
        created_at=NOON,
        waited_since=NOON + timedelta(seconds=0.5),
        own_until=NOON + timedelta(seconds=0.75),
        queued_at=NOON + timedelta(seconds=1),
        start_time=NOON + timedelta(seconds=2),
        end_time=NOON + timedelta(seconds=5),
        progress=1.0,
        progress_note="400 rows",
        stats={"rows": 400},
        peak_memory=81,
        result_bytes=1234,
    )
    job = owner.get(f"/api/v1/jobs/{made.pk}").json()
    assert job == {
        "id": made.pk,
        "status": "success",
        "source_type": "reports.datareport",
        "source_id": "1",
        "source_method": "execute",
        "args": {"region": "EU"},
        "queue": "default",
        "priority": 3,
        "user": "anna",
        "batch": None,
        "starts": None,
        "attempt": 1,
        "retries": 2,
        "max_retries": 5,
        "crashes": 1,
        "created_at": "2026-03-01T12:00:00Z",
        "due_at": None,
        "expires_at": None,
        "held": False,
        "queued_at": "2026-03-01T12:00:01Z",
        "start_time": "2026-03-01T12:00:02Z",
        "end_time": "2026-03-01T12:00:05Z",
        "cancel_requested_at": None,
        "wait_seconds": 2.0,
        "waited": 1.5,
        "waited_own": 0.25,
        "waited_for_process": 1.25,
        "run_seconds": 3.0,
        "worker": str(made.worker),
        "peak_memory": 81,
        "result_bytes": 1234,
        "progress": 1.0,
        "progress_note": "400 rows",
        "stats": {"rows": 400},
        "rows": 400,
        "last_error": "",
        "reason": None,
        "sequence": "acct-7",
        "result_url": None,
    }
    assert mate.get(f"/api/v1/jobs/{made.pk}").json() == job


@pytest.mark.parametrize("status", Status)
def test_a_job_of_every_status_can_be_read(owner, tenant, status):
    job = owner.get(f"/api/v1/jobs/{make_job(tenant, status).pk}").json()
    assert job["status"] == status


def test_a_held_job_is_held_and_the_moment_that_never_comes_is_not_told(owner, tenant):
    response = owner.get(f"/api/v1/jobs/{make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL).pk}")
    assert response.json().items() >= {"status": "scheduled", "held": True, "due_at": None}.items()
    assert b"9999" not in response.content
    due = owner.get(f"/api/v1/jobs/{make_job(tenant, Status.SCHEDULED, due_at=NOON).pk}").json()
    assert due.items() >= {"held": False, "due_at": "2026-03-01T12:00:00Z"}.items()


def test_waiting_and_running_times_grow_until_they_end(owner, tenant):
    a_minute_ago = datetime.now(UTC) - timedelta(minutes=1)
    waiting = make_job(tenant, Status.CREATED, created_at=a_minute_ago)
    running = make_job(tenant, Status.RUNNING, created_at=a_minute_ago, start_time=a_minute_ago)
    waiting, running = (owner.get(f"/api/v1/jobs/{job.pk}").json() for job in (waiting, running))
    assert waiting["wait_seconds"] >= 60
    assert waiting["run_seconds"] is None
    assert running["run_seconds"] >= 60
    assert running["wait_seconds"] == 0


def test_a_failed_job_tells_its_error_but_no_traceback(owner, tenant):
    made = make_job(tenant, Status.ERROR, last_error="ValueError: no such region")
    FailedAttempt.objects.create(
        job=made, attempt=1, error_class="ValueError", error="x", traceback="SECRET LINE", end_time=NOON
    )
    response = owner.get(f"/api/v1/jobs/{made.pk}")
    assert response.json()["last_error"] == "ValueError"
    assert b"SECRET LINE" not in response.content


@pytest.mark.parametrize("path", ["", "/result", "?wait=5"])
def test_a_stranger_sees_no_job_and_no_sign_of_it(stranger, tenant, path):
    made = make_job(tenant, Status.SUCCESS)
    url = f"/api/v1/jobs/{made.pk}{path}"
    existing = stranger.get(url, headers={"X-Request-ID": "same"})
    made.delete()
    missing = stranger.get(url, headers={"X-Request-ID": "same"})
    assert existing.status_code == missing.status_code == 404
    assert existing.content == missing.content
    assert existing.headers == missing.headers


@pytest.mark.parametrize("job_id", [0, -1, 2**63, 10**40])
@pytest.mark.parametrize("path", ["", "/result"])
def test_an_id_that_cannot_be_is_not_found(owner, job_id, path):
    response = owner.get(f"/api/v1/jobs/{job_id}{path}")
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"


def test_the_list_shows_ones_own_jobs_newest_first(owner, mate, stranger, tenant):
    made = [make_job(tenant).pk for _ in range(3)]
    assert ids(owner.get("/api/v1/jobs")) == made[::-1]
    assert ids(mate.get("/api/v1/jobs")) == made[::-1]
    assert ids(stranger.get("/api/v1/jobs")) == []


def test_pages_follow_each_other_without_gap_or_repeat(owner, tenant):
    made = [make_job(tenant).pk for _ in range(7)]
    seen, page = [], "/api/v1/jobs?limit=3"
    while page:
        response = owner.get(page)
        seen.append(ids(response))
        make_job(tenant)  # what arrives meanwhile shifts nothing
        page = response.json()["next"]
    assert [len(page) for page in seen] == [3, 3, 1]
    assert [job for page in seen for job in page] == made[::-1]


def test_the_last_full_page_has_no_next(owner, tenant):
    for _ in range(2):
        make_job(tenant)
    assert owner.get("/api/v1/jobs?limit=2").json()["next"] is None


def test_filters_narrow_the_list_and_stay_on_the_next_page(owner, tenant):
    wanted = [make_job(tenant, Status.ERROR, source_id="7").pk for _ in range(2)]
    make_job(tenant, Status.SUCCESS, source_id="7")
    make_job(tenant, Status.ERROR, source_id="8")
    make_job(tenant, Status.ERROR, source_id="7", source_type="other.thing")
    query = "status=error&source_type=reports.datareport&source_id=7"
    first = owner.get(f"/api/v1/jobs?{query}&limit=1")
    assert ids(first) == wanted[1:]
    assert ids(owner.get(first.json()["next"])) == wanted[:1]


def test_held_jobs_are_found_by_their_state(owner, stranger, tenant):
    assert get_args(State) == (*Status, HELD)
    held = [make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL).pk for _ in range(2)]
    make_job(tenant, Status.SCHEDULED, due_at=NOON)
    first = owner.get("/api/v1/jobs?status=held&limit=1")
    assert ids(first) == held[1:]
    assert ids(owner.get(first.json()["next"])) == held[:1]
    assert ids(stranger.get("/api/v1/jobs?status=held")) == []


def test_a_filter_that_does_not_exist_is_refused_rather_than_ignored(owner, tenant):
    make_job(tenant)
    response = owner.get("/api/v1/jobs?stauts=error")
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "stauts"
    assert "status" in response.json()["errors"][0]["message"]


def test_before_the_largest_number_are_all(owner, tenant):
    made = make_job(tenant)
    assert ids(owner.get(f"/api/v1/jobs?before={10**30}")) == [made.pk]


def test_a_page_costs_four_queries_whatever_its_length(owner, tenant, django_assert_num_queries):
    for _ in range(5):
        make_job(tenant)
    owner.get("/api/v1/jobs")  # notes the key's last use
    with django_assert_num_queries(4):  # the key, the jobs, their tenant and their queues
        owner.get("/api/v1/jobs")


def test_reading_changes_nothing(owner, tenant):
    made = make_job(tenant, Status.RUNNING)
    before = Job.objects.values().get(pk=made.pk)
    owner.get(f"/api/v1/jobs/{made.pk}")
    owner.get(f"/api/v1/jobs/{made.pk}/result")
    assert Job.objects.values().get(pk=made.pk) == before


@pytest.mark.parametrize("status", Status)
def test_a_list_by_status_has_no_job_of_a_stranger(owner, stranger, tenant, status):
    own = make_job(tenant, status).pk
    assert [job["id"] for job in owner.get(f"/api/v1/jobs?status={status}").json()["jobs"]] == [own]
    assert stranger.get(f"/api/v1/jobs?status={status}").json()["jobs"] == []
