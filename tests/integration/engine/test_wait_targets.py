"""Each attempt is judged once, by the wait target of its queue when it started, whatever became of the target since."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from jobs.engine.verbs import limits
from jobs.models import ClosedDay, JobMinute, LimitChange, Queue, TenantHour, Total, UsageDay
from jobs.reading import wait_targets
from jobs.reading.health import look
from jobs.reading.health.target_look import look_targets
from jobs.reading.statistics import Kept
from jobs.recording import close, record
from jobs.store.rows import rows
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory
from tests.integration.engine.test_record import HOUR, MINUTE, NOON, at, attempt
from tests.integration.store import test_waits as waits

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def said(seconds: float | None, since=NOON - HOUR, queue=7, kind="queue", **more) -> None:
    """What the trigger notes when the target of a queue changes."""
    limits = {"wait_target": seconds, "weight": 1} | more
    LimitChange.objects.create(at=since, kind=kind, subject=queue, limits=limits)


def judged(model, **of) -> list[tuple[int, int]]:
    return list(model.objects.filter(**of).order_by("pk").values_list("targeted", "in_time"))


def test_only_the_wait_for_a_process_is_judged_and_the_target_itself_is_in_time():
    said(1.5)
    attempt(waited=60.0, own=58.5)
    attempt(waited=1.5, own=None)
    attempt(waited=60.0, own=58.499)
    attempt(waited=1.501, own=0.0)
    attempt(waited=None, own=None)  # of before an upgrade
    attempt(queue_id=8)
    at(75)
    assert judged(JobMinute) == judged(Total) == judged(TenantHour) == [(4, 2), (0, 0)]


def test_every_attempt_is_judged_also_of_a_retry_and_each_tenant_has_its_own():
    said(1.0)
    for outcome in ("retry", "crash", "success", "snooze"):
        attempt(outcome=outcome, waited=1.0, own=0.0)
    attempt(tenant_id=2, waited=2.0, own=0.0)
    at(75)
    assert judged(TenantHour, tenant_id=1) == [(1, 1)] * 4
    assert judged(TenantHour, tenant_id=2) == [(1, 0)]


def test_an_attempt_is_judged_by_the_target_under_which_it_started_also_when_it_is_counted_again():
    """All end at noon. In the minutes before it there was no record, no target, 2 s, 1 s, and none again."""
    said(None, NOON - 20 * MINUTE)
    said(2.0, NOON - 10 * MINUTE)
    said(2.0, NOON - 9 * MINUTE, weight=3)  # another limit of the queue
    said(1.0, NOON - 5 * MINUTE)
    said(None, NOON - MINUTE)
    said(9.0, NOON, queue=1)
    said(None, NOON - 8 * MINUTE, kind="tenant", num_slots=3)  # a tenant that has the number of the queue
    for minutes in (25, 15, 7, 3, 0.5):
        attempt(ran=60 * minutes, waited=1.5, own=0.0)
    at(75)
    assert (judged(JobMinute), judged(TenantHour)) == ([(2, 1)], [(2, 1)])
    said(0.1, NOON + MINUTE)
    attempt(ran=60 * 7.0, waited=9.0, own=0.0)
    at(360)
    assert judged(JobMinute) == judged(TenantHour) == judged(Total) == [(3, 1)]


def test_a_wait_for_ones_own_slots_burns_no_budget_and_one_for_a_process_does():
    """Both jobs wait for more than a minute, the one behind its tenant's only slot, the other without a worker."""
    owner, stranger = TenantFactory(queue__num_slots=1), TenantFactory(queue__num_slots=2)
    Queue.objects.update(wait_target=30)
    waits.workers(2)
    waits.submit(owner, 0), waits.submit(owner, 0)
    (first,) = waits.claim(0)
    waits.start(first, 0)
    waits.workers(0)
    waits.submit(stranger, 10)
    waits.end(first, 70)
    waits.workers(3)
    for job in waits.claim(75):
        waits.start(job, 76)
        waits.end(job, 77)
    at(180)
    assert judged(TenantHour, tenant_id=owner.pk) == [(2, 2)]
    assert judged(TenantHour, tenant_id=stranger.pk) == [(1, 0)]


def test_the_trigger_notes_a_target_whoever_changes_it():
    queue = QueueFactory(name="mails")
    limits.change(queue, {"wait_target": 30.0})
    Queue.objects.filter(pk=queue.pk).update(wait_target=None)
    noted = LimitChange.objects.filter(kind="queue", subject=queue.pk).order_by("id")
    assert [one.limits["wait_target"] for one in noted] == [None, 30.0, None]


def test_the_database_refuses_a_target_that_is_none():
    queue = QueueFactory()
    for seconds in (0, -1, float("nan"), float("inf")):
        with pytest.raises(IntegrityError, match="queues_wait_target_positive"), transaction.atomic():
            Queue.objects.filter(pk=queue.pk).update(wait_target=seconds)


def test_a_closed_day_keeps_what_it_was_billed_for_and_a_late_attempt_goes_to_the_next(subtests):
    mails, exports, other = (QueueFactory(name=name, wait_target=2.0) for name in ("mails", "exports", "others"))
    Queue.objects.filter(pk=other.pk).update(wait_target=None)
    owner, stranger = TenantFactory(), TenantFactory()
    begin = NOON - 31 * DAY
    LimitChange.objects.update(at=begin - HOUR)
    LimitChange.objects.filter(subject=other.pk, limits__wait_target=None).delete()

    def turn(now) -> None:
        call_at(now, record.record_minutes)
        call_at(now, record.record_hours)
        call_at(now, close.close_days)

    def ended(when, tenant, queue, *waits: float) -> None:
        for wait in waits:
            attempt(when, tenant_id=tenant.pk, queue_id=queue.pk, waited=wait, own=0.0)

    turn(begin)
    ended(begin, owner, mails, 1.0, 9.0)  # a month before: in no answer
    turn(begin + DAY)
    ended(begin + 2 * DAY, owner, mails, 1.0, 1.0, 9.0)
    ended(begin + 2 * DAY, stranger, mails, 9.0)
    ended(begin + 2 * DAY, stranger, exports, 1.0)
    ended(begin + 2 * DAY, owner, other, 1.0)
    turn(begin + 3 * DAY)
    ended(begin + 2 * DAY + HOUR, owner, mails, 1.0)  # found late
    turn(begin + 30 * DAY)
    ended(NOON - DAY - HOUR, owner, mails, 9.0)
    ended(NOON - HOUR, owner, mails, 1.0)
    turn(NOON)
    ended(NOON, stranger, mails, 1.0)
    turn(NOON + 2 * MINUTE)

    with subtests.test("days"):
        kept = {one.day: one.kept for one in ClosedDay.objects.all() if one.kept}
        assert kept[(begin + 2 * DAY).date()] == {str(mails.pk): [4, 2], str(exports.pk): [1, 1], str(other.pk): [1, 1]}
        assert sum(one[str(mails.pk)][0] for one in kept.values() if str(mails.pk) in one) == sum(
            one.targeted for one in UsageDay.objects.filter(queue_id=mails.pk)
        )

    def told(found) -> dict[str, tuple[Kept, Kept]]:
        assert {one.seconds for one in found} <= {2.0}
        return {one.queue: (one.last_day, one.last_month) for one in found}

    now = NOON + 2 * MINUTE
    with subtests.test("the owner"):
        assert told(wait_targets.of_tenant(owner.pk, now)) == {"mails": (Kept(1, 1), Kept(6, 4))}
    with subtests.test("the stranger"):
        mine = {"exports": (Kept(0, 0), Kept(1, 1)), "mails": (Kept(1, 1), Kept(2, 1))}
        assert told(wait_targets.of_tenant(stranger.pk, now)) == mine
        assert wait_targets.of_tenant(0, now) == []
    with subtests.test("all of them"):
        every = {"exports": (Kept(0, 0), Kept(1, 1)), "mails": (Kept(2, 2), Kept(8, 5))}
        assert told(wait_targets.of_queues(now)) == every
    with subtests.test("a queue without attempts"):
        QueueFactory(name="new", wait_target=5.0)
        assert wait_targets.of_queues(now)[-1] == wait_targets.WaitTarget("new", 5.0, Kept(0, 0), Kept(0, 0))


def test_a_look_counts_the_windows_of_queues_with_a_target_and_reads_nothing_without_one(monkeypatch):
    mails, exports = QueueFactory(name="mails"), QueueFactory(name="exports", wait_target=9.0)
    for queue in (mails, exports):
        said(1.0, NOON - DAY, queue=queue.pk)
        for minutes, wait in ((4, 1.0), (5, 9.0), (29, 1.0), (59, 9.0), (359, 9.0), (361, 9.0)):
            attempt(NOON - minutes * MINUTE, queue_id=queue.pk, waited=wait, own=0.0)
    call_at(NOON - 6 * HOUR - MINUTE, record.record_minutes)
    call_at(NOON, record.record_minutes)
    [found] = call_at(NOON, look_targets)
    assert (found.queue, found.seconds) == ("exports", 9.0)
    assert found.kept == {5: Kept(2, 1), 30: Kept(3, 2), 60: Kept(4, 2), 360: Kept(5, 2)}
    assert call_at(NOON, look).targets == [found]
    Queue.objects.update(wait_target=None)
    monkeypatch.setattr("jobs.reading.health.facts.look_targets", None)
    assert call_at(NOON, look).targets == []


def test_an_hour_whose_log_is_dropped_in_part_keeps_its_counts():
    said(9.0)
    attempt(), attempt()
    at(75)
    LimitChange.objects.all().delete()
    rows("record_hours", starts=NOON, ends=NOON + HOUR, bounds=[1.0])
    assert judged(TenantHour) == [(2, 2)]
