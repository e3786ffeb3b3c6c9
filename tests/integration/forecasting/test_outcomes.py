"""What came of the statements: held, missed, or nobody can tell; and what that teaches."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.insight.forecasts.duty import KEPT, forget_old
from jobs.insight.forecasts.outcomes import learn
from jobs.insight.forecasts.statements import read_factors
from jobs.lifecycle import Status
from jobs.models import Calibration, Prediction, Queue
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def said(job, p50=10.0, p90=30.0, kind="slots_full 30s") -> Prediction:
    raw = {"raw_50": p50, "raw_90": p90, "said_50": p50, "said_90": p90}
    return Prediction.objects.create(job_id=job.pk, made_at=NOON, kind=kind, reason="", **raw)


def known(one: Prediction) -> tuple[float | None, bool | None, bool | None, bool]:
    one.refresh_from_db()
    return one.started, one.held_50, one.held_90, one.void


def learned(seconds: float) -> None:
    call_at(NOON + seconds * SECOND, learn, read_factors())


def test_a_start_before_the_said_moment_holds_and_shrinks_the_factor(tenant):
    one = said(make_job(tenant, Status.RUNNING, start_time=NOON + 8 * SECOND))
    learned(9)
    assert known(one) == (8.0, True, True, False)
    factors = read_factors()
    assert {(key[1], factor.outcomes, factor.held) for key, factor in factors.items()} == {(0.5, 1, 1.0), (0.9, 1, 1.0)}
    assert all(factor.log < 0 for factor in factors.values())


def test_a_job_not_started_by_its_forecast_is_a_miss_at_once_and_only_once(tenant):
    job = make_job(tenant)
    one = said(job)
    learned(10)
    assert known(one) == (None, None, None, False)
    learned(10.1)
    assert known(one) == (None, False, None, False)
    learned(11)
    learned(31)
    assert known(one) == (None, False, False, False)
    learned(60)
    assert {factor.outcomes for factor in read_factors().values()} == {1}
    assert all(factor.log > 0 for factor in read_factors().values())
    make_started(job, 70)
    learned(71)
    assert known(one) == (70.0, False, False, False)  # for the loss
    assert {factor.outcomes for factor in read_factors().values()} == {1}


def make_started(job, seconds: float) -> None:
    """As another job in its place: statuses move by verbs alone."""
    Prediction.objects.filter(job_id=job.pk).update(
        job_id=make_job(job.tenant, Status.RUNNING, start_time=NOON + seconds * SECOND).pk
    )


def test_a_start_before_the_statement_is_another_attempts(tenant):
    one = said(make_job(tenant, Status.CREATED, start_time=NOON - 60 * SECOND, attempt=1))
    learned(5)
    assert known(one) == (None, None, None, False)


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.SCHEDULED])
def test_a_job_that_left_the_line_without_a_start_teaches_nothing(tenant, status):
    one = said(make_job(tenant, status))
    learned(100)
    assert known(one) == (None, None, None, True)
    assert not Calibration.objects.exists()


def test_while_a_person_holds_it_up_nobody_can_tell(tenant):
    other = TenantFactory(queue__num_slots=2)
    ones = [said(make_job(tenant)), said(make_job(other))]
    TenantQueue.objects.filter(tenant=tenant).update(paused=True)
    learned(100)
    assert known(ones[0]) == (None, None, None, True)
    assert known(ones[1]) == (None, False, False, False)
    TenantQueue.objects.filter(tenant=tenant).update(paused=False)
    learned(100)
    assert known(ones[0]) == (None, None, None, True)
    Queue.objects.update(paused=True)
    third = said(make_job(other))
    learned(100)
    assert known(third) == (None, None, None, True)


def test_a_deleted_job_teaches_nothing(tenant):
    job = make_job(tenant)
    one = said(job)
    job.delete()
    learned(100)
    assert known(one) == (None, None, None, True)


def test_each_class_learns_for_itself(tenant):
    said(make_job(tenant), kind="slots_full 30s")
    said(make_job(tenant, Status.RUNNING, start_time=NOON + SECOND), kind="pool_full 3s")
    learned(31)
    signs = {kind: factor.log > 0 for (kind, _), factor in read_factors().items()}
    assert signs == {"slots_full 30s": True, "pool_full 3s": False}


def test_old_predictions_are_deleted(tenant):
    said(make_job(tenant))
    call_at(NOON + KEPT, forget_old)
    assert Prediction.objects.count() == 1
    call_at(NOON + KEPT + SECOND, forget_old)
    assert not Prediction.objects.exists()
