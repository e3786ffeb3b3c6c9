"""What each tenant got of its fair share, as the recorder samples it; and the tenants that are starved."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from jobs.lifecycle import Status
from jobs.models import Attempt, FullHour, Sample, SlotHour, SlotPeak, TenantShare, Worker
from jobs.reading.health import look
from jobs.reading.looking import reading_as_sets
from jobs.recording.sample import record_sample
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
PLANNED = "SELECT current_setting('enable_nestloop'), current_setting('enable_hashjoin')"


@pytest.fixture
def live(register):
    """A worker that beats at that time, too."""
    worker = register(concurrency=4)
    Worker.objects.update(beat_at=NOON, beat_interval=86_400.0)
    return worker


def worked(tenant, starts: float, ends: float, now=NOON) -> None:
    """An attempt that ended: it began and ended so many seconds before now."""
    times = {"start_time": now - timedelta(seconds=starts), "ended_at": now - timedelta(seconds=ends)}
    Attempt.objects.create(
        job_id=1, tenant_id=tenant.pk, queue_id=QueueFactory().pk, attempt=1, priority=5, outcome="success", **times
    )


def share(tenant) -> tuple[float, float, float, float]:
    one = TenantShare.objects.get(tenant_id=tenant.pk)
    return tuple(round(value, 3) for value in (one.got, one.entitled, one.got_hour, one.entitled_hour))


def test_a_tenant_got_what_processes_worked_for_it_in_this_minute(live):
    tenant = TenantFactory()
    worked(tenant, 10, 4)
    worked(tenant, 70, 55)  # 5 s of it
    worked(tenant, 200, 60)  # before it
    make_job(tenant, Status.RUNNING, worker=live, start_time=NOON - timedelta(seconds=20))
    call_at(NOON, record_sample)
    assert share(tenant)[0] == 31.0


def test_the_work_of_a_pool_is_shared_by_possible_use_and_weight(live):
    heavy, light, small = (TenantFactory(queue__num_slots=9, queue__weight=weight) for weight in (3, 1, 1))
    for tenant, seconds in ((heavy, 48), (light, 48), (small, 48)):
        worked(tenant, seconds, 0.001)
    for tenant in (heavy, light):
        for _ in range(9):
            make_job(tenant)
    call_at(NOON, record_sample)
    assert [share(tenant)[:2] for tenant in (heavy, light)] == [(47.999, 107.998), (47.999, 35.999)]
    assert share(small)[:2] == (47.999, 0.0), "it has no work now"


def test_jobs_behind_a_closed_queue_are_entitled_to_nothing(live):
    tenant = TenantFactory()
    worked(tenant, 40, 0.001)
    make_job(tenant, queue=QueueFactory(name="shut", paused=True))
    call_at(NOON, record_sample)
    assert share(tenant)[1] == 0.0


def test_older_minutes_fade_and_a_tenant_without_any_leaves(live):
    tenant = TenantFactory()
    worked(tenant, 60, 0)
    call_at(NOON, record_sample)
    call_at(NOON + MINUTE, record_sample)
    assert share(tenant) == (48.0, 0.0, 59.0, 0.0)
    TenantShare.objects.update(got_hour=0.005)
    call_at(NOON + 2 * MINUTE, record_sample)
    assert not TenantShare.objects.exists()


def test_a_minute_counts_once_however_often_it_is_sampled(live):
    tenant = TenantFactory()
    worked(tenant, 60, 0)
    for seconds in (0, 20, 40):
        call_at(NOON + timedelta(seconds=seconds), record_sample)
    assert share(tenant)[0] == 60.0


def test_the_minutes_in_which_a_tenant_was_full_are_counted_by_the_hour(live):
    queue = QueueFactory()
    full, free, idle, closed = (TenantFactory(queue__num_slots=slots) for slots in (1, 2, 1, 0))
    for tenant in (full, free, idle):
        make_job(tenant, Status.RUNNING, worker=live, start_time=NOON, queue=queue)
    for tenant in (full, free, closed):
        make_job(tenant, queue=queue)
    for minute in (0, 0.3, 1, 59, 60):
        call_at(NOON + minute * MINUTE, record_sample)

    def noted():
        return {(one.tenant_id, (one.hour - NOON) // MINUTE): one.minutes for one in FullHour.objects.all()}

    assert noted() == {(full.pk, 0): 3, (full.pk, 60): 1}
    call_at(NOON + timedelta(days=1, hours=1), record_sample)
    assert noted() == {(full.pk, 60): 1, (full.pk, 25 * 60): 1}


def test_work_that_no_look_found_counts_in_the_slots_of_its_minute_and_its_hour(live):
    """Forty seconds of short attempts: no slot is in use at a look, and the page of the tenant would be empty."""
    short, held, stranger = (TenantFactory(queue__num_slots=3) for _ in range(3))
    for _ in range(4):
        worked(short, 20, 0.001)
    make_job(held, Status.RUNNING, worker=live, start_time=NOON - timedelta(seconds=30))
    make_job(stranger)
    for minute in (0, 1, 60):
        call_at(NOON + minute * MINUTE, record_sample)
    noted = {
        (one.tenant_id, (one.hour - NOON) // MINUTE): (round(one.seconds), one.most) for one in SlotHour.objects.all()
    }
    assert noted == {(short.pk, 0): (80, 2), (held.pk, 0): (90, 1), (held.pk, 60): (60, 1)}
    assert dict(SlotPeak.objects.values_list("tenant_id", "slots")) == {short.pk: 2, held.pk: 1}
    seen = Sample.objects.order_by("at").first().tenants
    assert seen[str(short.pk)] == {"in_use": 0, "slots": 3, "waiting": 0, "seconds": 80.0}
    assert (seen[str(held.pk)]["seconds"], seen[str(stranger.pk)]["seconds"]) == (30.0, 0.0)
    call_at(NOON + timedelta(days=1, hours=1), record_sample)
    assert not SlotHour.objects.filter(hour=NOON).exists()


def test_fairness_is_of_those_that_were_entitled_to_something(live):
    fair, unfair = TenantFactory(), TenantFactory()
    for tenant, got in ((fair, 400.0), (unfair, 100.0)):
        TenantShare.objects.create(tenant_id=tenant.pk, got=0, entitled=0, got_hour=got, entitled_hour=400.0)
    TenantShare.objects.create(tenant_id=0, got=0, entitled=0, got_hour=9.0, entitled_hour=1.0)
    call_at(NOON, record_sample)
    assert Sample.objects.get().fairness == pytest.approx(1.25**2 / (2 * (1 + 0.25**2)))


def test_a_sample_says_how_it_is_planned_and_leaves_the_settings_of_its_transaction_as_they_were(live):
    make_job(TenantFactory())
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_hashjoin = off")
        with reading_as_sets():
            cursor.execute(PLANNED)
            assert cursor.fetchone() == ("off", "on"), "no way is left to join sets"
        call_at(NOON, record_sample)  # in the transaction of this test
        cursor.execute(PLANNED)
        assert cursor.fetchone() == ("on", "off")


def test_a_sample_of_the_last_release_which_knows_no_states_is_stored():
    sql("INSERT INTO samples (at, tenants, queues, pools) VALUES (now(), '{}', '{}', '{}')")
    assert Sample.objects.get().states == {}


class TestStarved:
    @pytest.fixture
    def tenant(self, live):
        tenant = TenantFactory(name="Puget")
        TenantShare.objects.create(tenant_id=tenant.pk, got=79.0, entitled=100.0, got_hour=790.0, entitled_hour=1000.0)
        return tenant

    def told(self) -> list[str]:
        return [one.name for one in call_at(NOON, look).starved]

    def waits(self, tenant, seconds=61, **fields) -> None:
        make_job(tenant, ready_at=NOON - timedelta(seconds=seconds), **fields)

    def test_a_tenant_with_too_little_and_a_free_slot_is_starved(self, tenant):
        self.waits(tenant)
        assert self.told() == ["Puget"]
        call_at(NOON, record_sample)
        assert Sample.objects.get().states == {"starved": 1}
        assert call_at(NOON, look).sample.states == {"starved": 1}

    def test_not_a_stranger_that_waits_as_long_and_got_its_share(self, tenant):
        self.waits(TenantFactory())
        assert self.told() == []

    def test_not_who_has_not_waited_long(self, tenant):
        self.waits(tenant, 59)
        assert self.told() == []

    @pytest.mark.parametrize("enough", [{"got": 80.0}, {"got_hour": 800.0}, {"entitled": 20.0, "got": 0.0}])
    def test_not_who_got_enough_lately_or_in_the_last_hour_or_was_entitled_to_little(self, tenant, enough):
        self.waits(tenant)
        TenantShare.objects.update(**enough)
        assert self.told() == []

    def test_not_who_has_all_its_slots(self, tenant):
        self.waits(tenant)
        for _ in range(2):
            make_job(tenant, Status.RUNNING)
        assert self.told() == []
        call_at(NOON, record_sample)
        assert Sample.objects.get().states == {"full": 1}

    def test_not_who_waits_for_a_paused_queue(self, tenant):
        self.waits(tenant, queue=QueueFactory(name="shut", paused=True))
        assert self.told() == []
