"""What is said of a job's start: of its own lane, by its place, while the forecast is fresh."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.insight.starts import LATE, Starts, starts, starts_of
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Forecast
from jobs.reading.starts import Reason
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


def place(job) -> int:
    return (job.priority << 58) + job.pk


def forecast(tenant, *places, user="", reason="", age=0.0, queue="default"):
    made_at = timezone.now() - age * SECOND
    key = {"tenant_id": tenant.pk, "queue_id": QueueFactory(name=queue).pk, "user_key": user}
    Forecast.objects.create(**key, made_at=made_at, reason=reason, places=list(places))
    return made_at


def of(job) -> Starts:
    return starts([job])[job.pk]


def test_a_job_finds_its_place_without_counting(tenant, django_assert_num_queries):
    first, second, third = (make_job(tenant) for _ in range(3))
    made_at = forecast(tenant, [place(first), 10.0, 20.0, 5.0, None], [place(third), 30.0, 60.0, 5.0, None])
    with django_assert_num_queries(1):
        found = starts([first, second, third])
    assert found[first.pk] == Starts(made_at + 10 * SECOND, made_at + 20 * SECOND, None, None, made_at)
    assert found[second.pk].p50 == made_at + 20 * SECOND  # in between
    assert found[third.pk].p90 == made_at + 60 * SECOND
    more_urgent = make_job(tenant, priority=1)
    assert of(more_urgent).p50 == made_at + 10 * SECOND


def test_a_job_behind_all_that_were_read_is_told_no_moment(tenant):
    first, second = make_job(tenant), make_job(tenant)
    made_at = forecast(tenant, [place(first), 10.0, 20.0, 4.0, None])
    assert of(second) == Starts(not_before=made_at + 4 * SECOND, reason=Reason.FAR, made_at=made_at)


def test_a_question_by_number_finds_only_own_jobs_in_line(tenant, django_assert_num_queries):
    stranger = TenantFactory()
    job, running = make_job(tenant), make_job(tenant, Status.RUNNING)
    forecast(tenant, [place(job), 10.0, 20.0, 5.0, None])
    with django_assert_num_queries(2):
        found = starts_of([(tenant.pk, job.pk), (stranger.pk, job.pk), (tenant.pk, running.pk)])
    assert found == {(tenant.pk, job.pk): of(job)}


def test_less_is_said_with_its_reason(tenant):
    about, unsure = make_job(tenant), make_job(tenant)
    made_at = forecast(tenant, [place(about), 10.0, None, 5.0, "learning"], [place(unsure), None, None, 6.0, "unsure"])
    assert of(about) == Starts(p50=made_at + 10 * SECOND, reason=Reason.LEARNING, made_at=made_at)
    assert of(unsure) == Starts(not_before=made_at + 6 * SECOND, reason=Reason.UNSURE, made_at=made_at)


def test_a_lane_of_which_nothing_is_said_says_why(tenant):
    made_at = forecast(tenant, reason="tenant_paused")
    assert of(make_job(tenant)) == Starts(reason=Reason.TENANT_PAUSED, made_at=made_at)


def test_an_old_forecast_or_none_says_nothing(tenant):
    job = make_job(tenant)
    assert of(job) == Starts(reason=Reason.LATE)
    forecast(tenant, [place(job), 900.0, 901.0, 5.0, None], age=LATE.total_seconds() + 1)
    assert (of(job).p50, of(job).p90, of(job).reason) == (None, None, Reason.LATE)


def test_a_moment_that_has_passed_is_not_said(tenant):
    job = make_job(tenant)
    made_at = forecast(tenant, [place(job), 10.0, 99.0, 5.0, None], age=15)
    assert of(job) == Starts(reason=Reason.LATE, made_at=made_at)  # nor p90: it holds for fewer by now
    Forecast.objects.update(places=[[place(job), None, None, 5.0, "unsure"]])
    assert of(job) == Starts(reason=Reason.UNSURE, made_at=made_at)


def test_a_user_of_a_tenant_that_limits_them_has_a_line_of_its_own(tenant):
    ada, bob, nobody = (make_job(tenant, user_key=user) for user in ("ada", "bob", ""))
    for job, seconds in ((ada, 10.0), (nobody, 30.0)):
        made_at = forecast(tenant, [place(job), seconds, 99.0, 0.0, None], user=f"@{job.user_key}")
        assert of(job).p50 == made_at + seconds * SECOND
    assert of(bob) == Starts(reason=Reason.LATE)  # of nobody else's line


def test_another_queue_or_tenant_has_no_forecast(tenant):
    stranger = TenantFactory(queue__num_slots=2)
    job = make_job(tenant)
    made_at = forecast(tenant, [place(job), 10.0, 20.0, 5.0, None])
    assert of(make_job(stranger)) == Starts(reason=Reason.LATE)
    assert of(make_job(tenant, queue=QueueFactory(name="other"))) == Starts(reason=Reason.LATE)
    assert of(job).p50 == made_at + 10 * SECOND


def test_a_job_outside_of_any_line_has_a_reason_and_an_ended_one_has_none(tenant, django_assert_num_queries):
    ended, running, due = (make_job(tenant, status) for status in (Status.SUCCESS, Status.RUNNING, Status.SCHEDULED))
    held, blocked = make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL), make_job(tenant, Status.BLOCKED)
    forecast(tenant, *([place(job), 10.0, 20.0, 5.0, None] for job in (running, due, held, blocked)))
    with django_assert_num_queries(0):
        found = starts([ended, running, due, held, blocked])
    assert found == {held.pk: Starts(reason=Reason.HELD), blocked.pk: Starts(reason=Reason.BLOCKED)}
