"""Batches: a job when all of them have ended, and one when all have ended well: each once, whatever happened."""

from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import batch, cancel, current_job, job, store
from jobs.authoring.current import CurrentJob
from jobs.authoring.exceptions import Cancelled
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain
from jobs.engine.door.unblock import unblock
from jobs.engine.submitting.batches import Batch, batch_of, close, open_batch
from jobs.engine.verbs.batch_actions import (
    cancel_batch,
    close_batch,
    failed_members,
    go_on_cancelling,
    open_members,
    revive_batch,
)
from jobs.engine.verbs.revive import discard, revive
from jobs.lifecycle import Status
from jobs.models import ERASED, BatchCancel, BatchTally, Job, JobEdge, JobEnd
from jobs.models import Batch as Row
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from tenants import audit
from tenants.models import Change
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job, status
from tests.integration.engine.test_after import end
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db
LATER = timezone.now() + timedelta(days=3)


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def of(thing):
    """A request for a job of its own."""

    def of(value="member", **options):
        return thing.async_(dedup=False, **options).echo.request(value)

    return of


@pytest.fixture
def ran(monkeypatch) -> list[str]:
    """The values of the jobs that ran, in order; "fails" fails."""
    ran: list[str] = []

    @job(dedup=False)
    def echo(self, value=None):
        ran.append(value)
        if value == "fails" and ran.count("fails") == 1:
            raise ValueError
        if value == "adds":
            current_job().batch.add(self.async_.echo.request("added"))

    monkeypatch.setattr(Thing, "echo", echo)
    return ran


@pytest.fixture
def made(of):
    """Make a batch of so many jobs, with both callbacks: itself, its jobs, and the two."""

    def made(jobs: int = 1, **options):
        with batch("nightly", on_success=of("success"), on_end=of("end"), **options) as new:
            members = new.add(of() for _ in range(jobs))
        success, ends = Job.objects.filter(predecessors__contains=[new.id]).order_by("id").values_list("id", flat=True)
        unblock()
        return batch_of(members[0]) if members else Batch(new.id, Row.objects.get().tenant_id), members, success, ends

    return made


def states(*ids: int) -> list[str]:
    unblock()
    assert not JobEnd.objects.exists()
    return [status(one) for one in ids]


def test_both_run_once_when_all_have_ended_well(of, ran):
    with batch("nightly", on_success=of("success"), on_end=of("end")) as nightly:
        nightly.add(of() for _ in range(3))
    drain()
    assert sorted(ran) == ["end", "member", "member", "member", "success"]
    assert ran[:3] == ["member"] * 3
    assert not JobEdge.objects.exists()


def test_an_empty_batch_calls_back_too(of, ran):
    with batch("nothing", on_success=of("success"), on_end=of("end")):
        pass
    drain()
    assert sorted(ran) == ["end", "success"]


def test_a_job_that_adds_to_its_batch_keeps_it_open(of, ran):
    with batch("growing", on_success=of("success")) as growing:
        growing.add(of("adds"))
    drain()
    assert ran == ["adds", "added", "success"]
    assert growing.progress().total == 2


def test_success_comes_after_a_revival_and_the_end_only_once(of, ran):
    with batch("nightly", on_success=of("success"), on_end=of("end")) as nightly:
        _, failing = nightly.add([of(), of("fails")])
    drain(raising=False)
    assert ran == ["member", "fails", "end"]
    assert revive(failing, tenant_id=EVERY_TENANT)
    drain()
    assert ran == ["member", "fails", "end", "fails", "success"]
    assert nightly.progress().success == 2


@pytest.mark.parametrize("how", ["error", "dead", "cancelled"])
def test_the_last_one_may_end_in_any_way(made, how):
    nightly, (first, last), success, ends = made(2)
    end(first)
    assert states(success, ends) == ["blocked", "blocked"]
    end(last, how)
    assert states(success, ends) == ["blocked", "created"]
    progress = nightly.progress()
    assert (progress.total, progress.success, progress.failed, getattr(progress, how)) == (2, 1, 1, 1)
    assert progress.is_complete
    assert revive(last, tenant_id=EVERY_TENANT)
    assert states(success, ends) == ["blocked", "created"]
    assert nightly.progress().waiting == 1
    end(last)
    assert states(success, ends) == ["created", "created"]


def test_the_last_one_may_be_too_late(of):
    with batch("short", on_end=of("end")) as short:
        short.add(of(expires=60))
    ends = Job.objects.get(predecessors=[short.id]).pk
    Job.objects.filter(batch_id=short.id).update(expires_at=timezone.now())
    assert store.lapse()
    assert states(ends) == ["created"]
    assert short.progress().cancelled == 1


def test_a_batch_counts_archived_restored_discarded_expired_and_deleted_jobs(made):
    nightly, members, success, ends = made(5)
    good, bad, discarded, expired, deleted = members
    end(good)
    end(bad, "error")
    beginning = timezone.now() - timedelta(days=1)
    assert call_at(LATER, store.archive, 0, beginning, LATER) == 2
    end(discarded, "dead")
    end(expired, "dead")
    assert discard(discarded)
    Job.objects.filter(pk=deleted).delete()
    assert states(success, ends) == ["blocked", "created"]
    assert call_at(LATER, store.expire_dead, 0)
    progress = nightly.progress()
    assert (progress.success, progress.error, progress.dead, progress.cancelled) == (1, 1, 1, 2)
    assert revive(bad, tenant_id=EVERY_TENANT), "from the history"
    assert states(success) == ["blocked"]
    assert (nightly.progress().error, nightly.progress().waiting) == (0, 1)
    end(bad)
    assert states(success) == ["blocked"]
    assert nightly.progress().success == 2


def test_the_job_after_success_gives_up_in_the_end(made):
    _, (member,), success, _ = made()
    end(member, "error")
    assert states(success) == ["blocked"]
    call_at(LATER, store.read_ends)
    assert status(success) == "blocked"
    call_at(timezone.now() + timedelta(days=31), store.read_ends)
    assert status(success) == "cancelled"
    assert Job.objects.get(pk=success).reason.endswith(", which it waited for, did not succeed")


def test_other_jobs_may_wait_for_a_batch(made, of, thing):
    nightly, (member,), *_ = made()
    last = thing.async_(after=nightly).echo()
    also = thing.async_(after_end=[nightly.id, member]).echo()
    assert states(last, also) == ["blocked", "blocked"]
    why = explain(last, tenant_id=thing.tenant.pk)
    assert why.sentence == f"Waits for 1 job: {nightly.id} (batch, 0 of 1 ended)."
    end(member)
    assert states(last, also) == ["created", "created"]


def test_a_batch_belongs_to_the_transaction_of_its_caller(of):
    with pytest.raises(ZeroDivisionError), batch("nightly", on_end=of("end")) as nightly:
        nightly.add(of())
        1 / 0  # noqa: B018
    assert not Job.objects.exists()
    with transaction.atomic():
        with batch("nightly", on_end=of("end")) as nightly:
            nightly.add(of())
        transaction.set_rollback(True)
    assert not Job.objects.exists()
    assert not Row.objects.exists()
    assert not BatchTally.objects.exists()
    assert not JobEnd.objects.exists()
    with batch("nightly", on_end=of("end")) as nightly:
        with suppress(ZeroDivisionError), transaction.atomic():
            nightly.add(of())
            1 / 0  # noqa: B018
        nightly.add(of())
    assert nightly.progress().total == 1


def test_only_while_it_is_open_others_add_to_it(of, thing):
    nightly = open_batch("nightly", "", thing.tenant.pk)
    assert len(nightly.add([of(), of()])) == 2
    assert close(nightly)
    assert not close(nightly)
    with pytest.raises(InvalidRequest) as refused:
        nightly.add(of())
    assert refused.value.field == "batch"
    assert Job.objects.count() == nightly.progress().total == 2


def test_an_open_batch_is_not_over(of, thing):
    nightly = open_batch("nightly", "", thing.tenant.pk)
    last = thing.async_(after_end=nightly).echo()
    assert states(last) == ["blocked"]
    [member] = nightly.add(of())
    for field in ("after", "after_end"):  # it would wait for its own end
        with pytest.raises(InvalidRequest) as refused:
            nightly.add([of(), thing.async_(**{field: nightly}).echo.request()])
        assert (refused.value.field, refused.value.index) == (field, 1)
    end(member)
    assert states(last) == ["blocked"]
    why = explain(last, tenant_id=thing.tenant.pk).sentence
    assert why == f"Waits for 1 job: {nightly.id} (batch, 1 of 1 ended, and it is still open)."
    assert not close_batch(nightly.id, tenant_id=TenantFactory().pk)
    assert close_batch(nightly.id, tenant_id=EVERY_TENANT)
    assert not close_batch(nightly.id, tenant_id=EVERY_TENANT)
    assert states(last) == ["created"]


def test_a_stranger_neither_adds_to_it_nor_waits_for_it_nor_cancels_it(made, of):
    nightly, (member,), *_ = made()
    stranger = ThingFactory(tenant=TenantFactory())
    theirs = stranger.async_.echo.request()
    with pytest.raises(InvalidRequest):
        nightly.add(theirs)
    with pytest.raises(InvalidRequest, match="there is no job"):
        stranger.async_(after=nightly).echo()
    with pytest.raises(InvalidRequest):
        Batch(nightly.id, stranger.tenant.pk).add(theirs)
    with pytest.raises(InvalidRequest), batch("mixed", on_end=of("end")) as mixed:
        mixed.add(theirs)
    assert cancel_batch(nightly.id, tenant_id=stranger.tenant.pk) == 0
    assert store.read_batches(tenant_id=stranger.tenant.pk) == []
    assert not close(Batch(nightly.id, stranger.tenant.pk))
    assert status(member) == "created"


def test_no_statement_finds_an_open_one_of_a_stranger():
    owner, stranger = TenantFactory(), TenantFactory()
    nightly = store.open_batch("nightly", "", tenant_id=owner.pk)
    member, failed = make_job(owner, batch_id=nightly), make_job(owner, Status.ERROR, batch_id=nightly)
    ended = make_job(owner, Status.CANCELLED, batch_id=nightly, barred=True)
    make_job(owner, Status.DEAD, batch_id=nightly, dedup_key=ERASED)
    for tenant, mine in ((stranger, False), (owner, True)):
        assert store.grow_batch(nightly, 1, tenant_id=tenant.pk, caller=None, attempt=0) is mine
        assert open_members(nightly, 0, tenant_id=tenant.pk) == [member.pk] * mine
        assert failed_members(nightly, 0, tenant_id=tenant.pk) == [failed.pk] * mine, "an operator's and erased ones"
        assert store.begin_cancel(nightly, uuid4(), tenant_id=tenant.pk) is mine
        assert store.close_batch(nightly, tenant_id=tenant.pk) is mine
    assert failed_members(nightly, 0, tenant_id=EVERY_TENANT) == [failed.pk, ended.pk]


def test_a_stranger_does_not_see_what_waits_for_it(made):
    nightly, _, success, ends = made()
    assert store.waiting_for(nightly.id, tenant_id=nightly.tenant_id) == [(success, False), (ends, True)]
    assert store.waiting_for(nightly.id, tenant_id=TenantFactory().pk) == []


def test_nonsense_is_refused_by_its_name(of):
    for name in ("", "x" * 201, "\x00"):
        with pytest.raises(InvalidRequest) as refused, batch(name, on_end=of()):
            pass
        assert refused.value.field == "name"
    with pytest.raises(InvalidRequest) as refused, batch("nobody's"):
        pass
    assert refused.value.field == "tenant"


def test_identical_jobs_of_one_batch_are_one_and_those_of_two_are_two(thing):
    call = thing.async_.echo.request("same")
    outside = thing.async_.echo("same")
    with batch("one") as one:
        assert len(set(one.add([call, call]))) == 1
    with batch("two") as two:
        two.add(call)
    assert one.progress().total == two.progress().total == 1
    assert Job.objects.exclude(pk=outside).count() == 2


def test_a_job_at_its_end_waits_also_for_what_it_names_itself_and_is_never_replaced(thing, of):
    first = thing.async_(identical="replace").echo()
    for options in ({}, {"identical": "replace"}):
        with batch("nightly", on_success=of("a", after=first), on_end=thing.async_(**options).echo.request()):
            pass
    with batch("nightly", on_end=of("b", after_end=first)) as nightly:
        nightly.add(of())
    assert states(first) == ["created"]
    waits = {(edge.predecessor_id, edge.whatever) for edge in JobEdge.objects.all()}
    assert waits == {(first, False), (first, True), (nightly.id, True)}


def test_a_cancelled_batch_drops_waiting_jobs_and_asks_running_ones_to_stop(made, of, monkeypatch):
    nightly, members, success, ends = made(4)
    end(members[0])
    row = make_job(TenantFactory(), Status.RUNNING)
    holder = {name: getattr(row, name) for name in ("ticket", "worker", "worker_pid", "queued_at", "start_time")}
    Job.objects.filter(pk=members[1]).update(status="running", slot=2, ready_at=None, attempt=1, **holder)
    assert cancel_batch(nightly.id, tenant_id=nightly.tenant_id) == 3
    assert states(*members, success, ends) == ["success", "running", "cancelled", "cancelled", "blocked", "blocked"]
    assert Job.objects.get(pk=members[1]).cancel_requested_at is not None
    progress = nightly.progress()
    assert (progress.running, progress.waiting, progress.ended, progress.share) == (1, 0, 3, 0.75)
    running = CurrentJob(id=members[1], attempt=1, ask_cancelled=lambda: True)
    monkeypatch.setattr("jobs.engine.submitting.batches.caller", lambda: running)
    with pytest.raises(Cancelled):
        nightly.add(of())
    running.ask_cancelled = lambda: False  # it was just adding
    for _ in range(2):
        added = nightly.add([of(), of()])
        assert go_on_cancelling() == 2
        assert states(*added) == ["cancelled"] * 2
    assert go_on_cancelling() == 0
    assert nightly.progress().cancelling
    assert store.stop(members[1], 1, {})
    assert go_on_cancelling() == 0
    assert not nightly.progress().cancelling
    assert states(ends) == ["created"]


def entries() -> list[tuple[str, str, int, int]]:
    told = Change.objects.filter(kind="jobs.job").order_by("pk")
    return [(one.who, one.verb, one.values.get("number", 1), one.subjects.count()) for one in told]


def test_a_cancel_of_many_is_one_act_with_one_entry_that_the_clock_goes_on_with(made, monkeypatch):
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 2)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 0)
    nightly, members, _, ends = made(7)
    with audit.acting("ines"):
        assert cancel_batch(nightly.id, tenant_id=EVERY_TENANT) == 2
    assert states(*members, ends) == ["cancelled"] * 2 + ["created"] * 5 + ["blocked"]
    assert nightly.progress().cancelling
    assert revive(members[0], tenant_id=EVERY_TENANT), "it is not cancelled twice"
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 9)
    assert go_on_cancelling() == 5
    assert states(*members) == ["created"] + ["cancelled"] * 6
    assert not nightly.progress().cancelling
    assert (go_on_cancelling(), Job.objects.filter(barred=True).count()) == (0, 6)
    assert entries() == [("ines", "cancelled", 7, 7)]


def test_a_cancel_that_dies_is_gone_on_with_in_the_name_of_who_asked(made, monkeypatch):
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 2)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 9)
    nightly, members, success, ends = made(5)

    def dies(*_, **__):
        raise OSError

    with pytest.raises(OSError), audit.acting("ines"), monkeypatch.context() as patched:
        patched.setattr("jobs.engine.verbs.batch_actions._cancel", dies)
        cancel_batch(nightly.id, tenant_id=nightly.tenant_id)
    assert states(*members) == ["cancelled"] * 2 + ["created"] * 3
    assert go_on_cancelling() == 3
    assert states(*members, success, ends) == ["cancelled"] * 5 + ["blocked", "created"]
    assert entries() == [("ines", "cancelled", 5, 5)]
    assert not Job.objects.filter(barred=True).exists()


def test_a_second_cancellation_begins_anew_and_an_operators_stays_one(made, monkeypatch):
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 2)
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 0)
    nightly, members, *_ = made(5)
    with audit.acting("ines"):
        assert cancel_batch(nightly.id, tenant_id=EVERY_TENANT) == 2
    assert cancel_batch(nightly.id, tenant_id=TenantFactory().pk) == 0
    assert revive(members[0], tenant_id=EVERY_TENANT)
    with audit.acting("acme"):
        assert cancel_batch(nightly.id, tenant_id=nightly.tenant_id) == 2
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.SECONDS", 9)
    assert go_on_cancelling() == 2
    assert Job.objects.filter(batch_id=nightly.id, barred=True, status="cancelled").count() == 5
    assert entries() == [("ines", "cancelled", 2, 2), ("acme", "cancelled", 4, 4)]
    assert not BatchCancel.objects.exists()


def test_failed_members_are_revived_from_every_table_part_by_part(made, monkeypatch):
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.PART", 2)
    nightly, members, *_ = made(6)
    for member in members[:5]:
        cancel(member, tenant_id=nightly.tenant_id)
    assert call_at(LATER, store.archive, 0, timezone.now() - timedelta(days=1), LATER, batch=1) == 1
    monkeypatch.setattr("jobs.engine.verbs.batch_actions.MOST", 3)
    assert revive_batch(nightly.id, tenant_id=TenantFactory().pk) == 0
    assert [revive_batch(nightly.id, tenant_id=nightly.tenant_id) for _ in range(3)] == [4, 1, 0]
    assert states(*members) == ["created"] * 6
    assert nightly.progress().waiting == 6


def test_a_batch_of_many_takes_several_turns(made, monkeypatch):
    monkeypatch.setattr("jobs.store.awaiting.BATCH", 7)
    monkeypatch.setattr("jobs.engine.submitting.batches.AT_ONCE", 10)
    nightly, members, success, ends = made(45)
    for member in members:
        cancel(member, tenant_id=EVERY_TENANT)
    assert states(success, ends) == ["blocked", "created"]
    assert nightly.progress().cancelled == 45


def test_a_job_of_no_batch_has_none(ran, of):
    assert current_job().batch is None
    assert batch_of(0) is None
