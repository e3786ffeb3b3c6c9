"""In the slots of ended attempts whose slices go on, the next jobs of their lanes start: as many as may, no other."""

import pytest
from django.utils import timezone

from jobs import store
from jobs.models import FreedSlot, Job, PausedJobType, Queue, Worker
from jobs.store import Success
from tenants.models import TenantQueue
from tests.factories import TenantFactory
from tests.light import begin, ends, submit, trip

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def worker(register):
    return register(concurrency=4, kind="light")


@pytest.fixture
def owner():
    return TenantFactory(queue__num_slots=2)


@pytest.fixture
def waiting(owner):
    """Five jobs of the owner: two of them will run."""
    return submit(owner, 5)[2:]


@pytest.fixture
def running(waiting, worker, owner):
    """The first two jobs of the owner, in two processes; and the only one of a stranger, in one of them."""
    stranger = TenantFactory(queue__num_slots=2)
    submit(stranger, 1)
    jobs = begin(worker, [7, 8, 8])
    assert sorted(job.tenant_id for job in jobs) == [owner.pk, owner.pk, stranger.pk]
    return jobs


def test_each_follows_in_the_slot_the_process_and_the_slice_of_the_one_before(worker, running, waiting, owner):
    before = {job["id"]: job for job in Job.objects.values()}
    told = trip(worker, ended=ends(running, goes_on=True))
    assert told.settled == {(job.id, job.attempt) for job in running}
    assert sorted(job.id for job in told.followed.values()) == waiting[:2]
    for (number, _), job in told.followed.items():
        row = Job.objects.values().get(pk=job.id)
        one, kept = before[number], ("tenant_id", "queue_id", "slot", "ticket", "worker", "worker_pid")
        assert [row[name] for name in kept] == [one[name] for name in kept]
        assert (row["status"], row["attempt"], row["followed"]) == ("running", job.attempt, 1) == ("running", 1, 1)
        assert job.holder == next(old.holder for old in running if old.id == number)
    assert list(FreedSlot.objects.exclude(slot=None).values_list("tenant_id", flat=True)) == [
        job.tenant_id for job in running if job.tenant_id != owner.pk
    ]
    assert not store.recount_books()


def test_only_those_whose_slice_goes_on_are_followed(worker, running, waiting, owner):
    own = [job for job in running if job.tenant_id == owner.pk]
    told = trip(worker, ended=[Success(own[0], {}), Success(own[1], {}, goes_on=True)])
    assert {key: job.id for key, job in told.followed.items()} == {(own[1].id, 1): waiting[0]}


def test_a_job_of_higher_priority_follows_first(worker, running, owner):
    urgent = submit(owner, 1, priority=1)
    store.claim()  # the door knows of it
    told = trip(worker, ended=ends(running, goes_on=True))
    assert urgent[0] in {job.id for job in told.followed.values()}


def test_a_slot_in_which_jobs_followed_is_charged_once_from_its_first_start(worker, running, owner):
    jobs = [job for job in running if job.tenant_id == owner.pk]
    told = trip(worker, ended=ends(jobs, goes_on=True))
    Job.objects.filter(status="running", tenant=owner).update(start_time=timezone.now())
    trip(worker, ended=ends(list(told.followed.values())))
    for letter in FreedSlot.objects.exclude(slot=None):
        first = next(job for job in jobs if told.followed[job.id, job.attempt].id == letter.job_id)
        end = Job.objects.get(pk=letter.job_id).end_time
        assert (letter.followed, letter.seconds) == (1, (end - first.start_time).total_seconds())
    assert not store.recount_books()


CHANGES = {
    "a paused queue": lambda owner, jobs: Queue.objects.update(paused=True),
    "a queue's concurrency": lambda owner, jobs: Queue.objects.update(concurrency=9),
    "a queue's rate": lambda owner, jobs: Queue.objects.update(rate_limit=9, rate_window=1.0),
    "another pool": lambda owner, jobs: Queue.objects.update(pool="heavy"),
    "a paused tenant": lambda owner, jobs: TenantQueue.objects.filter(tenant=owner).update(paused=True),
    "limits of users": lambda owner, jobs: TenantQueue.objects.filter(tenant=owner).update(user_slots=9),
    "a tenant's rate": lambda owner, jobs: TenantQueue.objects.filter(tenant=owner).update(
        rate_limit=9, rate_window=1.0
    ),
    "no slots": lambda owner, jobs: TenantQueue.objects.filter(tenant=owner).update(num_slots=0),
    "fewer slots in the queue": lambda owner, jobs: Queue.objects.update(tenant_slots=1),
    "a worker that drains": lambda owner, jobs: Worker.objects.update(concurrency=0),
    "a worker that is gone": lambda owner, jobs: Worker.objects.update(gone_at=timezone.now()),
    "a paused type": lambda owner, jobs: PausedJobType.objects.create(source_type="tests.thing", source_method="run"),
    "too late": lambda owner, jobs: Job.objects.filter(pk__in=jobs).update(expires_at=timezone.now()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_job_follows_past_a_limit_that_has_changed(worker, running, waiting, owner, change):
    CHANGES[change](owner, waiting)
    told = trip(worker, ended=ends(running, goes_on=True))
    assert len(told.settled) == 3
    assert told.followed == {}
    assert set(Job.objects.filter(pk__in=waiting).values_list("status", flat=True)) == {"created"}
    assert FreedSlot.objects.exclude(slot=None).count() == 3
    assert not store.recount_books()


def test_no_job_follows_in_a_slot_above_those_that_the_tenant_has_now(worker, running, owner):
    TenantQueue.objects.filter(tenant=owner).update(num_slots=1)
    told = trip(worker, ended=ends(running, goes_on=True))
    assert [Job.objects.get(pk=job.id).slot for job in told.followed.values()] == [1]
    assert not store.recount_books()


@pytest.mark.parametrize(
    "change",
    [
        lambda: TenantQueue.objects.update(queue_slots={"default": 2}),
        lambda: Queue.objects.update(tenant_slots=2),
    ],
    ids=["of the tenant", "of all tenants"],
)
def test_jobs_follow_while_the_lane_holds_as_many_slots_as_it_may(worker, running, waiting, change):
    change()
    told = trip(worker, ended=ends(running, goes_on=True))
    assert sorted(job.id for job in told.followed.values()) == waiting[:2]
    assert not store.recount_books()


def test_jobs_that_others_have_locked_are_passed_over(worker, running, waiting, onlooker):
    with onlooker.transaction():
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [waiting[0]])
        told = trip(worker, ended=ends(running, goes_on=True))
    assert sorted(job.id for job in told.followed.values()) == waiting[1:]


def test_jobs_of_a_type_that_is_not_paused_follow_beside_others_that_are(worker, running, waiting):
    Job.objects.filter(pk=waiting[0]).update(source_method="paused")
    PausedJobType.objects.create(source_type="tests.thing", source_method="paused")
    told = trip(worker, ended=ends(running, goes_on=True))
    assert [job.id for job in told.followed.values()] == [waiting[1]]


def test_a_stale_holder_is_not_followed(worker, running, waiting):
    store.take_back(running[0].id, 1, store.Failure("Crashed", "killed"), 5)
    told = trip(worker, ended=ends(running, goes_on=True))
    assert (running[0].id, 1) not in told.settled | set(told.followed)
    assert not store.recount_books()
