"""Feeders at once, and a feeder beside others who write the same rows: slots, seats and books hold."""

import threading

import pytest

from jobs import store
from jobs.models import Job
from jobs.store import Trip
from tests.factories import TenantFactory, statuses
from tests.light import begin, ends, submit, trip
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

SEATS, JOBS = 6, 40  # of a worker; of a tenant


def test_feeders_at_once_never_exceed_slots_or_seats_and_every_job_runs_once(register, elsewhere):
    workers = [register(concurrency=SEATS, kind="light") for _ in range(3)]
    tenants = {TenantFactory(queue__num_slots=slots).pk: slots for slots in (2, 5, 9)}
    owners = list(Job._meta.get_field("tenant").related_model.objects.order_by("pk"))
    for owner in owners:
        submit(owner, JOBS)
    ran: list[tuple[int, int]] = []
    excesses: list[object] = []
    begins = threading.Barrier(len(workers))

    def feed(worker) -> None:
        """As the feeder does: what a lock of somebody hides from a trip comes again with the next one."""
        held: list[store.Started] = []
        called: list[tuple[int, int]] = []
        begins.wait(30)
        for turn in range(400):
            # An end that a trip has missed has no seat any more, so no job follows beside those that began there.
            ended, claims = ends(held, goes_on=turn % 2 == 0 and len(held) <= SEATS), turn % 2 == 1
            free = [1] * (SEATS - len(held) * (turn % 2 == 0))
            taken, called = called[: len(free)], called[len(free) :]
            made = trip(worker, ended=ended, called=taken, free=free, claims=claims)
            left = [job for job in held if (job.id, job.attempt) not in made.settled]
            begun = [*made.followed.values(), *made.started]
            started = {(job.id, job.attempt) for job in begun}
            called += [key for key in taken + [(job.id, job.attempt) for job in made.done or ()] if key not in started]
            ran.extend(started)
            held = left + begun
            excesses.extend(over_their_slots(tenants))
            excesses.extend([begun] if len(begun) > SEATS else [])
            if claims and not held and not Job.objects.exclude(status="success").exists():
                return
        pytest.fail("no end")

    for feeder in [elsewhere(feed, worker) for worker in workers]:
        feeder.result(120)
    assert excesses == []
    assert len(ran) == len(set(ran)) == len(owners) * JOBS
    assert set(statuses()) == {"success"}
    assert not store.recount_books()


def over_their_slots(tenants: dict[int, int]) -> list[tuple[int, int]]:
    """Tenants that hold more slots than they have."""
    held = sql("SELECT tenant_id, count(*) FROM jobs WHERE slot IS NOT NULL GROUP BY tenant_id")
    return [(tenant, slots) for tenant, slots in held if slots > tenants[tenant]]


def test_a_trip_waits_for_no_row_of_an_end_and_leaves_out_those_that_others_have_locked(register, onlooker):
    """So a deadlock with others who write several is impossible, too."""
    worker = register(concurrency=4, kind="light")
    submit(TenantFactory(queue__num_slots=4), 4)
    jobs = begin(worker)
    locked = jobs[1]
    with onlooker.transaction():
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [locked.id])
        made = Trip(worker, "default", ended=ends(jobs))
        made.make()
    assert made.settled == {(job.id, job.attempt) for job in jobs} - {(locked.id, locked.attempt)}
    again = Trip(worker, "default", ended=ends(jobs))
    again.make()
    assert again.settled == {(locked.id, locked.attempt)}
