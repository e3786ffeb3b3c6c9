"""Schedules that code declares: a row for each tenant that opted in, and for no other."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from jobs.calls import registry
from jobs.engine.schedules import change
from jobs.engine.schedules.declared import UNDECLARED, declare
from jobs.engine.schedules.run import run_due
from jobs.engine.upkeep import prune
from jobs.models import Job, Schedule
from jobs.reading.schedule_view import state_of
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
    """Say otherwise what is declared: `declared(every=5)`; without anything as it was."""

    spec = registry.target(Thing, "tick").spec

    def declared(**other) -> None:
        monkeypatch.setattr(Thing.tick.__func__, "job_spec", replace(spec, **other))

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


def asleep() -> set[str]:
    """Whose schedule sleeps, and says why."""
    return {
        slug
        for slug, row in rows().items()
        if state_of(row) == "undeclared" and row.next_at is None and row.paused_because == UNDECLARED
    }


def test_the_one_of_a_tenant_that_opts_out_sleeps_until_it_opts_in_and_its_jobs_stay(tenants):
    declare()
    call_at(timezone.now() + timedelta(seconds=2), run_due)
    Tenant.objects.filter(slug="opted-1").update(slug="out")
    assert declare() == 1
    assert declare() == 0
    assert asleep() == {"out"}
    ran = rows()["out"].runs.count()
    assert call_at(timezone.now() + timedelta(seconds=20), run_due) == 2
    Tenant.objects.filter(slug="out").update(slug="opted-1")
    woken = timezone.now()
    assert declare() == 1
    assert asleep() == set()
    row = rows()["opted-1"]
    assert (row.runs.count(), row.paused_because, state_of(row)) == (ran, "", "on")
    assert row.next_due >= woken, "what was due meanwhile is not made up for"


def test_a_rule_that_changes_in_the_code_changes_in_the_rows(tenants, declared):
    declare()
    declared(every=None, cron="0 6 * * *", tz="Europe/Berlin")
    assert declare() == 3
    assert {(row.every, row.cron, row.tz) for row in rows().values()} == {(None, "0 6 * * *", "Europe/Berlin")}
    assert all(row.next_due > timezone.now() for row in rows().values())


def test_an_undeclared_schedule_sleeps_and_wakes_as_users_left_it(tenants, declared):
    declare()
    before = {slug: (row.pk, row.starts_at) for slug, row in rows().items()}
    change.pause(rows()["opted-0"])
    Schedule.objects.filter(pk=before["opted-2"][0]).update(
        paused=True, paused_because="args: no", next_due=None, next_at=None
    )
    declared(every=None, for_each_tenant=None)  # an older release leads
    assert declare() == 3
    assert asleep() == {"opted-0", "opted-1"}
    change.pause(rows()["opted-1"])
    change.resume(rows()["opted-1"])
    assert rows()["opted-1"].next_at is None, "who resumes it does not wake it"
    declared()
    assert declare() == 3
    after = rows()
    assert {slug: (row.pk, row.starts_at) for slug, row in after.items()} == before
    assert {slug: state_of(row) for slug, row in after.items()} == {
        "opted-0": "paused",
        "opted-1": "on",
        "opted-2": "paused itself",
    }


def test_a_person_may_delete_one_that_sleeps_and_the_clock_does_so_in_the_end(tenants, declared, settings):
    declare()
    declared(every=None, for_each_tenant=None)
    declare()
    call_command("schedules", "delete", rows()["opted-0"].pk)
    prune.prune()
    assert rows().keys() == {"opted-1", "opted-2"}
    Schedule.objects.update(undeclared_at=timezone.now() - timedelta(days=settings.JOBS_HISTORY_KEEP, seconds=1))
    prune.prune()
    assert rows() == {}


def test_a_schedule_that_a_user_paused_stays_paused(tenants, declared):
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


def test_an_impossible_rule_is_refused():
    from jobs import job

    with pytest.raises(ValueError, match="cron: 'x' is not a cron expression"):
        job(cron="x", for_each_tenant=list)
