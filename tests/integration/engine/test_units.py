"""Units: what a body says it has used counts whatever becomes of the attempt, and is billed to its tenant alone."""

import random
from collections import Counter
from datetime import timedelta

import pytest

from jobs import Abandon, RetryLater, current_job, job, store
from jobs.engine.upkeep import recover
from jobs.models import Attempt, TenantBook, UsageDay
from jobs.reading import usage
from jobs.recording import close, record
from jobs.store import Failure, Seat, Started
from tests.attempts import WORKER
from tests.clock import call_at
from tests.factories import ThingFactory
from tests.integration.engine.test_record import NOON, attempt
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
PROCESS = Seat(WORKER, 7)


def fail(error: BaseException) -> None:
    raise error


def used_by(job_id: int) -> list[tuple[str, dict | None]]:
    """What each attempt has used, with its outcome."""
    return list(Attempt.objects.filter(job_id=job_id).order_by("attempt").values_list("outcome", "units"))


def book_of(tenant_id: int) -> dict[str, int]:
    """The sums of all months."""
    sums: Counter[str] = Counter()
    for month in (TenantBook.objects.get(tenant_id=tenant_id).used or {}).values():
        sums.update(month)
    return dict(sums)


@pytest.fixture
def running(thing) -> Started:
    """An attempt that runs in PROCESS."""
    begun = store.start(thing.async_.echo(), 1, PROCESS)
    assert begun is not None
    return begun


@pytest.mark.parametrize(
    ("outcome", "end"),
    [
        ("success", lambda: None),
        ("error", lambda: 1 / 0),
        ("snooze", lambda: fail(RetryLater(60))),
        ("dead", lambda: fail(Abandon("no"))),
    ],
)
def test_an_attempt_counts_its_units_however_it_ends_in_both_kinds_of_pools(outcome, end, kind, monkeypatch):
    async def echo(self, value=None):
        current_job().used(tokens=1000, pages=3)
        current_job().used(tokens=840, nothing=0)
        end()

    monkeypatch.setattr(Thing, "echo", job(dedup=False)(echo))
    thing, other = ThingFactory(), ThingFactory()
    job_id = thing.async_.echo()
    kind.serve()
    store.claim()
    assert used_by(job_id) == [(outcome, {"tokens": 1840, "pages": 3})]
    assert book_of(thing.tenant_id) == {"tokens": 1840, "pages": 3}
    assert not TenantBook.objects.filter(tenant_id=other.tenant_id).exists()


class TestEndedByOthers:
    def test_an_attempt_that_is_killed_keeps_what_its_last_progress_told(self, running):
        store.progress(running.id, 1, PROCESS, 0.5, "", units={"tokens": 5})
        store.progress(running.id, 1, PROCESS, 0.6, "")  # nothing new, and it takes nothing away
        assert store.take_back(running.id, 1, Failure("Crashed", "killed"), max_crashes=3) == "scheduled"
        assert used_by(running.id) == [("crash", {"tokens": 5})]

    def test_an_attempt_that_ignores_its_time_limit_keeps_it_too_and_the_next_one_begins_at_none(self, running):
        store.progress(running.id, 1, PROCESS, 0.5, "", units={"tokens": 5})
        assert recover.time_out(running.id, 1, PROCESS)
        assert used_by(running.id) == [("error", {"tokens": 5})]
        assert store.revive(running.id, tenant_id=running.tenant_id)
        store.claim()
        again = store.start(running.id, 2, PROCESS)
        assert again is not None and store.succeed(running.id, 2, {}, None, by=again.holder)
        assert used_by(running.id)[1:] == [("success", None)]

    def test_the_end_tells_all_and_not_what_came_since_the_progress(self, running):
        store.progress(running.id, 1, PROCESS, 0.5, "", units={"tokens": 5})
        store.succeed(running.id, 1, {}, None, units={"tokens": 7, "pages": 1}, by=running.holder)
        assert used_by(running.id) == [("success", {"tokens": 7, "pages": 1})]

    def test_a_body_tells_its_units_with_its_progress(self, kind, monkeypatch):
        told = []

        async def echo(self, value=None):
            current_job().used(tokens=5)
            await current_job().aprogress(0.5)

        monkeypatch.setattr(Thing, "echo", job(dedup=False)(echo))
        monkeypatch.setattr(store, "progress", lambda *facts: told.append(facts[-1]))
        ThingFactory().async_.echo()
        kind.serve()
        assert told == [{"tokens": 5}]


class TestBills:
    def test_the_days_of_a_tenant_have_its_units_open_and_closed(self):
        (
            attempt(tenant_id=1, units={"tokens": 5}),
            attempt(tenant_id=1, units={"tokens": 2, "pages": 1}, outcome="crash"),
        )
        attempt(tenant_id=1), attempt(tenant_id=2, units={"tokens": 900})
        period = usage.UsageRequest(NOON.date(), (NOON + DAY).date(), ("tenant",))
        for now in (NOON, NOON + DAY):
            call_at(now, lambda: (record.record_hours(), close.close_days()))
            found = usage.read(period, 1, now)
            assert [line.units for line in found.lines] == [{"tokens": 7, "pages": 1}]
            assert found.units == {"pages": 1, "tokens": 7}
            assert usage.read(period, 3, now).units == {}
            assert usage.read(period, None, now).units == {"pages": 1, "tokens": 907}

    @pytest.mark.parametrize("seed", range(3))
    def test_any_history_bills_each_unit_once(self, seed):
        """Attempts commit late, and the recorder comes whenever it likes."""
        draw, now, held = random.Random(seed), NOON, []
        for _ in range(30):
            now += timedelta(hours=draw.choice([0.1, 2, 9]))
            units = draw.choice([None, {"tokens": draw.randrange(1, 9)}, {"pages": 1, "tokens": 3}])
            held.append({"ended_at": now, "units": units, "outcome": draw.choice(["success", "retry"])})
            while held and draw.random() < 0.7:
                attempt(**held.pop(draw.randrange(len(held))))
            if draw.random() < 0.5:
                call_at(now, lambda: (record.record_hours(), close.close_days()))
        for one in held:
            attempt(**one)
        for day in range(1, 9):
            call_at(now + day * DAY, lambda: (record.record_hours(), close.close_days()))
        assert totals(UsageDay) == totals(Attempt)


def totals(model) -> Counter:
    sums: Counter[str] = Counter()
    for units in model.objects.exclude(units=None).values_list("units", flat=True):
        sums.update(units)
    return sums
