"""Borrowed slots: more than a tenant's own, while processes are idle that nobody else may use; and never otherwise."""

import pytest

from jobs import store
from jobs.console.ops.shared.tags import holding
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.engine.verbs import limits
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, Lane, TenantBook
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from tenants.models import TenantQueue
from tests.attempts import WORKER
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity", "sent")]


def tenant(slots: int, burst: int | None = None, **limits):
    return TenantFactory(
        queue__num_slots=slots, queue__burst_slots=burst, **{f"queue__{k}": v for k, v in limits.items()}
    )


def submit(owner, jobs: int, **options) -> list[int]:
    first = Job.objects.count()
    return [one.id for one in submit_all([request_for(owner, first + n, **options) for n in range(jobs)])]


def held(owner) -> int:
    n = Job.objects.filter(tenant=owner, slot__isnull=False).count()
    assert n == sum(
        TenantBook.objects.filter(tenant_id=owner.pk).order_by("-version")[:1].values_list("in_use", flat=True)
    )
    return n


def end(owner, jobs: int = 1) -> None:
    for job in Job.objects.filter(tenant=owner, slot__isnull=False).order_by("slot")[:jobs]:
        finish(job, WORKER)
    dispatch()


class TestWhileNobodyElseMayUseThem:
    def test_a_tenant_borrows_up_to_its_limit_and_no_more(self, register):
        register(concurrency=10)
        owner = tenant(2, 5)
        submit(owner, 9)
        assert held(owner) == 5
        end(owner)
        assert held(owner) == 5

    def test_it_borrows_no_more_than_there_are_processes(self, register):
        register(concurrency=3)
        owner = tenant(2, 50)
        submit(owner, 9)
        assert held(owner) == 3

    @pytest.mark.parametrize("burst", [None, 0, 1, 2])
    def test_without_more_burst_slots_than_slots_it_borrows_none(self, register, burst):
        register(concurrency=10)
        owner = tenant(2, burst)
        submit(owner, 9)
        assert held(owner) == 2
        assert not Lane.objects.filter(opens_at__isnull=False).exists()

    def test_one_with_no_slots_and_a_paused_one_borrow_none(self, register):
        register(concurrency=10)
        none, paused = tenant(0, 5), tenant(2, 5, paused=True)
        submit(none, 3)
        submit(paused, 3)
        assert held(none) == held(paused) == 0

    def test_all_its_other_limits_hold(self, register):
        register(concurrency=20)
        QueueFactory(name="narrow", concurrency=3)
        by_user, by_rate, by_queue = (
            tenant(1, 9, user_slots=2),
            tenant(1, 9, rate_limit=3, rate_window=60.0),
            tenant(1, 9),
        )
        submit(by_user, 9, user_key="ann")
        submit(by_rate, 9)
        submit(by_queue, 9, queue="narrow")
        assert [held(one) for one in (by_user, by_rate, by_queue)] == [2, 3, 3]

    def test_what_is_borrowed_is_shared_by_use(self, register):
        register(concurrency=10)
        owners = [tenant(1, 20), tenant(1, 20)]
        for owner in owners:
            submit(owner, 20)
        register(concurrency=10)
        dispatch()
        assert sum(map(held, owners)) == 20
        assert all(held(owner) >= 8 for owner in owners)

    def test_raising_it_borrows_at_once_and_lowering_it_takes_nothing_back(self, register):
        register(concurrency=10)
        owner = tenant(2)
        submit(owner, 20)
        limits.change(owner.jobs_queue, {"burst_slots": 6})
        assert held(owner) == 6
        limits.change(owner.jobs_queue, {"burst_slots": None})
        assert held(owner) == 6
        end(owner, 4)
        assert held(owner) == 2


class TestWhenSomebodyElseIsReady:
    def test_who_has_slots_of_its_own_goes_first(self, register):
        register(concurrency=4)
        owner, other = tenant(1, 9), tenant(3)
        submit(owner, 9)
        assert held(owner) == 4
        submit(other, 5)
        assert held(other) == 0, "nothing is taken back"
        end(owner)
        end(owner)
        assert (held(owner), held(other)) == (2, 2)
        end(owner)
        assert (held(owner), held(other)) == (1, 3)
        end(owner)
        assert (held(owner), held(other)) == (1, 3), "its own slot is its own"

    def test_one_pass_lends_nothing_while_a_lane_of_anybody_could_be_served(self, register):
        owner, other = tenant(1, 9), tenant(3)
        submit(owner, 9)
        submit(other, 5)
        register(concurrency=20)
        store.claim()
        assert (held(owner), held(other)) == (1, 3)

    def test_a_pass_that_lends_finds_one_that_came_meanwhile(self, register):
        owner, other = tenant(1, 9), tenant(2)
        submit(owner, 9)
        register(concurrency=3)
        store.claim()
        assert held(owner) == 1
        store.insert([request_for(other, 100 + n) for n in range(5)])
        store.claim(borrow=True)
        assert (held(owner), held(other)) == (1, 2)

    def test_a_locked_lane_of_somebody_else_is_waited_for(self, register, onlooker):
        owner, other = tenant(1, 9), tenant(1)
        (first,) = submit(other, 1)
        submit(owner, 3)
        onlooker.execute("BEGIN")
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first])
        register(concurrency=3)
        dispatch()
        assert (held(owner), held(other)) == (1, 0)
        onlooker.execute("ROLLBACK")
        dispatch()
        assert (held(owner), held(other)) == (2, 1)


class TestTheCost:
    def test_full_lanes_rest_until_there_is_something_to_lend(self, register):
        owners = [tenant(1, 9) for _ in range(4)]
        for owner in owners:
            submit(owner, 3)
        register(concurrency=4)
        dispatch()
        assert all(held(owner) == 1 for owner in owners)
        dispatch()
        visited = Lane.objects.filter(state="ready").count()
        end(owners[0])
        assert held(owners[0]) == 1
        assert Lane.objects.filter(state="ready").count() <= visited

    def test_a_lane_that_empties_does_not_rest(self, register):
        register(concurrency=9)
        owner = tenant(1, 9)
        jobs = submit(owner, 2)
        assert held(owner) == 2
        for job in jobs:
            cancel(job, tenant_id=EVERY_TENANT)
        dispatch()
        assert held(owner) == 0
        assert not Lane.objects.filter(opens_at__isnull=False).exists()


class TestWhatIsSaid:
    def why(self, owner) -> str:
        waiting = Job.objects.filter(tenant=owner, status="created").order_by("pk").values_list("pk", flat=True)
        return explain(waiting[0], tenant_id=owner.pk).sentence

    def test_why_a_job_does_not_borrow(self, register):
        worker = register(concurrency=3)
        owner, other = tenant(1, 4), tenant(9)
        submit(owner, 9)
        name = owner.name
        assert (
            self.why(owner) == f"All slots of tenant {name} are in use, and no process of pool default is idle: 3 of 1."
        )
        store.beat(worker, name="more", pid=1, pool="default", capacity=9)
        idle = "the idle processes of pool default are for jobs of others"
        assert self.why(owner) == f"All slots of tenant {name} are in use, and {idle}: 3 of 1."
        dispatch()
        assert self.why(owner) == f"All slots of tenant {name} are in use, with all that it may borrow: 4 of 4."
        limits.change(owner.jobs_queue, {"burst_slots": None})
        assert self.why(owner) == f"All slots of tenant {name} are in use: 4 of 1."
        assert held(other) == 0

    def test_pages_tell_what_is_borrowed(self):
        assert holding(5, TenantQueue(num_slots=5, burst_slots=9)) == "5"
        assert holding(7, TenantQueue(num_slots=5, burst_slots=9)) == "5 + 2 borrowed"
        assert holding(7, TenantQueue(num_slots=5)) == "7", "it drains after a lower limit"

    def test_check_knows_it(self, register):
        register(concurrency=9)
        owner = tenant(1, 4)
        submit(owner, 9)
        assert store.excesses() == []


def test_the_database_refuses_a_number_out_of_bounds():
    owner = tenant(1)
    with pytest.raises(Exception, match="tenant_queues_burst_slots_bounded"):
        TenantQueue.objects.filter(tenant=owner).update(burst_slots=10_001)
