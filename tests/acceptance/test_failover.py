"""PostgreSQL's place is taken by its standby, or by its own past; or it is read-only for a while, or stands still."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.models import Sum

from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, JobMemory
from jobs.store import results
from tests.acceptance.abroad import Installation, installation
from tests.chaos import own_engines, verdict
from tests.chaos.deaths import MARGIN
from tests.chaos.freezing import has_ended
from tests.chaos.load import Load
from tests.factories import QueueFactory, ThingFactory
from tests.sample.models import Thing
from tests.thorough import sized
from tests.waiting import wait_until

pytestmark = pytest.mark.long(
    "a standby that takes over; skipped numbers are in tests/integration/engine/test_numbers.py"
)

LOST = sized(60, thorough=300)  # jobs: more than the 32 numbers of a sequence that a standby skips
SOON = 60.0  # seconds after a promotion within which every job is final


@pytest.fixture
def install(tmp_path: Path, django_db_blocker) -> Iterator[partial]:
    with django_db_blocker.unblock():
        yield partial(installation, tmp_path)


def things(count: int = 3) -> list[Thing]:
    """One of each tenant."""
    QueueFactory(name="narrow", concurrency=2)
    return [ThingFactory(tenant__queue__num_slots=8) for _ in range(count)]


def all_end(but: int = 0) -> None:
    wait_until(lambda: verdict.unfinished() == but, "every job is final", SOON)


def not_at_once(ids: list[int]) -> list[tuple]:
    """Those that are no success of the first attempt."""
    found = Job.objects.filter(pk__in=ids).values_list("pk", "status", "attempt", "crashes", "last_error")
    return [row for row in found if row[1:4] != ("success", 1, 0)]


def test_a_synchronous_standby_takes_over_without_losing_a_job_or_starting_one_twice(install):
    with install(session="read-write", synchronous=True) as here:
        here.start_workers(2)
        here.start_light_worker()
        load = Load(things(), seed=time.time_ns())
        thing = ThingFactory(tenant__queue__num_slots=8)
        held = here.holding(thing, "meanwhile", 2) + here.holding(thing, "afterwards", 2)
        load.start()
        wait_until(lambda: len(load.accepted) > LOST, "there is something to lose")
        here.pair.primary.kill()
        here.release("meanwhile")
        here.promote()
        here.release("afterwards")
        wait_until(lambda: max(load.accepted) > 1_000_000, "the new primary gives numbers that nobody has had")
        load.stop()
        all_end()
        accepted = load.accepted | dict.fromkeys(held, 0.0)
        assert verdict.judge(here.evidence, accepted, []) + load.faults == []
        assert not_at_once(held) == []
        assert set(Job.objects.filter(pk__in=held[2:]).values_list("progress_note", flat=True)) == {"released"}
        assert Job.objects.aggregate(Sum("crashes")) == {"crashes__sum": 0}


def test_neither_a_freeze_nor_a_switchover_whose_clients_are_on_the_read_only_standby_first_costs_an_attempt(install):
    """The latter as with a virtual IP, or a provider's endpoint, that moves before the promotion."""
    with install(session="any") as here:
        here.start_workers(1)
        here.start_light_worker()
        thing = ThingFactory(tenant__queue__num_slots=8)
        moments, kinds = ("frozen", "read-only", "afterwards"), ("hold", "light_hold")
        held = [job_id for name in moments for method in kinds for job_id in here.holding(thing, name, 1, method)]
        with here.pair.primary.frozen():
            here.release("frozen")
            time.sleep(5)  # more than the three beats for which a worker may be silent
        all_end(but=4)
        here.pair.primary.stop()
        own_engines.wait_for_database()
        with pytest.raises(DatabaseError, match="read-only"):
            thing.async_.again()
        here.release("read-only")
        time.sleep(3)  # the window, in which the body ends
        here.promote()
        here.release("afterwards")
        all_end()
        assert not_at_once(held) == []
        here.every_process_is_of_use()


@contextmanager
def a_standby_lags(here: Installation) -> Iterator[None]:
    """What happens meanwhile is forgotten."""
    here.pair.catch_up()
    with here.pair.lagging():
        yield
        here.pair.primary.kill()
    here.promote()


@contextmanager
def a_backup_is_put_back(here: Installation) -> Iterator[None]:
    """What happens meanwhile is forgotten."""
    primary, backup = here.pair.primary, here.pair.primary.home / "backup"
    primary.copy(backup)
    yield
    primary.kill()
    primary.start_on(backup)
    own_engines.wait_for_database()


def traces(here: Installation, thing: Thing, name: str) -> dict[str, Any]:
    """The arguments of a job that leaves its object's key wherever it may, once `name` is released."""
    return {"number": thing.pk, "path": here.file(name), "told": here.file(f"told by {name}")}


def told_by(here: Installation, name: str) -> list[str]:
    path = Path(here.file(f"told by {name}"))
    return path.read_text().splitlines() if path.exists() else []


def hide_which_server_it_is(here: Installation) -> None:
    """As a provider may: then no clock notices a promotion, and the numbers of lost jobs come again."""
    here.pair.primary.ask("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public")


def take_their_numbers(here: Installation, thing: Thing, lost: list[int]) -> None:
    """New jobs until the numbers of these have come again; those run by now."""
    last = thing.async_.work(0, seconds=0)
    assert last < min(lost), "their numbers were not lost: nothing is proved"
    while last < max(lost):
        calls = thing.async_
        last = calls.leave_traces(**traces(here, thing, "ours")) if last + 1 in lost else calls.work(last, seconds=0)
    here.run(lost, times=2)


@pytest.mark.parametrize("_run", range(sized(1, thorough=3)))
@pytest.mark.parametrize("because", [a_standby_lags, a_backup_is_put_back])
def test_when_the_last_commits_are_lost_the_rest_ends_and_nothing_of_one_tenant_is_in_anothers(install, because, _run):
    with install(session="read-write") as here:
        hide_which_server_it_is(here)
        here.start_workers(1)
        here.start_light_worker()
        theirs, ours, others = things()
        load = Load([theirs, others], seed=time.time_ns())
        here.release("before")
        ours.async_.leave_traces(**traces(here, ours, "before"))  # so that there is something to remember
        left = here.holding(theirs, "first", 2)
        all_end(but=2)
        begin = time.time()
        with because(here):
            here.release("first")
            here.start_workers(1)  # nobody will have heard of it
            load.start()
            wait_until(lambda: len(load.accepted) > LOST, "there is something to lose")
            load.stop()
            wait_until(lambda: Job.objects.filter(pk__in=left, status="success").count() == 2, "their ends are lost")
            lost = [theirs.async_.leave_traces(**traces(here, theirs, "theirs")) for _ in range(3)]
            processes = here.run(lost)
        forgotten = (begin, time.time() + MARGIN)

        take_their_numbers(here, ours, lost)
        assert cancel(lost[0], tenant_id=ours.tenant_id)
        here.release("theirs")
        wait_until(
            lambda: len(told_by(here, "theirs")) == 3 or all(map(has_ended, processes)), "the lost jobs' bodies end"
        )
        heard = " ".join(told_by(here, "theirs"))
        assert "cancelled: True" not in heard, heard
        assert f"'number': {ours.pk}" not in heard, heard
        assert set(Job.objects.filter(pk__in=lost).values_list("progress_note", flat=True)) == {""}
        here.release("ours")

        with suppress(AssertionError):
            all_end()  # the verdict says what has not
        accepted = load.accepted | dict.fromkeys(left, 0.0)
        assert verdict.judge(here.evidence, accepted, [], [forgotten]) + load.faults == []
        assert [job.status for job in Job.objects.filter(pk__in=lost).order_by("pk")] == ["cancelled", *2 * ["success"]]
        assert [results.load(job).value for job in Job.objects.filter(pk__in=lost[1:])] == 2 * [[ours.pk, 1]]
        assert list(JobMemory.objects.values_list("tenant_id", "content")) == [(ours.tenant_id, {"number": ours.pk})]
        here.every_process_is_of_use()
