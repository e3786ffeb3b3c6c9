"""A deletion succeeds at the first try, whatever the clock and workers do meanwhile: no two wait for each other."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from jobs import store
from jobs.engine.schedules import change
from jobs.engine.schedules.run import run_due
from jobs.engine.submitting.batches import open_batch
from jobs.engine.upkeep.prune import prune
from jobs.models import Batch, BatchCancel, Job, KeptAnswer, Schedule, ScheduleRun
from jobs.store import answers
from tenants.models import Tenant
from tests.factories import QueueFactory, TenantFactory, ThingFactory, make_job
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60.0  # seconds


def recurring(thing, name: str = "often") -> Schedule:
    """A schedule that has been due for a long time."""
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    schedule = change.add(thing.tenant, name=name, every=3600.0, **call)
    Schedule.objects.filter(pk=schedule.pk).update(next_at="2026-01-01T00:00Z", next_due="2026-01-01T00:00Z")
    return schedule


DELETIONS: dict[str, Callable[[Schedule], object]] = {
    "of its tenant": lambda schedule: Tenant.objects.get(pk=schedule.tenant_id).delete(),
    "of all schedules": lambda _: Schedule.objects.all().delete(),
    "of this one": change.delete,
    "by the upkeep": lambda _: prune(),
}


def test_a_schedule_that_the_clock_runs_meanwhile_is_deleted_with_that_run(race, subtests):
    QueueFactory()
    for name, delete in DELETIONS.items():
        with subtests.test(name):
            schedule = recurring(ThingFactory())
            run_due()
            if name == "by the upkeep":
                sql("UPDATE schedules SET tenant_id = tenant_id + 1000")  # its tenant was deleted by plain SQL
            race.begin("SELECT FROM schedules WHERE id = %s FOR NO KEY UPDATE", schedule.pk)
            race.they.execute(
                "INSERT INTO schedule_runs (schedule_id, due, note) VALUES (%s, now(), '')", [schedule.pk]
            )
            race.run(delete, schedule).result(PATIENCE)
            assert not Schedule.objects.exists()
            assert not ScheduleRun.objects.exists()


def test_tenants_whose_schedules_run_all_the_time_are_deleted_at_the_first_try(elsewhere):
    """Two clocks run schedules, one declares them anew, one prunes, and one deletes them, while tenants are deleted."""
    QueueFactory()
    things = [ThingFactory() for _ in range(8)]
    for n in range(6):
        for thing in things:
            recurring(thing, f"often {n}")
    over, barrier = threading.Event(), threading.Barrier(8)

    def again(duty: Callable[[], object]) -> int:
        barrier.wait(PATIENCE)
        turns = 0
        while not over.is_set():
            duty()
            turns += 1
        return turns

    def due() -> None:
        now = timezone.now()
        Schedule.objects.filter(next_at__gt=now).update(next_at=now, next_due=now)
        run_due()

    def delete(some: list) -> None:
        barrier.wait(PATIENCE)
        for thing in some:
            Tenant.objects.get(pk=thing.tenant_id).delete()

    duties = [
        elsewhere(again, duty)
        for duty in (due, run_due, prune, lambda: Schedule.objects.filter(declared=True).delete())
    ]
    deleting = [elsewhere(delete, things[n::4]) for n in range(4)]
    try:
        for one in deleting:
            one.result(PATIENCE)
    finally:
        over.set()
    assert all(one.result(PATIENCE) for one in duties)
    prune()  # a schedule that was added meanwhile
    assert not Schedule.objects.exists()
    assert not ScheduleRun.objects.exists()
    assert not Tenant.objects.filter(pk__in=[thing.tenant_id for thing in things]).exists()


def test_a_session_with_a_row_and_a_need_for_another_avoids_the_deletion(race, subtests):
    """As the clock does that cancels a batch, a body that adds to one, and who locks jobs or schedules by number."""
    for table in ("batch_cancels", "batches", "jobs", "schedules"):
        with subtests.test(table):
            tenant, of_all = deletable(), f"(SELECT {{}}(id) FROM {table})"
            if table in ("jobs", "schedules"):
                sql(
                    f"UPDATE {table} SET priority = 3 WHERE id = {of_all.format('min')}"
                )  # it lies behind the others now
                first, second = (f"{table} WHERE id = {of_all.format(which)}" for which in ("min", "max"))
            else:
                first, second = table, "jobs"
            delete = Schedule.objects.all().delete if table == "schedules" else tenant.delete
            race.begin(f"SELECT FROM {first} FOR NO KEY UPDATE")
            deleting = race.elsewhere(reading_tables_whole, delete)
            wait_until(lambda: race.blocked() == 1, "the deletion waits")
            race.they.execute(f"SELECT FROM {second} FOR NO KEY UPDATE")
            race.they.execute("COMMIT" if race.lost else "ROLLBACK")
            deleting.result(PATIENCE)
            assert not Schedule.objects.exists()
            Tenant.objects.filter(pk=tenant.pk).delete()
            assert not (Job.objects.exists() or Batch.objects.exists() or BatchCancel.objects.exists())


def test_a_change_of_many_schedules_locks_them_in_the_order_of_a_deletion(race):
    """As code does that no longer declares them."""
    deletable()
    first, last = sql("SELECT id FROM schedules ORDER BY id")
    sql("UPDATE schedules SET priority = 3 WHERE id = %s", [first[0]])  # it lies behind the other now
    race.begin("SELECT FROM schedules WHERE id = %s FOR NO KEY UPDATE", first[0])
    changing = race.elsewhere(reading_tables_whole, lambda: Schedule.objects.update(priority=4))
    wait_until(lambda: race.blocked() == 1, "the change waits")
    race.they.execute("SELECT FROM schedules WHERE id = %s FOR NO KEY UPDATE", [last[0]])
    race.they.execute("COMMIT")
    assert changing.result(PATIENCE) == 2


def deletable() -> Tenant:
    """A tenant with schedules, and with jobs of a batch that is being cancelled."""
    thing = ThingFactory()
    batch = open_batch("nightly", "", thing.tenant_id)
    for n in range(2):
        make_job(thing.tenant, batch_id=batch.id)
        recurring(thing, str(n))
    assert store.begin_cancel(batch.id, uuid4(), tenant_id=thing.tenant_id)
    return thing.tenant


def reading_tables_whole(action: Callable[[], Any]) -> Any:
    """As PostgreSQL does to delete or change many."""
    sql("SET enable_indexscan = off")
    sql("SET enable_bitmapscan = off")
    return action()


def test_the_upkeep_leaves_what_somebody_is_deleting_and_goes_on(onlooker, elsewhere):
    """Who has deleted one of the rows may wait for another."""
    tenant = TenantFactory()
    for key in ("one", "other"):
        assert answers.reserve(tenant.pk, key, "digest")
    KeptAnswer.objects.update(created_at="2026-01-01T00:00Z")
    call = {"source_type": "a", "source_method": "b", "every": 3600.0}
    runs = Schedule.objects.create(tenant=tenant, name="x", **call).runs
    for due in ("2020-01-01T00:00Z", "2020-01-02T00:00Z"):
        runs.create(due=due, at="2020-01-01T00:00Z")
    with onlooker.transaction():
        onlooker.execute("DELETE FROM kept_answers WHERE key = 'one'")
        onlooker.execute("DELETE FROM schedule_runs WHERE due = '2020-01-01'")
        elsewhere(prune).result(PATIENCE)
        assert list(KeptAnswer.objects.values_list("key", flat=True)) == ["one"]
        assert runs.count() == 1
    assert not KeptAnswer.objects.exists()
    assert not runs.exists()
