"""A worker's process, or the whole worker, killed between each two steps of an attempt.

Whoever is killed while the server has its statement leaves that behind. The server may still carry it out ("left"), or
not ("lost"): what happens then is not the same, and both must be right.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from jobs.engine.process import runtime
from jobs.models import Job
from jobs.store import Claimed
from jobs.worker import message
from tests.acceptance.following import ended, running
from tests.chaos.freezing import DOOR, NUMBER, ROW, Held, arrived, backends, children, cut, kill
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing
from tests.waiting import wait_until

LONG = pytest.mark.long("a death at this step; tests/integration/engine/test_recover.py has what becomes of the rows")

pytestmark = pytest.mark.django_db(transaction=True)

Survive = Callable[[], None]

# The clock, which waits at the door too, has a session by that name.
DISPATCH = "query ~ '^-- enter\n' AND application_name ~ ':[0-9]+$'"
# The parent of a worker dispatches when it is registered, in a session without a name. At a door that is held it would
# take the only waiting place.
DISPATCHED = "application_name = '' AND state = 'idle' AND query = 'COMMIT'"


@pytest.fixture
def thing() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def worker(start_worker) -> int:
    """The pid of a worker with one process."""
    return start_worker(concurrency=1).pid


@pytest.fixture
def unsent() -> Iterator[list[Claimed]]:
    """Messages that the test sends itself."""
    messages: list[Claimed] = []
    runtime.change(carrier=messages.extend)
    yield messages
    runtime.change(carrier=message.hand_over)


def end_victim(victim: str, worker: int, backend: int, statement: str) -> None:
    """Kill the process that runs the job, or its worker; and with `lost` the statement that it left to the server."""
    processes = children(worker)
    if victim == "worker":
        kill(worker)  # before its processes: it would end what they leave behind
    for process in processes:
        with suppress(ProcessLookupError):  # they also end by themselves; but a wait at the door lasts five seconds
            kill(process)
    if statement == "lost":
        cut(backend)


def check(job_id: int, attempt: int, crashes: int, bodies: list[int]) -> None:
    """It succeeded in this attempt; the bodies that started are of these attempts, each once; all slots are free."""
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", attempt, crashes)
    assert list(Run.objects.filter(job_id=job_id).order_by("id").values_list("attempt", flat=True)) == bodies
    wait_until(lambda: not Job.objects.filter(slot__isnull=False).exists(), "all slots are free")


@LONG
@pytest.mark.parametrize(
    ("victim", "statement", "attempt", "crashes"),
    [
        ("process", "left", 2, 0),  # its parent knows, and ends what it left behind; nothing has run
        ("process", "lost", 2, 0),
        ("worker", "left", 2, 1),  # started by a dead worker: an orphan
        ("worker", "lost", 1, 0),  # still queued, and its message lost: sent again
    ],
)
def test_killed_before_the_start(*, register, thing, unsent, start_worker, victim, statement, attempt, crashes):
    register(concurrency=1)  # only a row, so that it is we who claim, and no worker's dispatch
    job_id = thing.async_.echo()
    with Held(ROW, job_id):
        worker = start_worker(concurrency=1).pid
        message.hand_over(unsent)
        runtime.change(carrier=message.hand_over)
        backend = arrived("its start", "query ~ '^-- start\n'")
        end_victim(victim, worker, backend, statement)
        if victim == "process":
            wait_until(lambda: not backends("pid = %s", backend), "its parent ends its session")
    if victim == "worker":
        start_worker(concurrency=1)
    if victim == "process":  # its parent waits for the row too: the clock may be the first, and send its message again
        attempt = ended(job_id).attempt
    check(job_id, attempt, crashes, bodies=[attempt])


@pytest.mark.parametrize("victim", ["process", "worker"])
def test_killed_after_the_start_and_before_the_body(worker, thing, start_worker, victim):
    with Held("LOCK TABLE sample_thing IN ACCESS EXCLUSIVE MODE"):
        job_id = thing.async_.echo()
        end_victim(victim, worker, arrived("the look for its object", "query LIKE '%%sample_thing%%'"), "left")
    if victim == "worker":
        start_worker(concurrency=1)
    check(job_id, attempt=2, crashes=1, bodies=[2])


@LONG
@pytest.mark.parametrize(
    ("victim", "statement", "attempt", "crashes", "bodies"),
    [
        ("process", "left", 2, 1, [1, 2]),  # its parent ends its sessions, and with them the statement
        ("process", "lost", 2, 1, [1, 2]),
        ("worker", "lost", 2, 1, [1, 2]),
    ],
)
def test_killed_after_the_body_and_before_the_settling(
    *, worker, thing, start_worker, victim, statement, attempt, crashes, bodies
):
    with Held(NUMBER, 7) as body:
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        arrived("its body", "wait_event = 'advisory'")
        with Held(ROW, job_id):
            body.release()
            backend = arrived("its settling", "query ~ '^-- (succeed|follow)\n'")
            end_victim(victim, worker, backend, statement)
            if victim == "process":
                wait_until(lambda: not backends("pid = %s", backend), "its parent ends its session")
    if victim == "worker":
        start_worker(concurrency=1)
    check(job_id, attempt, crashes, bodies)


@LONG
@pytest.mark.parametrize(
    ("victim", "statement", "attempt", "crashes"),
    [
        ("process", "left", 1, 0),  # its parent ends its session, and claims
        ("process", "lost", 1, 0),
        ("worker", "left", 2, 1),  # the server claims for a dead client, and starts what it would have kept: an orphan
    ],
)
def test_killed_after_the_settling_and_before_the_next_dispatch(
    *, worker, thing, start_worker, victim, statement, attempt, crashes
):
    with Held(NUMBER, 7) as body:
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        arrived("its body", "wait_event = 'advisory'")
        waiting = ThingFactory().async_.again()
        wait_until(lambda: backends(DISPATCHED), "its parent has dispatched")
        with Held(DOOR):
            body.release()
            backend = arrived("its dispatch", DISPATCH)
            end_victim(victim, worker, backend, statement)
            if victim == "process":  # before the door opens: else the server claims and starts for a dead client
                wait_until(lambda: not backends("pid = %s", backend), "its parent ends its session")
    if victim == "worker":
        start_worker(concurrency=1)
    check(job_id, attempt=1, crashes=0, bodies=[1])
    job = ended(waiting)
    assert (job.status, job.attempt, job.crashes) == ("success", attempt, crashes)


@LONG
def test_a_start_that_the_server_carries_out_after_the_death_was_told_starts_nothing(
    register, start_worker, thing, unsent
):
    """Else the job would be running for ever, in a worker that lives and knows nothing of it."""
    register(concurrency=1)  # as above
    job_id = thing.async_.echo()
    worker = start_worker(concurrency=1).pid
    with Held("LOCK TABLE paused_job_types IN ACCESS EXCLUSIVE MODE"):  # the start reads it; the taking back does not
        message.hand_over(unsent)
        runtime.change(carrier=message.hand_over)
        end_victim("process", worker, arrived("its start", "query ~ '^-- start\n'"), "left")
        wait_until(lambda: Job.objects.filter(pk=job_id, status="scheduled").exists(), "the job is taken back")
    check(job_id, attempt=2, crashes=0, bodies=[2])


@pytest.mark.parametrize("work", ["light"], indirect=True)
def test_killed_while_a_trip_starts_attempts_in_its_seats(work):
    """The trip goes on: its rows name a process that is gone, and no body has started."""
    work.submit(4)
    work.release()
    with Held("LOCK TABLE jobs IN SHARE MODE"):
        worker = work.start_worker(1).pid
        arrived("its trip", "application_name LIKE '%%feeder'")
        [victim] = children(worker)
        kill(victim)
    assert work.ended(first=2) == {("success", 2, 0)}
    work.nothing_is_left()
