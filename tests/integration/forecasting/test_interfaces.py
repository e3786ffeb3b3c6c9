"""Every interface says the same of a start; and a tenant learns nothing of another's."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from jobs.models import Forecast
from tests.factories import TenantFactory, UserFactory, make_job
from tests.integration.cli.running import run

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)


@pytest.fixture
def job(tenant):
    return make_job(tenant)


@pytest.fixture
def operator() -> Client:
    client, user = Client(), UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_job"))
    client.force_login(user)
    return client


def forecast(job, p50=600.0, p90=900.0, not_before=300.0, reason=None):
    """What is said of the job, and of nobody else; returns the moment."""
    made_at = timezone.now()
    place = [(job.priority << 58) + job.pk, p50, p90, not_before, reason]
    key = {"tenant_id": job.tenant_id, "queue_id": job.queue_id, "user_key": ""}
    Forecast.objects.create(**key, made_at=made_at, reason="", places=[place])
    return made_at


def clock(moment) -> str:
    return f"{moment:%H:%M:%S}"


def told(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return " ".join(response.content.decode().split())


def test_all_say_the_same(job, owner, mate, operator):
    made_at = forecast(job)
    p50, p90 = made_at + 600 * SECOND, made_at + 900 * SECOND
    starts = owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]
    assert starts["p50"].startswith(f"{p50:%Y-%m-%dT%H:%M:%S}")
    assert (starts["reason"], starts["not_before"]) == (None, None)
    for client, address in ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/")):
        text = told(client, address)
        assert "Starts about <time" in text
        assert f"{clock(p50)}</time>, with 90 % by <time" in text
        assert f"{clock(p90)}</time>." in text
    assert "Starts about <time" in told(mate, "/jobs/")
    shown = run("jobs", "show", job.pk)
    assert f"about {p50:%Y-%m-%d %H:%M:%S} UTC, with 90 % by {p90:%Y-%m-%d %H:%M:%S} UTC" in shown
    assert json.loads(run("jobs", "show", job.pk, "--json"))["starts"]["p50"].startswith(f"{p50:%Y-%m-%dT%H:%M:%S}")


def test_all_say_less_where_no_more_holds(job, owner, mate, operator):
    made_at = forecast(job, None, None, 300.0, "unsure")
    starts = owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]
    assert (starts["p50"], starts["p90"], starts["reason"]) == (None, None, "unsure")
    assert starts["not_before"] is not None
    early = clock(made_at + 300 * SECOND)
    for client, address in ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/")):
        assert f"{early}</time>: such forecasts do not hold for now." in told(client, address)
    assert "hardly before" in run("jobs", "show", job.pk)


def test_what_nothing_is_said_of_has_a_code(job, owner, mate):
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]["reason"] == "late"
    assert "Starts about" not in told(mate, f"/jobs/{job.pk}/")


def test_a_stranger_sees_no_start_and_its_own_says_nothing_of_others(job, stranger, owner):
    forecast(job)
    assert stranger.get(f"/api/v1/jobs/{job.pk}").status_code == 404
    others = make_job(TenantFactory(name="Third"))
    forecast(others, 60.0, 90.0)
    first, second = (owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"] for _ in range(2))
    assert first == second
    assert set(first) == {"p50", "p90", "not_before", "reason", "made_at"}  # no name, no number of anybody


def test_a_job_that_does_not_wait_has_none(tenant, owner):
    job = make_job(tenant, "running")
    forecast(job)
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"] is None
