"""Workers by command: shown with what they do, and drained by name."""

import json

import pytest

from jobs import store
from jobs.lifecycle import Status
from jobs.models import BlockedLoop, Worker
from tenants.models import Change
from tests.factories import TenantFactory, make_job
from tests.integration.cli.running import refusal, run

pytestmark = pytest.mark.django_db(transaction=True)


def listed(*words: object) -> dict[str, tuple[str, int, int]]:
    workers = json.loads(run("workers", *words, "--json"))["workers"]
    return {one["name"]: (one["state"], one["runs"], one["processes"]) for one in workers}


def name(worker) -> str:
    return Worker.objects.get(pk=worker).name


def test_workers_are_listed_with_their_state_and_those_that_went_with_how(register):
    busy, stopped, lost, long_gone = (register(concurrency=2) for _ in range(4))
    make_job(TenantFactory(), Status.RUNNING, worker=busy)
    store.leave(stopped)
    Worker.objects.filter(pk=lost).update(beat_at="2020-01-01T00:00Z")
    assert listed("list")[name(lost)] == ("silent", 0, 2)
    store.declare_gone()
    Worker.objects.filter(pk=long_gone).update(gone_at="2020-01-01T00:00Z")
    assert listed("list") == {
        name(busy): ("live", 1, 2),
        name(stopped): ("stopped", 0, 2),
        name(lost): ("lost", 0, 2),
    }
    assert "draining" not in run("workers")


def test_a_light_worker_is_listed_with_its_kind_and_the_seats_of_each_process(register):
    light, ordinary = register(concurrency=400, pool="mail", kind="light", seats=200), register(concurrency=2)
    workers = {one["name"]: one for one in json.loads(run("workers", "--json"))["workers"]}
    assert [workers[name(light)][key] for key in ("kind", "processes", "seats")] == ["light", 2, 200]
    assert [workers[name(ordinary)][key] for key in ("kind", "processes", "seats")] == ["ordinary", 2, 1]


def test_a_light_worker_tells_who_blocks_its_loop_and_how_long_bodies_waited_for_a_database_thread(register):
    light, stranger = (register(concurrency=400, pool="mail", kind="light", seats=200) for _ in range(2))
    Worker.objects.filter(pk=light).update(database_wait=1.4)
    job = make_job(TenantFactory(), Status.RUNNING, worker=light)
    facts = {"worker": light, "pid": 7, "pool": "mail", "seats": 3, "job_id": job.pk, "attempt": 1, "place": "m.py:3 f"}
    BlockedLoop.objects.create(**facts)
    BlockedLoop.objects.create(**facts, seconds=2.0)
    workers = {one["name"]: one for one in json.loads(run("workers", "--json"))["workers"]}
    [told] = workers[name(light)]["blocked_loops"]
    assert told.startswith(f"Job {job.pk} (reports.datareport.execute) has blocked an event loop of pool mail for ")
    assert told.endswith(": 2 other attempts stand still. It is at m.py:3 f.")
    assert workers[name(light)]["database_wait"] == 1.4
    assert (workers[name(stranger)]["database_wait"], workers[name(stranger)]["blocked_loops"]) == (None, [])
    shown = run("workers")
    rows = [line.split()[1:] for line in shown.splitlines() if line.startswith("test@")]  # a narrow screen cuts names
    assert sorted(rows) == [f"mail live {rest}".split() for rest in ("0 2 × 200 seats –", "1 2 × 200 seats 1.4s")]
    assert shown.count("has blocked an event loop") == 1


def test_without_a_light_worker_no_column_tells_of_database_threads(register):
    register(concurrency=2)
    assert "DB WAIT" not in run("workers")


def test_a_worker_is_drained_once_by_its_name_and_no_other(register):
    worker, other = register(concurrency=2), register(concurrency=3)
    assert listed("drain", name(worker)) == {name(worker): ("draining", 0, 0)}
    assert "is already draining" in run("workers", "drain", name(worker))
    assert Worker.objects.get(pk=other).concurrency == 3
    [change] = Change.objects.all()
    assert (change.verb, change.subject, change.tenant_id) == ("drained", name(worker), None)
    assert change.who.endswith("at the command line")


def test_an_unknown_one_is_refused_with_those_there_are(register):
    here, gone = register(), register()
    store.leave(gone)
    assert refusal("workers", "drain", "nobody") == f"worker: 'nobody' is unknown; known: {name(here)}"
    assert refusal("workers", "drain", name(gone)).startswith(f"worker: {name(gone)!r} is unknown")
