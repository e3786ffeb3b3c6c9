"""Budgets: a tenant that has used up its month starts no job that spends the unit; nobody else waits for that."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from jobs import current_job, job, store
from jobs.engine.door import budgets
from jobs.engine.door.dispatch import dispatch
from jobs.engine.verbs import limits, pause
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, Attempt, Job, SpentBudget
from jobs.reading.budgets import standings
from jobs.reading.explain.explanation import Gate, explain
from jobs.reading.explain.gates import next_month
from jobs.store import EVERY_TENANT, Failure
from jobs.store.rows import rows
from tests.attempts import WORKER, run
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, copies, make_job, status
from tests.light import trip
from tests.sample.models import Thing
from tests.sql import sql
from tests.verbs import REASONS, VERBS, a_start

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bodies(monkeypatch):
    """`echo` spends tokens, as many as it is told; `again` spends none."""

    async def echo(self, value=None):
        current_job().used(tokens=value or 0)

    async def again(self): ...

    monkeypatch.setattr(Thing, "echo", job(dedup=False, units=("tokens",))(echo))
    monkeypatch.setattr(Thing, "again", job(dedup=False)(again))


def thing_with(**amounts: int) -> Thing:
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
    limits.change(thing.tenant.jobs_queue, {"budgets": amounts})
    return thing


def is_held(job_id: int) -> bool:
    return Job.objects.filter(pk=job_id, status="scheduled", due_at=HELD_UNTIL, slot=None).exists()


def allow(thing: Thing, **amounts: int) -> None:
    thing.tenant.jobs_queue.refresh_from_db()
    limits.change(thing.tenant.jobs_queue, {"budgets": amounts})


def spent() -> set[tuple[int, str]]:
    return set(SpentBudget.objects.values_list("tenant_id", "unit"))


class TestUsedUp:
    def test_the_next_job_does_not_start_and_others_go_on_in_both_kinds_of_pools(self, kind):
        thing, stranger = thing_with(tokens=100), ThingFactory()
        first, second, third = thing.async_.echo(60), thing.async_.echo(40), thing.async_.echo(1)
        free, foreign = thing.async_.again(), stranger.async_.echo(1000)
        kind.serve()
        assert [status(one) for one in (first, second, free, foreign)] == ["success"] * 4
        assert is_held(third)
        assert not Attempt.objects.filter(job_id=third).exists()
        assert spent() == {(thing.tenant_id, "tokens")}
        assert is_held(thing.async_.echo(1)), "submitted later"
        assert status(stranger.async_.echo(1)) != "scheduled"

    def test_a_raised_budget_opens_and_a_lowered_one_closes_without_the_clock(self, kind):
        thing = thing_with(tokens=100)
        thing.async_.echo(100)
        kind.serve()
        waiting = thing.async_.echo(50)
        allow(thing, tokens=500)
        kind.serve()
        assert (status(waiting), spent()) == ("success", set())
        allow(thing, tokens=150)
        kind.serve()
        assert is_held(thing.async_.echo(1))
        allow(thing)
        kind.serve()
        assert not Job.objects.filter(status="scheduled").exists()

    def test_the_next_month_opens_it(self, register, sent):
        register()
        thing = thing_with(tokens=100)
        run(sent, thing.async_.echo(100))
        waiting = thing.async_.echo(1)
        budgets.settle_budgets()
        assert is_held(waiting)
        call_at(next_month(timezone.now()), budgets.settle_budgets)
        assert (status(waiting), spent()) == ("created", set())


class TestEveryWay:
    """No way leads past a budget that is used up."""

    @pytest.fixture
    def thing(self, register, sent) -> Thing:
        register()
        thing = thing_with(tokens=10)
        run(sent, thing.async_.echo(10))
        return thing

    def test_a_job_for_later_is_held_when_it_is_due(self, thing):
        later = thing.async_(delay=300).echo(1)
        call_at(Job.objects.get(pk=later).due_at, store.promote)
        assert is_held(later)

    def test_a_revived_one_and_one_on_its_way_are_put_off_at_the_start(self, thing, sent):
        old = make_job(thing.tenant, Status.ERROR, source_type="sample.thing", source_method="echo", spends=["tokens"])
        revive(old.pk, tenant_id=EVERY_TENANT)
        assert status(old.pk) == "queued"
        run(sent, old.pk)
        assert is_held(old.pk)
        assert Attempt.objects.filter(job_id=old.pk).count() == 0

    def test_one_of_a_paused_type_stays_when_its_type_is_resumed(self, thing):
        pause.pause_job_type("sample.thing", "echo")
        held = thing.async_.echo(1)
        pause.resume_job_type("sample.thing", "echo")
        assert is_held(held)

    def test_jobs_in_line_are_held_so_that_they_block_no_others(self, thing):
        copies(make_job(thing.tenant, source_method="echo", spends=["tokens"]), 30)
        free = make_job(thing.tenant, source_method="again")
        assert budgets.hold_or_release() is False
        assert Job.objects.filter(due_at=HELD_UNTIL).count() == 31
        assert [claimed.id for claimed in store.claim()] == [free.pk]


@pytest.mark.parametrize(
    "verb",
    ["start", "start by start_kept", "start by start_many", "release"],
)
def test_no_statement_starts_a_job_whose_budget_is_used_up(verb, register):
    register()
    waiting = {"start": Status.QUEUED, "release": Status.SCHEDULED}[verb.partition(" ")[0]]
    job = make_job(TenantFactory(queue__num_slots=5), waiting, attempt=3, spends=["pages", "tokens"])
    REASONS.get(verb, lambda job: None)(job)
    SpentBudget.objects.create(tenant_id=TenantFactory().pk, unit="tokens", since=timezone.now())  # a stranger's
    SpentBudget.objects.create(tenant_id=job.tenant_id, unit="mails", since=timezone.now())  # not one of the job's
    own = SpentBudget.objects.create(tenant_id=job.tenant_id, unit="tokens", since=timezone.now())
    assert not VERBS[verb](job, job.attempt)
    own.delete()
    assert VERBS[verb](job, job.attempt)


@pytest.mark.parametrize("verb", ["follow", "follow by succeed_many"])
def test_a_job_that_spends_a_budget_follows_nobody(verb, register):
    register()
    spender = make_job(TenantFactory(queue__num_slots=5), attempt=3, spends=["pages"])
    other = make_job(TenantFactory(queue__num_slots=5), attempt=3)
    assert not VERBS[verb](spender, spender.attempt)
    assert VERBS[verb](other, other.attempt)


def test_many_that_end_at_once_hand_on_no_slot_in_which_units_were_used(register):
    worker = register(concurrency=4)
    tenant = TenantFactory(queue__num_slots=2)
    ended = [
        make_job(tenant, Status.RUNNING, attempt=1, worker=worker, worker_pid=1, slot=slot, units=units)
        for slot, units in ((1, {"tokens": 1}), (2, None))
    ]
    waiting = [make_job(tenant) for _ in range(2)]
    begun = [a_start(job, 1, store.Holder(worker, 1)) for job in ended]
    told = trip(worker, ended=[store.Success(job, {}, goes_on=True) for job in begun])
    assert {of: job.id for of, job in told.followed.items()} == {(ended[1].pk, 1): waiting[0].pk}


def test_a_job_that_has_ended_with_units_hands_its_slot_to_nobody(register):
    worker = register()
    thing = thing_with(tokens=10)
    first, second = thing.async_.echo(1), thing.async_.echo(1)
    running = store.start(first, 1, store.Seat(worker, 1))
    units = {"tokens": 10}
    ended, following = store.succeed_and_follow(first, 1, {}, None, units=units, by=running.holder)
    assert (ended, following) == (True, None)
    dispatch()
    assert store.start(second, 1, store.Seat(worker, 1)) is None
    assert store.put_off(second, 1) and is_held(second)


def test_a_book_has_this_month_and_the_last_one_whenever_their_ends_come():
    tenant = thing_with(tokens=5).tenant_id
    used = {"2031-09": {"tokens": 9}, "2031-10": {"tokens": 3, "pages": 1}, "2031-12": {"tokens": 2}}
    news = [{"2031-11": {"tokens": 4}}, {"2031-10": {"tokens": 1}}, {"2031-11": {"tokens": 1}}]
    now = datetime(2031, 11, 30, 23, 59, 59, tzinfo=UTC)
    expected = {"2031-10": {"tokens": 4, "pages": 1}, "2031-11": {"tokens": 5}, "2031-12": {"tokens": 2}}
    told = sql("SELECT spend(%s, %s, %s, %s)", [tenant, json.dumps(used), json.dumps(news), now])[0][0]
    assert json.loads(told) == expected
    assert spent() == {(tenant, "tokens")}
    sql("SELECT spend(%s, %s, NULL, %s)", [tenant, told, now + timedelta(seconds=1)])
    assert spent() == set()


def test_only_inside_the_door_it_is_noted_what_is_used_up(register, sent):
    register()
    thing = thing_with(tokens=10)
    run(sent, thing.async_.echo(10))
    SpentBudget.objects.all().delete()
    rows("settle_budgets")
    assert spent() == set()
    assert store.settle_budgets() and spent() == {(thing.tenant_id, "tokens")}
    assert not store.settle_budgets(), "it is settled"


def test_a_running_job_overshoots_and_its_crash_counts(register):
    register()
    thing = thing_with(tokens=10)
    running = store.start(thing.async_.echo(), 1, store.Seat(WORKER, 1))
    store.progress(running.id, 1, running.holder, 0.5, "", units={"tokens": 25})
    store.take_back(running.id, 1, Failure("Crashed", "killed"), max_crashes=3)
    dispatch()
    assert [(one.used, one.amount, one.state) for one in standings([thing.tenant_id])] == [(25, 10, "used up")]
    assert standings([thing.tenant_id + 1]) == []


def test_explain_names_the_budget_its_use_and_when_it_opens(register, sent):
    register()
    thing, stranger = thing_with(tokens=10), ThingFactory()
    run(sent, thing.async_.echo(12))
    held = thing.async_.echo(1)
    found = explain(held, tenant_id=thing.tenant_id)
    now = found.now
    first = next_month(now)
    assert (first.day, first > now, first - now < timedelta(days=32)) == (1, True, True)
    assert (found.gate, found.used, found.limit, found.opens_at) == (Gate.BUDGET, 12, 10, first)
    assert found.sentence == (
        f"Its tenant's budget of tokens for {now:%B} is used up: 12 of 10; "
        f"it opens on 1 {first:%B}, or when the budget is raised."
    )
    assert explain(held, tenant_id=stranger.tenant_id) is None


@pytest.mark.parametrize(
    "amounts",
    ['{"tokens": 0}', '{"tokens": -1}', '{"tokens": 1.5}', '{"tokens": "9"}', "[1]", "3", '{"tokens": 1e16}'],
)
def test_the_database_refuses_what_is_no_budget(amounts):
    tenant = TenantFactory()
    with pytest.raises(DatabaseError, match="budgets_whole"), transaction.atomic():
        sql("UPDATE tenant_queues SET budgets = %s WHERE tenant_id = %s", [amounts, tenant.pk])


@pytest.mark.parametrize("seed", range(4))
def test_at_any_moment_the_gate_is_that_of_the_log(seed, register, sent):
    """Jobs of two tenants use what they like; budgets change. A job starts exactly if the log allows it."""
    draw = random.Random(seed)
    register()
    things = [thing_with(tokens=50), thing_with(tokens=50)]
    amounts = dict.fromkeys(things, 50)
    for _ in range(25):
        thing = draw.choice(things)
        if draw.random() < 0.2:
            amounts[thing] = draw.randrange(1, 200)
            allow(thing, tokens=amounts[thing])
        before = used(thing)
        job_id = thing.async_.echo(draw.choice([0, 1, 7, 30]))
        if before < amounts[thing]:
            run(sent, job_id)
            assert status(job_id) == "success"
        else:
            assert is_held(job_id)
            store.cancel([job_id], tenant_id=thing.tenant_id)
        assert {tenant for tenant, _ in spent()} == {one.tenant_id for one in things if used(one) >= amounts[one]}


def used(thing: Thing) -> int:
    found = Attempt.objects.filter(tenant_id=thing.tenant_id).exclude(units=None).values_list("units", flat=True)
    return sum(units["tokens"] for units in found)
