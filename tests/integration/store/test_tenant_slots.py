"""Slots of a tenant within a queue: its exports hold two of its five, and its mails never wait for them."""

import pytest
from django.db import DatabaseError, connection, transaction

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.models import FreedSlot, Job, Lane, Queue
from tenants.models import TenantQueue
from tests.attempts import WORKER
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish, held
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity", "sent")]


@pytest.fixture
def exports():
    return QueueFactory(name="exports", tenant_slots=2)


@pytest.fixture
def mails():
    return QueueFactory(name="mails")


@pytest.fixture
def acme():
    return TenantFactory(queue__num_slots=5)


@pytest.fixture
def stranger():
    return TenantFactory(queue__num_slots=5)


def submit(owner, jobs: int, queue) -> list[int]:
    first = Job.objects.count()
    return [one.id for one in submit_all([request_for(owner, first + n, queue=queue.name) for n in range(jobs)])]


def end(jobs: int = 1, **of) -> None:
    for job in Job.objects.filter(slot__isnull=False, **of).order_by("slot")[:jobs]:
        finish(job, WORKER)
    dispatch()


def lane(owner, queue) -> Lane:
    return Lane.objects.filter(tenant_id=owner.pk, queue_id=queue.pk).order_by("-version")[0]


def test_a_tenant_holds_no_more_of_its_slots_in_a_queue_and_the_rest_is_for_its_others(
    register, exports, mails, acme, stranger
):
    register(concurrency=20)
    submit(acme, 9, exports)
    submit(stranger, 9, exports)
    assert (held(tenant=acme), held(tenant=stranger)) == (2, 2)
    submit(acme, 9, mails)
    assert (held(tenant=acme, queue=exports), held(tenant=acme, queue=mails)) == (2, 3)
    assert held(tenant=stranger) == 2
    assert lane(acme, exports).state == lane(stranger, exports).state == "full"
    assert not store.recount_books()


def test_a_slot_of_the_lane_that_is_free_opens_it_and_no_other_does(register, exports, mails, acme):
    register(concurrency=20)
    submit(acme, 9, exports)
    submit(acme, 9, mails)
    full = lane(acme, exports)
    for _ in range(3):
        end(queue=mails)
    assert lane(acme, exports).version == full.version, "ended mails cost the lane of exports no visit"
    assert held(queue=mails) == 3
    end(queue=exports)
    assert (held(queue=exports), held(queue=mails)) == (2, 3)
    assert lane(acme, exports).version > full.version


def test_one_tenant_has_another_number_there_and_only_there(register, exports, mails, acme, stranger):
    TenantQueue.objects.filter(tenant=acme).update(queue_slots={"exports": 3, "mails": 1})
    register(concurrency=20)
    for owner in (acme, stranger):
        submit(owner, 9, exports)
        submit(owner, 9, mails)
    assert [held(tenant=acme, queue=queue) for queue in (exports, mails)] == [3, 1]
    assert [held(tenant=stranger, queue=queue) for queue in (exports, mails)] == [2, 3]


@pytest.mark.parametrize("own", [1, 2])
def test_a_tenant_that_borrows_stays_within_them(register, exports, mails, acme, own):
    TenantQueue.objects.filter(tenant=acme).update(num_slots=own, burst_slots=9)
    register(concurrency=20)
    submit(acme, 9, exports)
    assert held(queue=exports) == 2
    full = lane(acme, exports)
    assert (full.state, full.opens_at) == ("full", None), "no pass that lends comes to it"
    submit(acme, 9, mails)
    assert (held(queue=exports), held(queue=mails)) == (2, 7)


def quietly_submit(owner, jobs: int, queue) -> None:
    """Without the dispatch that would follow."""
    first = Job.objects.count()
    store.insert([request_for(owner, first + n, queue=queue.name) for n in range(jobs)])


def test_a_full_lane_does_not_keep_processes_from_others_that_may_borrow(register, exports, mails, acme):
    """Its tenant has free slots, but may use none of them here."""
    register(concurrency=9)
    other = TenantFactory(queue__num_slots=1, queue__burst_slots=9)
    submit(acme, 2, exports)
    quietly_submit(other, 9, mails)
    assert len(store.claim()) == 1
    quietly_submit(acme, 1, exports)
    assert len(store.claim(borrow=True)) == 6
    assert lane(acme, exports).state == "full"


def test_a_full_lane_takes_no_turn_of_the_others_in_its_queue(register, exports, acme, stranger):
    """A walk ends when it has as many lanes to serve as there are processes; a full one is none."""
    register(concurrency=3)
    submit(acme, 2, exports)
    submit(stranger, 1, exports)
    end(tenant=stranger)
    quietly_submit(acme, 1, exports)
    quietly_submit(stranger, 1, exports)
    assert len(store.claim()) == 1
    assert (held(tenant=acme), held(tenant=stranger)) == (2, 1)
    full, served = lane(acme, exports), lane(stranger, exports)
    assert full.state == "full"
    assert full.position < served.position, "it was visited first"


def test_a_lane_that_waits_for_a_token_too_opens_when_it_has_both(register, exports, acme):
    TenantQueue.objects.filter(tenant=acme).update(rate_limit=2, rate_window=3600)
    register(concurrency=9)
    submit(acme, 9, exports)
    full = lane(acme, exports)
    assert (full.state, full.opens_at) == ("full", None), "a token alone does not open it"
    end(queue=exports)
    assert lane(acme, exports).state == "closed"
    assert lane(acme, exports).opens_at is not None


class TestChanges:
    @pytest.mark.parametrize("slots", [4, None])
    def test_more_slots_for_all_tenants_of_a_queue_open_their_full_lanes(
        self, register, exports, acme, stranger, slots
    ):
        register(concurrency=20)
        submit(acme, 9, exports)
        submit(stranger, 9, exports)
        Queue.objects.filter(pk=exports.pk).update(tenant_slots=slots)
        assert store.worth_a_pass()
        dispatch()
        assert (held(tenant=acme), held(tenant=stranger)) == ((4, 4) if slots else (5, 5))

    def test_more_slots_for_one_tenant_open_its_lane(self, register, exports, mails, acme, stranger):
        register(concurrency=20)
        submit(acme, 9, exports)
        submit(stranger, 9, exports)
        submit(acme, 1, mails)
        end(queue=mails)  # a fold that has opened the tenant's closed lanes, but not the full one
        strangers = lane(stranger, exports).version
        TenantQueue.objects.filter(tenant=acme).update(queue_slots={"exports": 4})
        dispatch()
        assert (held(tenant=acme), held(tenant=stranger)) == (4, 2)
        assert lane(stranger, exports).version == strangers

    def test_fewer_slots_drain(self, register, exports, acme):
        register(concurrency=20)
        submit(acme, 9, exports)
        Queue.objects.filter(pk=exports.pk).update(tenant_slots=1)
        dispatch()
        assert held() == 2
        end()
        assert held() == 1
        end()
        assert held() == 1
        assert Job.objects.filter(status="success").count() == 2

    def test_a_queue_with_another_name_has_the_slots_of_that_name(self, register, exports, acme):
        TenantQueue.objects.filter(tenant=acme).update(queue_slots={"archives": 4})
        register(concurrency=20)
        submit(acme, 9, exports)
        Queue.objects.filter(pk=exports.pk).update(name="archives")
        dispatch()
        assert held() == 4

    def test_two_queues_that_change_in_one_transaction_are_both_told(self, register, exports, acme):
        others = QueueFactory(name="others", tenant_slots=1)
        register(concurrency=20)
        submit(acme, 9, exports)
        submit(acme, 9, others)
        assert held() == 3
        Queue.objects.filter(pk__in=[exports.pk, others.pk]).update(tenant_slots=None)
        dispatch()
        assert held() == 5
        assert not FreedSlot.objects.exists()

    def test_other_changes_of_a_queue_tell_the_door_nothing(self, register, exports, acme):
        register(concurrency=20)
        submit(acme, 9, exports)
        Queue.objects.filter(pk=exports.pk).update(weight=3, tenant_slots=2)
        assert not FreedSlot.objects.exists()

    def test_a_book_that_was_wrong_opens_its_lane(self, register, exports, acme):
        register(concurrency=20)
        submit(acme, 1, exports)
        Lane.objects.filter(tenant_id=acme.pk).update(in_use=2)
        submit(acme, 8, exports)
        assert lane(acme, exports).state == "full"
        assert held() == 1
        assert [wrong.book for wrong in store.recount_books()] == ["lane"]
        dispatch()
        assert held() == 2


class TestValues:
    @pytest.mark.parametrize(
        "slots",
        ['{"a": 0}', '{"a": 1.5}', '{"a": "2"}', '{"a": null}', '{"a": [1]}', "[]", "3", "null", '{"a": 10001}'],
    )
    def test_the_database_refuses_what_is_not_a_number_of_slots(self, acme, slots):
        with pytest.raises(DatabaseError, match="queue_slots_whole"), transaction.atomic():
            sql("UPDATE tenant_queues SET queue_slots = %s::jsonb", [slots])

    def test_a_number_with_a_point_is_one_if_it_is_whole(self, register, exports, acme):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE tenant_queues SET queue_slots = '{\"exports\": 3.0}'")
        register(concurrency=20)
        submit(acme, 9, exports)
        assert held() == 3

    @pytest.mark.parametrize("slots", [0, -1])
    def test_a_queue_has_no_fewer_than_one_for_each_tenant(self, exports, slots):
        with pytest.raises(DatabaseError), transaction.atomic():
            Queue.objects.update(tenant_slots=slots)
