"""Schedules that code declares: a row for each tenant that opted in, and for no other."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.calls import registry
from jobs.engine.schedules import change
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.models import Job, Schedule
from tenants.models import Tenant
from tests.clock import call_at
from tests.factories import TenantFactory
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db
TICK = "sample.thing.tick"


@pytest.fixture
def tenants():
    return [TenantFactory(slug=f"opted-{n}") for n in range(3)]


@pytest.fixture
def declared(monkeypatch):
    """Say otherwise what is declared: `declared(every=5)`."""

    def declared(**spec) -> None:
        monkeypatch.setattr(Thing.tick.__func__, "job_spec", replace(registry.target(Thing, "tick").spec, **spec))

    return declared


def rows() -> dict[str, Schedule]:
    return {row.tenant.slug: row for row in Schedule.objects.filter(name=TICK).select_related("tenant")}


def test_each_tenant_that_opted_in_has_one_and_a_stranger_none(tenants):
    TenantFactory(slug="stranger")
    assert declare() == 3
    assert rows().keys() == {"opted-0", "opted-1", "opted-2"}
    assert declare() == 0, "they are there"
    assert call_at(timezone.now() + timedelta(seconds=2), run_due) == 3
    assert {job.tenant_id for job in Job.objects.all()} == {tenant.pk for tenant in tenants}


def test_who_opts_out_has_none_any_more_and_its_jobs_stay(tenants):
    declare()
    call_at(timezone.now() + timedelta(seconds=2), run_due)
    Tenant.objects.filter(slug="opted-1").update(slug="out")
    assert declare() > 0
    assert rows().keys() == {"opted-0", "opted-2"}
    assert Job.objects.filter(tenant__slug="out").exists()


def test_a_rule_that_changes_in_the_code_changes_in_the_rows(tenants, declared):
    declare()
    declared(every=None, cron="0 6 * * *", tz="Europe/Berlin")
    assert declare() == 3
    assert {(row.every, row.cron, row.tz) for row in rows().values()} == {(None, "0 6 * * *", "Europe/Berlin")}
    assert all(row.next_due > timezone.now() for row in rows().values())


def test_one_that_is_declared_no_more_goes(tenants, declared):
    declare()
    declared(every=None, for_each_tenant=None)
    declare()
    assert rows() == {}


def test_one_that_somebody_paused_stays_so(tenants, declared):
    declare()
    change.pause(rows()["opted-0"])
    declared(every=7.0)
    declare()
    paused = rows()["opted-0"]
    assert (paused.paused, paused.next_at, paused.every) == (True, None, 7.0)


def test_a_tenants_own_of_the_same_name_stays(tenants):
    call = {"source_type": "sample.thing", "source_method": "echo", "every": 60.0}
    own = Schedule.objects.create(tenant=tenants[0], name=TICK, **call)
    declare()
    declare()
    own.refresh_from_db()
    assert (own.declared, own.every) == (False, 60.0)


def test_a_list_of_tenants_that_fails_changes_nothing_and_is_noticed(tenants, declared, caplog):
    declare()
    for error in (RuntimeError("a text for nobody"), SystemExit(1)):

        def fail(error=error):
            raise error

        declared(for_each_tenant=fail)
        assert declare() == 0
        assert len(rows()) == 3
    assert "schedule not declared" in caplog.text
    assert "for nobody" not in caplog.text


def test_a_method_of_an_object_cannot_recur_for_each_tenant(tenants, monkeypatch, caplog):
    spec = registry.target(Thing, "tick").spec
    monkeypatch.setattr(Thing.echo, "job_spec", spec)
    declare()
    assert not Schedule.objects.filter(name="sample.thing.echo").exists()
    assert "schedule not declared" in caplog.text


@pytest.mark.parametrize(
    "options", [{"every": 5}, {"cron": "@daily"}, {"for_each_tenant": list}, {"overlap": "stack"}, {"catch_up": "some"}]
)
def test_half_a_declaration_is_refused_where_it_is_written(options):
    from jobs import job

    with pytest.raises(TypeError, match="@job: "):
        job(**options)


def test_so_is_a_rule_that_cannot_be():
    from jobs import job

    with pytest.raises(ValueError, match="cron: 'x' is not a cron expression"):
        job(cron="x", for_each_tenant=list)
