"""A pass reads no queue in which nothing waits and nothing runs; whatever brings work there wakes it."""

import pytest
from django.db.models import Q

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit
from jobs.engine.verbs import limits
from jobs.models import Door, Job, Lane, Queue, QueueTurn
from jobs.store.claiming import IDLE
from jobs.store.rows import rows
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
MANY = IDLE + 4


@pytest.fixture
def queues(register, sent) -> list[Queue]:
    """Each was used once, the last one last: it keeps the time of the pool."""
    worker = register()
    made = [QueueFactory(name=f"queue{n}") for n in range(MANY)]
    user = TenantFactory()
    for queue in made:
        submit(request_for(user, queue=queue.name))
        finish(sent[-1], worker)
    dispatch()
    return made


def asleep() -> set[int]:
    return set(QueueTurn.objects.filter(state="asleep").values_list("queue_id", flat=True))


def status(job_id: int) -> str:
    return Job.objects.get(pk=job_id).status


def test_idle_queues_fall_asleep_together_but_for_the_one_with_the_pools_time(queues):
    store.tidy_turns()
    keeps = QueueTurn.objects.get(~Q(state="asleep"))
    assert len(asleep()) == MANY - 1
    assert keeps.pool_time == max(QueueTurn.objects.values_list("pool_time", flat=True))


def test_no_queue_sleeps_in_which_jobs_run_or_wait(queues):
    busy = TenantFactory(queue__num_slots=1)
    runs, waits = (submit(request_for(busy, n, queue=queues[0].name)).id for n in range(2))
    held = submit(request_for(TenantFactory(), queue=queues[1].name)).id
    Queue.objects.filter(pk=queues[2].pk).update(paused=True)
    stands = submit(request_for(TenantFactory(), queue=queues[2].name)).id
    store.tidy_turns(idle=0)
    assert [status(one) for one in (runs, waits, held, stands)] == ["queued", "created", "queued", "created"]
    assert not asleep() & {queue.pk for queue in queues[:3]}
    assert len(asleep()) >= MANY - 4


def test_work_that_comes_wakes_it(queues):
    store.tidy_turns()
    tenant = TenantFactory()
    assert {status(submit(request_for(tenant, n, queue=queue.name)).id) for n, queue in enumerate(queues[:2])} == {
        "queued"
    }


@pytest.mark.parametrize("how", ["a slot is free", "a limit is raised", "a token is there", "it may borrow"])
def test_a_tenant_that_may_start_jobs_again_wakes_its_queue(how, queues, sent, register):
    """Its lane was closed, and the queue fell asleep."""
    tenant = TenantFactory(queue__num_slots=1)
    first = submit(request_for(tenant, 1)).id
    waits = submit(request_for(tenant, 2, queue=queues[0].name)).id
    store.tidy_turns(idle=0)
    assert queues[0].pk in asleep()
    assert status(waits) == "created"
    match how:
        case "a slot is free":
            finish(next(one for one in sent if one.id == first), register())
            dispatch()
        case "a limit is raised":
            limits.change(tenant.jobs_queue, {"num_slots": 2})
        case "a token is there":
            limits.change(tenant.jobs_queue, {"num_slots": 2, "rate_limit": 1, "rate_window": 3600.0})
            Lane.objects.filter(queue_id=queues[0].pk).update(opens_at="2020-01-01T00:00Z")
            dispatch()
        case "it may borrow":
            limits.change(tenant.jobs_queue, {"burst_slots": 2})
    assert status(waits) == "queued"


def test_outside_the_door_none_does(queues):
    rows("tidy_turns", now=None)
    assert not asleep()


def test_no_version_before_the_floor_is_a_turn_that_is_awake(queues):
    submit(request_for(TenantFactory(), queue=queues[0].name))
    store.tidy_turns(span=0)
    awake = QueueTurn.objects.exclude(state="asleep").values_list("version", flat=True)
    assert 0 < Door.objects.get().floor <= min(awake)
