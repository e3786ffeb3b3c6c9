"""What is looked at of queues and lanes, and that it costs the same however much waits."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import Job, Lane, Queue, TenantBook, Worker
from jobs.reading import looking, waits
from jobs.reading.looking import look_lanes, look_queues, look_tenants
from jobs.recording import may_run, statements
from jobs.recording.may_run import MayRun
from jobs.sql import statement
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.plans import buffers, fill, indexes_of_jobs
from tests.sql import sql, value

pytestmark = pytest.mark.django_db(transaction=True)  # a dispatch is a transaction of its own


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=3)


def jobs(tenant, count: int, **fields) -> list[Job]:
    return [make_job(tenant, **fields) for _ in range(count)]


def cut(tenant) -> tuple[str | None, bool, int]:
    [lane] = look_lanes(tenants={tenant.pk})
    return lane.gate, lane.no_tokens, lane.passing


class TestLanes:
    def test_new_jobs_are_seen_before_and_after_the_dispatch_that_folds_them(self, tenant):
        jobs(tenant, 2)
        before = look_lanes()
        store.claim()
        assert look_lanes() == before
        assert [(one.tenant_id, one.waiting, one.about) for one in before] == [(tenant.pk, 2, False)]

    def test_a_job_due_later_is_not_in_line(self, tenant):
        jobs(tenant, 3, status=Status.SCHEDULED)
        assert look_lanes() == []
        store.claim()
        assert look_lanes() == []
        jobs(tenant, 1)
        [lane] = look_lanes()
        assert lane.waiting == 1

    def test_jobs_due_later_add_nothing_to_an_empty_lane(self, tenant, monkeypatch):
        monkeypatch.setattr(looking, "MAX_COUNTED", 2)
        jobs(tenant, 3, status=Status.SCHEDULED)
        store.claim()
        jobs(tenant, 3)
        jobs(tenant, 2, status=Status.SCHEDULED)
        assert [(lane.waiting, lane.about) for lane in look_lanes()] == [(3, True)]

    def test_a_lane_that_keeps_a_wrong_number_of_none_is_not_told(self, tenant):
        jobs(tenant, 2)
        store.claim()
        Job.objects.update(status=Status.SCHEDULED, ready_at=None, due_at=timezone.now() + timedelta(hours=1))
        assert look_lanes() == []

    def test_many_waiting_jobs_are_told_by_the_number_that_the_lane_keeps(self, tenant, monkeypatch):
        monkeypatch.setattr(looking, "MAX_COUNTED", 2)
        jobs(tenant, 2)
        assert [(lane.waiting, lane.about) for lane in look_lanes()] == [(2, False)]
        jobs(tenant, 1)
        store.claim()
        Lane.objects.update(waiting=500)
        assert [(lane.waiting, lane.about) for lane in look_lanes()] == [(500, True)]

    def test_lanes_that_are_not_looked_at_are_told_together(self, monkeypatch):
        monkeypatch.setattr(looking, "MAX_LANES", 1)
        most, first, other, shut = (TenantFactory(queue__num_slots=2) for _ in range(4))
        TenantQueue.objects.filter(tenant=shut).update(paused=True)
        for one, count in ((first, 3), (other, 3), (shut, 2), (most, 5)):
            jobs(one, count)
            store.claim()
        told = {(lane.tenant_id, lane.gate): (lane.lanes, lane.waiting, lane.passing) for lane in look_lanes()}
        assert told == {
            (most.pk, None): (1, 5, 2),
            (first.pk, None): (1, 3, 2),
            (None, None): (1, 3, 2),
            (None, "tenant_paused"): (1, 2, 0),
        }

    def test_the_lanes_of_chosen_tenants_have_no_strangers(self, tenant):
        stranger = TenantFactory()
        jobs(tenant, 1), jobs(stranger, 2)
        store.claim()
        jobs(stranger, 1)
        assert [(lane.tenant_id, lane.waiting) for lane in look_lanes(tenants={tenant.pk})] == [(tenant.pk, 1)]
        assert look_lanes(tenants=set()) == []

    def test_each_lane_of_a_tenant_that_is_asked_for_is_told_by_itself(self, tenant, monkeypatch):
        monkeypatch.setattr(looking, "MAX_LANES", 1)
        queues = [QueueFactory(name=name) for name in ("a", "b", "c")]
        for queue in queues:
            jobs(tenant, 1, queue=queue), jobs(TenantFactory(), 1, queue=queue)
        told = {(lane.tenant_id, lane.queue_id, lane.waiting) for lane in look_lanes(tenants={tenant.pk})}
        assert told == {(tenant.pk, queue.pk, 1) for queue in queues}

    def test_the_limits_of_a_tenant_hold_what_is_beyond_them(self, tenant):
        jobs(tenant, 5)
        make_job(tenant, Status.RUNNING)
        assert cut(tenant) == (None, False, 2)
        TenantQueue.objects.update(rate_limit=1, rate_window=60.0)
        assert cut(tenant) == (None, False, 1)
        store.claim()
        TenantBook.objects.update(full_at=timezone.now() + timedelta(minutes=1))
        assert cut(tenant) == (None, True, 0)
        TenantQueue.objects.update(num_slots=1)
        assert cut(tenant) == ("slots_full", True, 0)
        TenantQueue.objects.update(paused=True)
        assert cut(tenant) == ("tenant_paused", True, 0)

    def test_slots_in_a_queue_hold_what_is_beyond_them_in_this_queue_alone(self, tenant):
        few, open_to_all = QueueFactory(name="few", tenant_slots=2), QueueFactory(name="open")
        jobs(tenant, 5, queue=few)
        for held in range(3):
            assert cut(tenant) == ("lane_full" if held == 2 else None, False, 2 - held)
            make_job(tenant, Status.RUNNING, queue=few)
        TenantQueue.objects.filter(tenant=tenant).update(num_slots=9, queue_slots={"few": 4})
        assert cut(tenant) == (None, False, 1)
        stranger = TenantFactory(queue__num_slots=9)
        jobs(stranger, 5, queue=few), jobs(stranger, 3, queue=open_to_all)
        passing = {lane.queue_id: lane.passing for lane in look_lanes(tenants={stranger.pk})}
        assert passing == {few.pk: 2, open_to_all.pk: 3}

    def test_a_tenant_without_slots_passes_nothing(self):
        tenant = TenantFactory(queue=None)
        jobs(tenant, 2)
        [lane] = look_lanes()
        assert (lane.gate, lane.waiting, lane.passing) == ("no_slots", 2, 0)

    def test_jobs_of_users_who_have_all_their_slots_are_counted(self):
        tenant = TenantFactory(queue__num_slots=3, queue__user_slots=1)
        make_job(tenant, Status.RUNNING, user_key="ines")
        jobs(tenant, 2, user_key="ines"), jobs(tenant, 1, user_key="jo"), jobs(tenant, 1)
        assert look_lanes()[0].of_full_users == 2
        TenantQueue.objects.update(user_slots=None)
        assert look_lanes()[0].of_full_users == 0


class TestTenants:
    def test_the_slots_of_a_tenant_are_right_before_and_after_the_fold(self, tenant):
        stranger = TenantFactory(queue__num_slots=3)
        held = [make_job(tenant, Status.QUEUED) for _ in range(3)]
        make_job(stranger, Status.RUNNING)
        asked = {tenant.pk, stranger.pk, 0}
        assert store.cancel([held[0].pk], tenant_id=tenant.pk)
        before = look_tenants(asked)
        store.claim()
        assert {pk: one.in_use for pk, one in before.items()} == {tenant.pk: 2, stranger.pk: 1}
        assert {pk: one.in_use for pk, one in look_tenants(asked).items()} == {tenant.pk: 2, stranger.pk: 1}
        assert look_tenants({stranger.pk}).keys() == {stranger.pk}


class TestEndlessProcesses:
    """Demand is what the claim would take if there were processes without end."""

    CASES = {
        "slots": ({"num_slots": 3}, {}, [7]),
        "few jobs": ({"num_slots": 9}, {}, [2]),
        "no slots": ({"num_slots": 0}, {}, [2]),
        "paused": ({"num_slots": 9, "paused": True}, {}, [2]),
        "rate of the tenant": ({"num_slots": 9, "rate_limit": 2, "rate_window": 600.0}, {}, [5]),
        "two queues": ({"num_slots": 4}, {}, [3, 3]),
        "two queues and a rate": ({"num_slots": 9, "rate_limit": 4, "rate_window": 600.0}, {}, [3, 3]),
        "queue's limit": ({"num_slots": 9}, {"concurrency": 2}, [5]),
        "queue's limit, and another queue": ({"num_slots": 4}, {"concurrency": 1}, [5, 5]),
        "queue's rate": ({"num_slots": 9}, {"rate_limit": 3, "rate_window": 600.0}, [5]),
        "paused queue": ({"num_slots": 3}, {"paused": True}, [5, 5]),
    }

    @pytest.mark.parametrize("holding", [0, 1])
    @pytest.mark.parametrize("case", CASES)
    def test_the_demand_is_the_number_that_the_claim_takes(self, case, holding, register):
        of_tenant, of_queue, waiting = self.CASES[case]
        first, second = QueueFactory(name="first"), QueueFactory(name="second")
        for _ in range(2):
            tenant = TenantFactory(queue=None)
            TenantQueue.objects.create(tenant=tenant, **of_tenant)
            for queue, count in zip((first, second), waiting, strict=False):
                jobs(tenant, count, queue=queue)
            for _ in range(holding):
                make_job(tenant, Status.QUEUED, queue=second)
        Queue.objects.filter(pk=first.pk).update(**of_queue)
        store.claim()  # folds; there is no process yet
        queues = look_queues()
        [pool] = waits.pools(look_lanes(), queues)
        register(concurrency=1000)
        taken = 0
        while found := store.claim():
            taken += len(found)
        assert pool.may_run == taken


class TestTwoLooks:
    @pytest.fixture(autouse=True)
    def now(self):
        self.now = timezone.now() + timedelta(minutes=1)  # what the tests make is ready before
        self.recorder = MayRun()

    def look(self, *seconds: float) -> waits.PoolDemand:
        """What is told of the pool after the recorder has looked then."""
        for second in seconds:
            call_at(self.now + timedelta(seconds=second), self.recorder.look)
        [pool] = waits.pools(call_at(self.now, look_lanes), call_at(self.now, look_queues))
        return pool

    def late(self, *seconds: float) -> tuple[int, float]:
        pool = self.look(*seconds)
        return pool.late, pool.late_seconds

    def idle_process(self, register) -> None:
        worker = register(concurrency=2)
        Worker.objects.update(beat_at=self.now, beat_interval=86_400.0)
        make_job(TenantFactory(), Status.RUNNING, worker=worker)

    def test_a_job_that_could_run_at_both_is_late_since_the_first(self, tenant):
        jobs(tenant, 2)
        assert self.late(0) == (0, 0.0)
        jobs(tenant, 1)
        assert self.late(4.9) == (0, 0.0)
        assert self.late(5) == (2, 5.0)
        assert self.late(12) == (3, 12.0)

    def test_looks_that_find_it_beside_an_idle_process_count_in_a_row(self, tenant, register):
        self.idle_process(register)
        jobs(tenant, 1)
        assert self.look(0, 5, 10).idle_looks == 3
        Worker.objects.update(concurrency=1)  # all processes are busy
        assert self.look(15).idle_looks == 0
        Worker.objects.update(concurrency=2)  # one is idle, for a moment
        assert self.look(20).idle_looks == 1

    def test_in_a_busy_pool_with_always_another_job_just_being_claimed_none_is_late(self, tenant, register):
        self.idle_process(register)
        for second in range(0, 30, 5):
            [job] = jobs(tenant, 1)
            pool = self.look(second)
            assert (pool.may_run, pool.late) == (1, 0)
            Job.objects.filter(pk=job.pk).update(status=Status.CANCELLED, ready_at=None, end_time=self.now)

    def test_a_recorder_that_begins_takes_back_what_another_one_found(self, tenant):
        jobs(tenant, 1)
        assert self.late(0, 5) == (1, 5.0)
        self.recorder = MayRun()
        assert self.late(10) == (0, 0.0)

    def test_a_job_that_was_claimed_in_between_is_not_late(self, tenant):
        first, *_ = jobs(tenant, 4)
        self.look(0)
        Job.objects.filter(pk=first.pk).update(status=Status.CANCELLED, ready_at=None, end_time=self.now)
        assert self.late(9) == (2, 9.0)

    def test_a_job_that_others_overtake_is_late_all_the_same(self, tenant, monkeypatch):
        monkeypatch.setattr(statements, "OF_A_LANE", 1)
        jobs(tenant, 1)
        self.look(0)
        jobs(tenant, 2, priority=0)
        assert self.late(5) == (1, 5.0)

    def test_a_job_that_ran_in_between_begins_its_wait_anew(self, register):
        tenant = TenantFactory(queue__num_slots=3)
        self.now = timezone.now()
        [job] = jobs(tenant, 1, ready_at=self.now - timedelta(seconds=30))
        self.look(-20)
        worker = register()
        [claimed] = store.claim()
        store.start(job.pk, claimed.attempt, store.Seat.here(worker))
        store.snooze(job.pk, claimed.attempt, {}, delay=0)
        store.promote()
        store.leave(worker)
        store.claim()  # folds
        assert [lane.waiting for lane in look_lanes()] == [1]
        assert self.late(0) == (0, 0.0)
        assert self.late(6) == (1, 6.0)

    def test_a_job_that_waited_for_its_tenant_begins_its_wait_anew(self, tenant):
        jobs(tenant, 2)
        self.look(0)
        TenantQueue.objects.update(num_slots=0)
        assert self.late(9) == (0, 0.0)
        TenantQueue.objects.update(num_slots=1)
        assert self.late(20, 30) == (1, 10.0)

    @pytest.mark.parametrize("closed", [{"paused": True}, {"concurrency": 0}])
    def test_a_job_that_waited_for_its_queue_begins_its_wait_anew(self, tenant, closed):
        jobs(tenant, 2)
        Queue.objects.update(**closed)
        self.look(0)
        Queue.objects.update(paused=False, concurrency=None)
        assert self.late(9) == (0, 0.0)

    def test_a_job_that_waits_for_its_user_is_not_late(self, tenant):
        TenantQueue.objects.update(num_slots=4, user_slots=1)
        make_job(tenant, Status.RUNNING, user_key="ines")
        make_job(tenant, user_key="ines")
        for name in ("otto", ""):
            make_job(tenant, user_key=name)
        assert self.late(0, 9) == (2, 9.0)

    def test_no_more_than_a_bounded_number_is_remembered_and_those_that_are_stay(self, monkeypatch):
        monkeypatch.setattr(may_run, "MOST", 3)
        monkeypatch.setattr(statements, "OF_A_LANE", 1)
        for _ in range(2):
            jobs(TenantFactory(), 2)
        self.look(0)
        for _ in range(3):
            jobs(TenantFactory(), 2)
        assert self.late(5) == (2, 5.0)
        assert self.late(10) == (3, 10.0)


PARAMETERS = {
    "look_lanes": {"most": 100, "exact": 20},
    "may_run": {"most": 200, "each": 10, "seen": []},
    "work": {},
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_look_reads_the_same_pages_however_much_waits(name, tenant):
    queue = QueueFactory(name="default")
    others = [TenantFactory().pk for _ in range(3)]
    for table in ("jobs", "lanes", "arrivals"):  # nobody is to analyse them but us
        sql(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    read = []
    for count in (100, 20_000):
        fill(queue.pk, [tenant.pk, *others], count)
        while store.claim():
            pass
        plan(name)  # reads the catalogues
        read.append(plan(name))
    few, many = read
    assert indexes_of_jobs(many) <= {"jobs_claim", "jobs_pkey"}
    assert buffers(many) <= 1.5 * buffers(few)


def plan(name: str) -> dict:
    with looking.reading_as_sets():
        said = {"now": None, "default_timeout": 1.0, "overtime": 1.0, "tenants": None, **PARAMETERS[name]}
        return value(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement(name)}", said)[0]["Plan"]
