"""A job waits for an event of its tenant, without a slot; who tells the event lets it go on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import InvalidRequest, WaitFor, async_, events, store
from jobs.authoring.exceptions import EventWait, wait_of
from jobs.contrib.testing import drain
from jobs.engine.upkeep.prune import prune
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.engine.verbs.revive import revive
from jobs.models import UNTOLD, Attempt, FailedAttempt, Job, JobEnd, JobEvent
from jobs.reading.explain.explanation import explain
from jobs.store import results
from tests.clock import call_at
from tests.factories import TenantFactory, status
from tests.sample.asking import insist, ship, ship_in_turn
from tests.sample.models import Run

NAME = "approved:42"


def later(seconds: float):
    return timezone.now() + timedelta(seconds=seconds)


@pytest.fixture
def tenant(db):
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def stranger(db):
    return TenantFactory(queue__num_slots=1)


def submit(tenant, function=ship, order: str = "42", **call) -> int:
    return async_(function, tenant=tenant)(order=order, **call)


def answer(job_id: int) -> object:
    return results.load(Job.objects.get(pk=job_id)).value


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("exact_capacity")
def test_a_job_waits_without_a_slot_and_goes_on_with_the_event_of_its_tenant(kind, tenant, stranger):
    waiting, theirs = submit(tenant), submit(stranger)
    kind.serve()
    row = Job.objects.get(pk=waiting)
    assert (row.status, row.slot, row.waits_for, row.retries, row.stats) == ("blocked", None, NAME, 0, {"asked": 1})
    beside = submit(tenant, order="43")
    kind.serve()
    assert Job.objects.get(pk=beside).attempt == 1, "the only slot of its tenant is free"
    assert events.tell(tenant, NAME, {"by": "ada"})
    kind.serve()
    assert [status(waiting), status(theirs)] == ["success", "blocked"]
    assert answer(waiting) == [NAME, {"by": "ada"}]
    outcomes = Attempt.objects.filter(job_id=waiting).order_by("attempt").values_list("outcome", flat=True)
    assert list(outcomes) == ["wait_for", "success"]
    assert not FailedAttempt.objects.exists()
    assert not JobEnd.objects.exists()


def test_an_event_that_was_told_before_opens_at_once_and_a_second_one_is_refused(tenant, stranger, settings):
    assert events.tell(tenant, NAME, 1)
    assert not events.tell(tenant, NAME, 2), "the first stays"
    assert events.tell(stranger, NAME, 3), "that of another tenant"
    job_id = submit(tenant)
    drain()
    assert answer(job_id) == [NAME, 1]
    outsider = submit(TenantFactory(queue__num_slots=1))
    drain()
    assert status(outsider) == "blocked"
    day = settings.JOBS_EVENT_TTL = 86_400.0
    assert not call_at(later(day - 60), events.tell, tenant, NAME)
    assert call_at(later(day + 60), events.tell, tenant, NAME, 4)
    assert JobEvent.objects.get(tenant=tenant).payload == 4


def test_an_event_that_is_kept_no_longer_opens_nothing(tenant):
    events.tell(tenant, NAME)
    JobEvent.objects.update(kept_until=timezone.now())
    job_id = submit(tenant)
    drain()
    assert status(job_id) == "blocked"


def test_one_event_opens_all_that_wait_for_it_however_many(tenant, monkeypatch):
    monkeypatch.setattr("jobs.store.awaiting.BATCH", 2)
    ids = [submit(tenant) for _ in range(5)]
    drain()
    assert {status(one) for one in ids} == {"blocked"}
    events.tell(tenant, NAME)
    drain()
    assert {status(one) for one in ids} == {"success"}


def test_a_job_may_wait_again_for_another_event_but_not_for_the_one_that_it_has(tenant):
    job_id, again = submit(tenant), submit(tenant, insist)
    drain()
    events.tell(tenant, NAME, "and paid")
    drain(raising=False)
    assert Job.objects.get(pk=job_id).waits_for == "paid:42"
    failed = Job.objects.get(pk=again)
    assert (failed.status, failed.attempt) == ("error", 2)
    assert "read current_job().event before you wait" in failed.last_error
    events.tell(tenant, "paid:42")
    drain()
    assert answer(job_id) == ["paid:42", None]


def test_the_event_stays_with_the_job_through_failures_and_revivals(tenant):
    job_id = submit(tenant)
    drain()
    events.tell(tenant, NAME, "fail")
    drain(later=True, raising=False)
    assert (status(job_id), Run.objects.count()) == ("dead", 3)
    JobEvent.objects.all().delete()
    assert revive(job_id, tenant_id=tenant.pk)
    drain(later=True, raising=False)
    assert (status(job_id), Run.objects.count()) == ("dead", 5), "it has not waited anew"


def test_patience_ends_the_wait_with_a_reason_and_a_revival_begins_it_anew(tenant, stranger):
    events.tell(stranger, NAME)
    job_id = submit(tenant)
    drain()
    moment = Job.objects.get(pk=job_id).expires_at
    assert explain(job_id, tenant_id=tenant.pk).sentence == (
        f"Waits for the event {NAME} until {moment:%Y-%m-%d %H:%M:%S} UTC; then it is cancelled."
    )
    assert not call_at(moment - timedelta(seconds=1), store.lapse)
    assert 0 < store.next_moment() < 60, "the clock wakes then"
    call_at(moment, store.lapse)
    row = Job.objects.get(pk=job_id)
    assert (row.status, row.reason) == ("cancelled", UNTOLD)
    assert f"its event did not come in time ({NAME})" in explain(job_id, tenant_id=tenant.pk).sentence
    events.tell(tenant, NAME)
    drain()
    assert status(job_id) == "cancelled", "too late"
    JobEvent.objects.all().delete()
    revive(job_id, tenant_id=tenant.pk)
    drain()
    assert Job.objects.get(pk=job_id).waits_for == NAME


def test_an_event_in_time_counts_though_nobody_has_read_its_news(tenant):
    job_id = submit(tenant)
    drain()
    moment = Job.objects.get(pk=job_id).expires_at
    store.tell(tenant.pk, NAME, "1")
    JobEnd.objects.all().delete()  # as the reader of an older release does
    assert not call_at(moment, store.lapse)
    store.read_ends()
    row = Job.objects.get(pk=job_id)
    assert (row.status, row.expires_at, row.waits_for) == ("created", None, None)
    assert not call_at(later(9999), store.lapse), "in line it does not expire"


def test_a_job_that_waits_is_cancelled_and_paused_and_joined_as_others_are(tenant, stranger):
    job_id = submit(tenant, function=ship_in_turn)
    drain()
    assert cancel(job_id, tenant_id=stranger.pk) == "too late"
    pause_job_type("tests.sample.asking", "ship_in_turn")
    events.tell(tenant, NAME)
    drain()
    assert Job.objects.get(pk=job_id).is_held
    resume_job_type("tests.sample.asking", "ship_in_turn")
    drain()
    assert status(job_id) == "success"
    other, joining = (async_(ship, tenant=tenant, dedup=True) for _ in range(2))
    other = other(order="43")
    drain()
    assert joining(order="43") == other
    assert Job.objects.get(pk=other).expires_at is not None, "its patience stays"
    assert cancel(other, tenant_id=tenant.pk) == "cancelled"
    events.tell(tenant, "approved:43")
    drain()
    assert status(other) == "cancelled"


def test_a_job_that_waits_keeps_its_turn_in_its_sequence_also_against_an_older_one(tenant):
    older = submit(tenant, ship_in_turn, waits=False)
    cancel(older, tenant_id=tenant.pk)
    first, second = submit(tenant, ship_in_turn), submit(tenant, ship_in_turn, waits=False)
    drain()
    revive(older, tenant_id=tenant.pk)
    drain()
    assert [status(one) for one in (older, first, second)] == ["blocked"] * 3
    assert f"Waits for job {first} (blocked)" in explain(older, tenant_id=tenant.pk).sentence
    events.tell(tenant, NAME)
    drain()
    assert list(Run.objects.order_by("id").values_list("job_id", flat=True)) == [first, first, older, second]


@pytest.mark.parametrize("name", ["", "x" * 201, 42, "a\x00b"])
def test_a_wrong_name_is_refused_where_one_waits_and_where_one_tells(tenant, name):
    with pytest.raises(ValueError, match="text of 1 to 200 characters"):
        WaitFor(name, seconds=1)
    with pytest.raises(InvalidRequest, match="name: must be text of 1 to 200 characters"):
        events.tell(tenant, name)


def test_a_wrong_payload_or_time_is_refused(tenant):
    for payload, said in (({1}, "set is not JSON"), ("x" * 16_384, "at most 16,384 bytes")):
        with pytest.raises(InvalidRequest, match=said):
            events.tell(tenant, NAME, payload)
    for seconds in (0, -1, float("inf"), "1"):
        with pytest.raises(ValueError, match="WaitFor takes seconds"):
            WaitFor(NAME, seconds=seconds)
    assert not JobEvent.objects.exists()
    tasks = [WaitFor(NAME, seconds=5), WaitFor(NAME, seconds=3)]
    assert wait_of(ExceptionGroup("tasks", tasks)) == EventWait(NAME, 3)
    with pytest.raises(ValueError, match="one event for each attempt"):
        wait_of(ExceptionGroup("tasks", [*tasks, WaitFor("paid", seconds=3)]))


def test_old_events_are_deleted(tenant):
    events.tell(tenant, NAME)
    events.tell(tenant, "old")
    JobEvent.objects.filter(name="old").update(kept_until=timezone.now() - timedelta(seconds=1))
    prune()
    assert [event.name for event in JobEvent.objects.all()] == [NAME]
