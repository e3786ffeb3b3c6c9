"""`at`: what is past and what is too far is decided by the database's clock, which promotes the job as well."""

from datetime import datetime, timedelta, timezone

import pytest

from jobs.calls.refusals import InvalidRequest
from jobs.engine.submitting.submit import submit, submit_all
from jobs.models import Job
from plumbing.bounds import MAX_SECONDS
from tests.conftest import request_for
from tests.factories import TenantFactory
from tests.sql import sql, value

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
FULL = """
CREATE FUNCTION public.pg_notification_queue_usage() RETURNS float8 LANGUAGE sql AS 'SELECT 1.0';
CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE program_limit_exceeded; END';
SET LOCAL search_path = public, pg_catalog
"""


@pytest.fixture
def now() -> datetime:
    """What time it is for the database."""
    return value("SELECT clock_timestamp()")


@pytest.fixture(params=[-HOUR, HOUR], ids=["an hour behind", "an hour ahead"])
def wrong(request, now, monkeypatch) -> None:
    """The clock of this machine is wrong."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: now + request.param)


def test_a_moment_half_an_hour_away_is_taken_by_a_machine_whose_clock_is_wrong(now, wrong):
    at = now + HOUR / 2
    assert Job.objects.get(pk=submit(request_for(TenantFactory(), at=at)).id).due_at == at


def test_a_moment_half_an_hour_ago_is_refused_by_a_machine_whose_clock_is_wrong(now, wrong):
    with pytest.raises(InvalidRequest, match=r"^at: must be in the future; .* is past"):
        submit(request_for(TenantFactory(), at=now - HOUR / 2))
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), "is past"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))), "within 366 days"),
    ],
    ids=["the first", "the last"],
)
def test_the_ends_of_time_are_refused(at, said):
    with pytest.raises(InvalidRequest, match=said):
        submit(request_for(TenantFactory(), at=at))


def test_a_year_ahead_is_the_farthest(now):
    tenant, far = TenantFactory(), timedelta(seconds=MAX_SECONDS)
    submit(request_for(tenant, at=now + far))
    with pytest.raises(InvalidRequest, match="within 366 days"):
        submit(request_for(tenant, at=now + far + HOUR))


def test_the_first_of_many_requests_that_does_not_fit_is_named(now):
    tenant = TenantFactory()
    requests = [request_for(tenant), *(request_for(tenant, n, at=now - n * HOUR) for n in (2, 1))]
    with pytest.raises(InvalidRequest) as refusal:
        submit_all(requests)
    assert refusal.value.index == 1
    assert not Job.objects.exists()


def test_a_queue_of_notifications_that_a_sleeping_listener_has_filled_refuses_no_job(now):
    sql(FULL)
    assert submit(request_for(TenantFactory(), at=now + HOUR)).due_at == now + HOUR
