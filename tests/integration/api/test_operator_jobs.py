"""Operators list, see, cancel and revive jobs of all tenants, and see tenants, queues and keys. No tenant does."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from jobs.engine.verbs.revive import discard
from jobs.lifecycle import Status
from jobs.models import Job
from tenants import auth
from tenants.models import Change
from tests.callers import program_of, staff
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db
OPERATOR = "/api/v1/operator"


@pytest.fixture
def operator(db):
    may = "view_job", "change_job", "view_queue", "view_tenantqueue", "view_apikey", "change_apikey"
    return program_of(staff(*may))


@pytest.fixture
def jobs(tenant):
    """Of two tenants, in two queues."""
    other = TenantFactory(slug="other")
    return [
        make_job(tenant, Status.CREATED, source_method="one"),
        make_job(other, Status.DEAD, last_error="ValueError: no such region"),
        make_job(other, Status.RUNNING, queue=QueueFactory(name="critical")),
    ]


def listed(operator, **query):
    response = operator.get(f"{OPERATOR}/jobs", query)
    assert response.status_code == 200, response.content
    return [job["id"] for job in response.json()["jobs"]]


def test_jobs_of_all_tenants_are_listed_newest_first(operator, jobs):
    assert listed(operator) == [job.pk for job in reversed(jobs)]
    told = operator.get(f"{OPERATOR}/jobs").json()["jobs"][1]
    assert (told["tenant"], told["last_error"]) == ("other", "ValueError: no such region")
    assert "args" not in told


@pytest.mark.parametrize(
    ("query", "which"),
    [
        ({"tenant": "other"}, [2, 1]),
        ({"queue": "critical"}, [2]),
        ({"status": "dead"}, [1]),
        ({"source_method": "one"}, [0]),
        ({"source_type": "no.such"}, []),
        ({"tenant": "other", "status": "running"}, [2]),
    ],
)
def test_the_list_of_jobs_is_filtered(operator, jobs, query, which):
    assert listed(operator, **query) == [jobs[n].pk for n in which]


def test_the_list_has_the_filters_of_the_search(operator, jobs):
    waits, dead, runs = jobs
    now = timezone.now()
    ago = {seconds: now - timedelta(seconds=seconds) for seconds in (1, 60, 90, 100, 200)}
    Job.objects.filter(pk=dead.pk).update(
        attempt=3, retries=2, waited_since=ago[200], start_time=ago[100], end_time=ago[90], created_at=ago[200]
    )
    Job.objects.filter(pk=runs.pk).update(attempt=1, waited_since=ago[60], start_time=ago[60])
    Job.objects.filter(pk=waits.pk).update(ready_at=ago[1], attempt=0)
    names = {waits.pk: "waits", dead.pk: "dead", runs.pk: "runs"}
    expected = {
        ("ran", ">30s"): "runs",
        ("ran", "<30s"): "dead",
        ("waited", ">1m"): "dead",
        ("waited", "<1m"): "runs waits",
        ("attempt", ">1"): "dead",
        ("attempt", "1"): "runs",
        ("retried", "yes"): "dead",
        ("error", "ValueError"): "dead",
        ("worker", "nobody"): "",
        ("since", "3m"): "runs waits",
        ("until", "3m"): "dead",
        ("ended_since", "2m"): "dead",
        ("ended_until", "2m"): "",
    }
    found = {(name, value): listed(operator, **{name: value}) for name, value in expected}
    assert {asked: " ".join(sorted(names[pk] for pk in ids)) for asked, ids in found.items()} == expected
    first = operator.get(f"{OPERATOR}/jobs", {"limit": 1, "waited": "<1m"}).json()
    assert [job["id"] for job in operator.get(first["next"]).json()["jobs"]] == [waits.pk], "`next` keeps them"
    for name, value, told in (("ran", "10s", "like >10s"), ("attempt", ">x", "like >1"), ("since", "x", "14:00")):
        refused = operator.get(f"{OPERATOR}/jobs", {name: value})
        [error] = refused.json()["errors"]
        assert (refused.status_code, error["field"], told in error["message"]) == (422, name, True)


def test_a_page_tells_where_the_next_is(operator, jobs):
    first = operator.get(f"{OPERATOR}/jobs", {"limit": 1, "tenant": "other"}).json()
    second = operator.get(first["next"]).json()
    assert [page["jobs"][0]["id"] for page in (first, second)] == [jobs[2].pk, jobs[1].pk]
    assert second["next"] is None


@pytest.mark.parametrize("query", ["foo=1", "status=no", "limit=0", "tenant=%00"])
def test_an_unfit_filter_is_refused(operator, query):
    assert operator.get(f"{OPERATOR}/jobs?{query}").status_code == 422


def test_a_job_is_seen_whole_cancelled_and_revived_and_both_are_noted(operator, jobs):
    url = f"{OPERATOR}/jobs/{jobs[0].pk}"
    assert operator.get(url).json().items() >= {"tenant": jobs[0].tenant.slug, "args": {}, "stats": {}}.items()
    cancelled = operator.post(f"{url}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert operator.post(f"{url}/cancel").status_code == 409
    assert operator.post(f"{url}/revive").json()["status"] == "created"
    assert operator.post(f"{url}/revive").status_code == 409
    assert operator.post(f"{OPERATOR}/jobs/{jobs[2].pk}/cancel").status_code == 202
    entries = Change.objects.order_by("pk").values_list("who", "subject_id", "verb")
    assert [(who, int(pk), verb) for who, pk, verb in entries] == [
        (operator.user.username, jobs[0].pk, "cancelled"),
        (operator.user.username, jobs[0].pk, "revived"),
        (operator.user.username, jobs[2].pk, "asked to stop"),
    ]


def test_a_discarded_job_is_revived_by_operators_only(operator, owner, tenant):
    job = make_job(tenant, Status.DEAD)
    discard(job.pk)
    assert owner.post(f"/api/v1/jobs/{job.pk}/revive").status_code == 409
    assert operator.post(f"{OPERATOR}/jobs/{job.pk}/revive").status_code == 202


def test_a_job_that_cannot_be_is_not_found(operator):
    for number in (0, -1, 2**63, 10**40):
        assert operator.get(f"{OPERATOR}/jobs/{number}").status_code == 404
        for verb in ("cancel", "revive"):
            assert operator.post(f"{OPERATOR}/jobs/{number}/{verb}").status_code == 404


def test_tenants_and_queues_are_seen(operator, tenant):
    bare = TenantFactory(slug="aaa", queue=None)
    shown = operator.get(f"{OPERATOR}/tenants").json()
    assert [one["tenant"] for one in shown] == [bare.slug, tenant.slug]
    assert (shown[0]["num_slots"], shown[1]["num_slots"]) == (0, 2)
    assert [one["tenant"] for one in operator.get(f"{OPERATOR}/tenants?after=aaa").json()] == [tenant.slug]
    QueueFactory(name="critical")
    assert operator.get(f"{OPERATOR}/queues/critical").json()["name"] == "critical"
    assert operator.get(f"{OPERATOR}/queues/nonsense").status_code == 404


def test_keys_are_seen_without_their_secret_and_revoked(operator, tenant, owner):
    key, token = auth.issue(tenant, "leaked")
    response = operator.get(f"{OPERATOR}/keys", {"tenant": tenant.slug})
    told = {one["name"]: one for one in response.json()}
    assert set(told) == {"test", "leaked"}
    assert token.partition(".")[2] not in response.content.decode()
    assert key.digest not in response.content.decode()
    leaked = Client(headers={"Authorization": f"Bearer {token}"})
    assert leaked.get("/api/v1/jobs").status_code == 200
    assert operator.post(f"{OPERATOR}/keys/{key.prefix}/revoke").json()["revoked_at"] is not None
    assert leaked.get("/api/v1/jobs").status_code == 401
    assert owner.get("/api/v1/jobs").status_code == 200
    assert operator.post(f"{OPERATOR}/keys/nonsense/revoke").status_code == 404


EVERYTHING = [
    ("GET", "/jobs"), ("GET", "/jobs/1"), ("POST", "/jobs/1/cancel"), ("POST", "/jobs/1/revive"),
    ("GET", "/tenants"), ("GET", "/queues/default"), ("GET", "/keys"), ("POST", "/keys/x/revoke"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), EVERYTHING)
def test_no_tenant_and_no_operator_without_the_permission(owner, mate, stranger, method, path):
    for caller, status in ((owner, 401), (stranger, 401), (mate, 403), (program_of(staff("view_group")), 403)):
        assert caller.generic(method, f"{OPERATOR}{path}").status_code == status
