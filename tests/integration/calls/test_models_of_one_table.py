"""What Django counts as one model is one: a proxy adds no schedule and no job type, a child of a model no schedule."""

from datetime import timedelta

import pytest
from django.db import models
from django.test.utils import isolate_apps
from django.utils import timezone

from jobs import Asynchronous, async_, job
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain
from jobs.engine.schedules import change
from jobs.engine.schedules.declared import UNDECLARED, declare
from jobs.engine.schedules.run import run_due
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.models import Job, PausedJobType, Schedule
from tenants.models import Tenant
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(monkeypatch):
    """Let the registry know these models, beside those that there are."""
    every = registry.source_types()

    def known(*kinds: type[models.Model]) -> None:
        types = every | {kind._meta.label_lower: kind for kind in kinds}
        monkeypatch.setattr(registry, "source_types", lambda **_: types)

    return known


@pytest.fixture
@isolate_apps("tests.sample")
def listed(known):
    """A proxy of Thing, as a second list in the admin has one. It overrides one job, and adds one."""

    class Listed(Thing):
        class Meta:
            proxy = True
            app_label = "sample"

        @job
        def again(self) -> str:
            return "listed"

        @job
        def tidy(self) -> str:
            return type(self).__name__

    known(Listed)
    return Listed


@isolate_apps("tests.sample")
def test_a_schedule_is_declared_once_for_a_model_its_proxies_and_its_children(known):
    class Feed(Asynchronous, models.Model):
        tenant = models.ForeignKey(Tenant, models.CASCADE)

        class Meta:
            app_label = "sample"

        @classmethod
        @job(every=60, for_each_tenant=lambda: Tenant.objects.filter(slug="nightly"))
        def nightly(cls) -> None: ...

        @classmethod
        @job(every=60, for_each_tenant=lambda: Tenant.objects.filter(slug="nightly"))
        def hourly(cls) -> None: ...

    class FeedInAdmin(Feed):
        class Meta:
            proxy = True
            app_label = "sample"

    class BigFeed(Feed):
        size = models.IntegerField()

        class Meta:
            app_label = "sample"

        @classmethod
        @job(every=60, for_each_tenant=lambda: Tenant.objects.filter(slug="nightly"))
        def hourly(cls) -> None: ...

    known(Feed, FeedInAdmin, BigFeed)
    now = timezone.now()
    rule = {"every": 60.0, "declared": True, "starts_at": now, "next_at": now, "next_due": now}
    call = {"source_type": "sample.feedinadmin", "source_method": "nightly"}
    tenant = TenantFactory(slug="nightly")
    before = Schedule.objects.create(tenant=tenant, name="sample.feedinadmin.nightly", **call, **rule)
    declare()
    awake = {"sample.feed.nightly", "sample.feed.hourly", "sample.bigfeed.hourly"}
    assert set(Schedule.objects.filter(undeclared_at=None).values_list("name", flat=True)) == awake
    before.refresh_from_db()
    assert (before.next_at, before.paused_because) == (None, UNDECLARED)
    call_at(now + timedelta(seconds=90), run_due)
    assert {f"{one.source_type}.{one.source_method}" for one in Job.objects.all()} == awake
    assert Job.objects.count() == 3


class TestOfAProxy:
    def test_the_same_call_of_the_same_row_is_one_job(self, listed):
        thing = ThingFactory()
        first = thing.async_.echo("x")
        assert async_(listed.objects.get(pk=thing.pk).echo)("x") == first
        assert Job.objects.get().source_type == "sample.thing"

    def test_a_method_that_a_proxy_overrides_or_adds_is_its_own(self, listed):
        proxy = listed.objects.get(pk=ThingFactory().pk)
        ids = [proxy.async_.again(), proxy.async_.tidy()]
        assert {Job.objects.get(pk=job_id).source_type for job_id in ids} == {"sample.listed"}
        assert [attempt.value for attempt in drain()] == ["listed", "Listed"]

    def test_a_job_of_a_proxy_is_paused_and_resumed_under_either_name(self, listed):
        pause_job_type("sample.listed", "echo")
        ThingFactory().async_.echo("x")
        assert drain() == []
        assert resume_job_type("sample.listed", "echo") == 1
        assert len(drain()) == 1
        PausedJobType.objects.create(source_type="sample.listed", source_method="echo")  # by an older release
        resume_job_type("sample.listed", "echo")
        assert not PausedJobType.objects.exists()
        with pytest.raises(InvalidRequest, match="not paused"):
            resume_job_type("sample.listed", "echo")

    def test_a_job_stored_under_the_name_of_a_proxy_runs(self, listed):
        thing = ThingFactory()
        make_job(thing.tenant, source_type="sample.listed", source_id=str(thing.pk), source_method="echo")
        assert [attempt.status for attempt in drain()] == ["success"]

    def test_a_schedule_of_one_of_its_rows_finds_the_row_and_a_strangers_does_not(self, listed):
        thing, stranger = ThingFactory(), TenantFactory()
        call = {"source_type": "sample.listed", "source_id": str(thing.pk), "source_method": "echo", "args": {}}
        schedule = change.add(thing.tenant, name="mine", every=60.0, **call)
        assert Job.objects.get(pk=change.run_now(schedule)).source_type == "sample.thing"
        with pytest.raises(InvalidRequest, match="there is no"):
            change.add(stranger, name="theirs", every=60.0, **call)

    def test_only_its_own_jobs_are_among_the_job_types(self, listed):
        of_proxy = {str(one) for one in registry.targets() if str(one).startswith("sample.listed.")}
        assert of_proxy == {"sample.listed.again", "sample.listed.tidy"}
