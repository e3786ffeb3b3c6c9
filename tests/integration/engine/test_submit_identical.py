"""One job for identical submits in the window (I5): what is identical, and until when."""

import enum
import math
import uuid
from datetime import date, timedelta
from datetime import timezone as dt_timezone
from decimal import Decimal

import pytest
from django.utils import timezone

from jobs import InvalidRequest, cancel, store, submit_many
from jobs import job as a_job
from jobs.authoring import current
from jobs.authoring.current import CurrentJob
from jobs.engine.submitting.submit import submit_all
from jobs.lifecycle import FINAL, Status
from jobs.models import Job
from jobs.store import EVERY_TENANT
from tests.conftest import request_for
from tests.factories import TenantFactory, ThingFactory, make_job
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db


class Unit(enum.Enum):
    DAY = 1


class Mode(enum.StrEnum):
    FAST = "fast"


def echo(self, value=None): ...


@pytest.fixture
def thing() -> Thing:
    return ThingFactory()


def age(job_id: int, **by: float) -> None:
    Job.objects.filter(pk=job_id).update(created_at=timezone.now() - timedelta(**by))


class TestIdenticalCalls:
    def test_the_same_call_twice_is_one_job(self, thing):
        assert thing.async_.echo(1) == thing.async_.echo(1)
        assert Job.objects.count() == 1

    def test_a_call_that_spells_its_defaults_out_is_the_same(self, thing):
        assert thing.async_.echo() == thing.async_.echo(None) == thing.async_.echo(times=1, value=None)

    def test_how_it_is_to_run_does_not_matter(self, thing):
        first = thing.async_.echo()
        assert thing.async_(priority=0, user="ann", timeout=5).echo() == first

    def test_other_arguments_methods_objects_and_classes_are_different_jobs(self, thing):
        other = ThingFactory(tenant=thing.tenant)
        calls = [thing.async_.echo(1), thing.async_.echo("1"), thing.async_.refuse(), other.async_.echo(1)]
        assert len({*calls, Thing.async_(tenant=thing.tenant).everything()}) == 5

    def test_another_tenants_identical_job_is_not_mine(self):
        mine, theirs = (Thing.async_(tenant=TenantFactory()).everything() for _ in range(2))
        assert mine != theirs

    def test_a_job_for_later_is_not_the_answer_to_somebody_who_asks_for_it_now(self, thing):
        later = thing.async_(delay=60).echo()
        assert thing.async_.echo() != later
        assert thing.async_(delay=0).echo() == thing.async_.echo()

    def test_calls_for_different_moments_are_different_jobs(self, thing):
        soon = timezone.now() + timedelta(hours=1)
        moments = [{"at": soon + timedelta(days=n)} for n in range(3)] + [{"delay": 60}, {"delay": 90}]
        jobs = [thing.async_(**moment).echo() for moment in moments]
        assert len(set(jobs)) == 5
        assert [thing.async_(**moment).echo() for moment in moments] == jobs

    def test_a_moment_is_the_same_however_it_is_written(self, thing):
        at = timezone.now() + timedelta(hours=1)
        first = thing.async_(at=at).echo()
        assert thing.async_(at=at.astimezone(dt_timezone(timedelta(hours=-5)))).echo() == first
        assert thing.async_(delay=60).echo() == thing.async_(delay=timedelta(minutes=1)).echo()

    def test_a_method_may_say_itself_what_is_identical(self, thing):
        monday = thing.async_.daily("monday")
        assert thing.async_.daily("monday", verbose=True) == monday
        assert thing.async_.daily(day="tuesday") != monday

    def test_the_value_of_a_dedup_key_must_be_json_and_no_object(self, thing, monkeypatch, subtests):
        other = ThingFactory(tenant=thing.tenant)
        wrong = {
            "map": map(str, [1]),
            "object": object(),
            "set": {"a"},
            "Thing": other,
            "date": date(2026, 1, 1),
            "UUID": uuid.UUID(int=1),
            "Decimal": Decimal("1.0"),
            "Unit": Unit.DAY,
            "the key 1": {1: "a", "b": 2},
            "nan": math.nan,
        }
        for said, value in wrong.items():
            with subtests.test(said):
                monkeypatch.setattr(Thing, "echo", a_job(dedup_key=lambda value, value_=value, **_: value_)(echo))
                with pytest.raises(InvalidRequest, match=said) as refused:
                    thing.async_.echo(1)
                assert refused.value.field.startswith("dedup_key")
        assert not Job.objects.exists()
        monkeypatch.setattr(Thing, "echo", a_job(dedup_key=lambda value, **_: (Mode.FAST, [value], None))(echo))
        assert thing.async_.echo(1) == thing.async_.echo(1) != thing.async_.echo(2)

    def test_an_error_of_a_dedup_key_is_refused_without_its_text(self, thing):
        with pytest.raises(InvalidRequest, match=r"^args: the dedup_key of daily .* these: TypeError$") as refused:
            thing.async_.daily(5)
        assert isinstance(refused.value.__cause__, TypeError)
        assert not Job.objects.exists()

    def test_a_default_that_is_not_json_is_the_same_in_every_process(self, thing, monkeypatch):
        def keys():
            """As another process has them, where its objects have other addresses."""

            def call(self, value=object(), day=date(2026, 1, 1), *, names=frozenset({"a"}), times=1): ...  # noqa: B008

            monkeypatch.setattr(Thing, "echo", a_job(call))
            calls = [thing.async_.echo.request(), thing.async_.echo.request(None), thing.async_.echo.request(times=1)]
            return [one.dedup_key for one in calls]

        kept, first = [], keys()
        kept.append(Thing.echo)  # so that its objects keep their addresses
        assert keys() == first
        assert first[0] == first[2] != first[1]

    def test_a_call_may_ask_for_a_job_of_its_own(self, thing):
        first = thing.async_.echo()
        assert thing.async_(dedup=False).echo() != thing.async_(dedup=False).echo()
        assert thing.async_.echo() == first

    def test_a_method_may_ask_for_a_job_at_every_call_and_a_call_against_it(self, thing):
        assert thing.async_.again() != thing.async_.again()
        assert thing.async_(dedup=True).again() == thing.async_(dedup=True).again()


class TestTheWindow:
    @pytest.mark.parametrize("status", sorted(set(Status) - FINAL))
    def test_an_unfinished_job_is_returned_whatever_its_status(self, status):
        request = with_key(TenantFactory())
        job = make_job(tenant_of(request), status, dedup_key=request.dedup_key)
        (submitted,) = submit_all([request])
        assert (submitted.id, submitted.deduplicated) == (job.pk, True)

    @pytest.mark.parametrize("status", sorted(FINAL))
    def test_a_finished_job_is_not(self, status):
        request = with_key(TenantFactory())
        job = make_job(tenant_of(request), status, dedup_key=request.dedup_key)
        (submitted,) = submit_all([request])
        assert submitted.id != job.pk
        assert not submitted.deduplicated

    def test_a_cancelled_job_makes_room_for_the_next(self, thing):
        first = thing.async_.echo()
        cancel(first, tenant_id=EVERY_TENANT)
        assert thing.async_.echo() != first

    def test_within_the_window_it_is_the_same_job(self, thing, settings):
        first = thing.async_.echo()
        age(first, seconds=settings.JOBS_DEDUP_WINDOW - 30)
        assert thing.async_.echo() == first

    def test_after_the_window_there_is_a_new_job_and_the_old_one_runs_on(self, settings):
        request = with_key(TenantFactory())
        old = make_job(tenant_of(request), Status.RUNNING, dedup_key=request.dedup_key)
        age(old.pk, seconds=settings.JOBS_DEDUP_WINDOW + 1)
        (new,) = submit_all([request])
        assert new.id != old.pk
        assert not new.deduplicated
        assert submit_all([request])[0].id == new.id
        old.refresh_from_db()
        assert old.status == "running"
        assert store.succeed(old.pk, old.attempt, {}, None)

    def test_only_the_job_with_that_key_of_that_tenant_gives_it_up(self, settings):
        request = with_key(TenantFactory())
        stranger = make_job(TenantFactory(), dedup_key=request.dedup_key)
        sibling = make_job(tenant_of(request), dedup_key=with_key(stranger.tenant, "another").dedup_key)
        old = make_job(tenant_of(request), dedup_key=request.dedup_key)
        for job in (stranger, sibling, old):
            age(job.pk, seconds=settings.JOBS_DEDUP_WINDOW + 1)
        submit_all([request])
        for job in (stranger, sibling, old):
            job.refresh_from_db()
        assert (stranger.dedup_key, old.dedup_key) == (request.dedup_key, None)
        assert sibling.dedup_key is not None

    def test_a_job_that_is_being_cancelled_is_no_answer_to_a_new_wish(self):
        request = with_key(TenantFactory())
        stopping = make_job(tenant_of(request), Status.RUNNING, dedup_key=request.dedup_key)
        assert cancel(stopping.pk, tenant_id=EVERY_TENANT)
        (new,) = submit_all([request])
        assert (new.id, new.deduplicated) != (stopping.pk, True)
        assert submit_all([request])[0].id == new.id
        assert cancel(stopping.pk, tenant_id=EVERY_TENANT), "it is still being stopped"

    def test_a_body_that_submits_itself_again_is_no_answer_to_itself(self):
        request = with_key(TenantFactory())
        own = make_job(tenant_of(request), Status.RUNNING, dedup_key=request.dedup_key)
        token = current.enter(CurrentJob(id=own.pk))
        try:
            next_one, twice = submit_all([request])[0], submit_all([request])[0]
        finally:
            token.var.reset(token)
        assert (next_one.deduplicated, twice.deduplicated) == (False, True)
        assert own.pk != next_one.id == twice.id == submit_all([request])[0].id

    def test_to_another_body_it_is(self):
        request = with_key(TenantFactory())
        running = make_job(tenant_of(request), Status.RUNNING, dedup_key=request.dedup_key)
        token = current.enter(CurrentJob(id=make_job(running.tenant, Status.RUNNING).pk))
        try:
            assert submit_all([request])[0].id == running.pk
        finally:
            token.var.reset(token)

    def test_a_refused_submit_takes_no_key_from_an_old_job(self, settings):
        request = with_key(TenantFactory())
        old = make_job(tenant_of(request), dedup_key=request.dedup_key)
        age(old.pk, seconds=settings.JOBS_DEDUP_WINDOW + 1)
        with pytest.raises(InvalidRequest):
            submit_all([request, request_for(old.tenant, queue="missing")])
        old.refresh_from_db()
        assert old.dedup_key == request.dedup_key

    def test_a_finished_job_keeps_its_key_when_it_is_old(self, settings):
        request = with_key(TenantFactory())
        finished = make_job(tenant_of(request), Status.SUCCESS, dedup_key=request.dedup_key)
        unfinished = make_job(tenant_of(request), dedup_key=request.dedup_key)
        for job in (finished, unfinished):
            age(job.pk, seconds=settings.JOBS_DEDUP_WINDOW + 1)
        submit_all([request])
        finished.refresh_from_db()
        assert finished.dedup_key == request.dedup_key


class TestInOneBatch:
    def test_duplicates_within_a_batch_are_one_job(self, thing):
        ids = thing.async_.echo.many([{"value": 1}, {"value": 2}, {"value": 1, "times": 1}])
        assert ids[0] == ids[2] != ids[1]
        assert Job.objects.count() == 2

    def test_the_first_of_duplicates_within_a_batch_is_stored(self, thing):
        submitted = submit_all([thing.async_.echo.request(n % 7) for n in range(70)])
        assert [s.deduplicated for s in submitted] == [False] * 7 + [True] * 63
        assert [s.id for s in submitted] == sorted({s.id for s in submitted}) * 10

    def test_new_identical_old_and_keyless_calls_may_be_mixed(self, thing, settings):
        here, old = thing.async_.echo("here"), thing.async_.echo("old")
        age(old, seconds=settings.JOBS_DEDUP_WINDOW + 1)
        calls = [
            thing.async_.echo.request("new"),
            thing.async_.echo.request("here"),
            thing.async_.again.request(),
            thing.async_.echo.request("old"),
            thing.async_.echo.request("new"),
            thing.async_.again.request(),
            thing.async_.echo.request("old"),
        ]
        submitted = submit_all(calls)
        assert [s.deduplicated for s in submitted] == [False, True, False, False, True, False, True]
        ids = [s.id for s in submitted]
        assert ids[1] == here
        assert (ids[0], ids[3]) == (ids[4], ids[6])
        assert len({*ids, old}) == 6
        assert Job.objects.get(pk=ids[3]).args == {"value": "old"}

    def test_a_batch_with_one_bad_call_stores_nothing(self, thing):
        with pytest.raises(InvalidRequest):
            submit_many([thing.async_.echo.request(1), thing.async_(queue="missing").echo.request(2)])
        assert not Job.objects.exists()


def with_key(tenant, what: str = "this"):
    thing = ThingFactory(tenant=tenant)
    return request_for(tenant, dedup_key=thing.async_.echo.request(what).dedup_key)


def tenant_of(request):
    from tenants.models import Tenant

    return Tenant.objects.get(pk=request.tenant_id)
