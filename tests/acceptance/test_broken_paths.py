"""The path of one host breaks: that costs its capacity, and nobody else anything."""

from contextlib import ExitStack

import pytest

from embedded import engines
from jobs.lifecycle import FINAL
from jobs.models import Job, Worker
from jobs.reading import health
from jobs.worker import message
from tests.chaos.freezing import has_ended
from tests.factories import ThingFactory
from tests.network import paths
from tests.sql import value
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("tests/integration/processes find most of it: a silent pass, a leader without broker"),
]
LEADS = """
SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.granted AND l.classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid
  AND a.application_name LIKE %s
"""


@pytest.fixture
def start_host(environ, start_worker, monkeypatch):
    """Start a worker whose paths may break: `worker, to_database, to_broker = start_host()`."""
    with ExitStack() as stack:

        def start_host(concurrency: int = 2, pool: str = "default"):
            names = (engines.DATABASE, engines.BROKER)
            to_database, to_broker = stack.enter_context(paths(*(environ[name] for name in names)))
            with monkeypatch.context() as there:
                for name, path in zip(names, (to_database, to_broker), strict=True):
                    there.setitem(environ, name, path.url)
                process = start_worker(pool, concurrency)
            return Worker.objects.get(pid=process.pid, gone_at=None), to_database, to_broker

        yield start_host


def leads(worker: Worker) -> bool:
    return value(LEADS, [f"jobs:{worker.pk.hex}:%"])


def all_end(jobs: list[int]) -> bool:
    """Whether each has ended with success in its first attempt, when all have ended."""
    final = Job.objects.filter(pk__in=jobs, status__in=FINAL)
    wait_until(lambda: final.count() == len(jobs), f"{len(jobs)} jobs end")
    return set(final.values_list("status", "attempt")) == {("success", 1)}


def told() -> set[str]:
    return {condition.code for condition in health.conditions(health.look())}


def test_a_leader_that_loses_the_broker_costs_its_own_capacity_and_no_other(start_host, start_worker):
    """The healthy host has one process; each job has a timer, which passes the leader."""
    cut_off, _, to_broker = start_host()
    wait_until(lambda: leads(cut_off), "the worker whose path breaks leads")
    start_worker(concurrency=1)
    thing = ThingFactory(tenant__queue__num_slots=20)
    to_broker.cut()
    for _ in range(3):
        assert all_end([thing.async_(delay=0.2, dedup=False).count_runs() for _ in range(5)])
    wait_until(lambda: "worker_cut_off" in told(), "the condition is told")
    assert not leads(cut_off)
    assert Worker.objects.get(pk=cut_off.pk).concurrency == 0, "it has no idle process for others"
    to_broker.heal()
    wait_until(Worker.objects.filter(pk=cut_off.pk, cut_off_at=None, concurrency=2).exists, "it is back")
    assert "worker_cut_off" not in told()


def test_a_worker_that_was_told_to_take_no_messages_keeps_nobodys_job(start_worker, thing):
    """By Celery's remote control: `celery control cancel_consumer`."""
    deaf = Worker.objects.get(pid=start_worker(concurrency=2).pid, gone_at=None)
    start_worker(concurrency=1)
    app = message.run_attempt.app
    app.control.cancel_consumer("default", destination=[deaf.name])
    cut_off = Worker.objects.filter(pk=deaf.pk, cut_off_at__isnull=False)
    wait_until(cut_off.exists, "it says that it takes no messages")
    assert all_end([thing.async_(dedup=False).count_runs() for _ in range(5)])
    app.control.add_consumer("default", destination=[deaf.name])
    wait_until(lambda: not cut_off.exists(), "it takes messages again")


@pytest.mark.parametrize("back", [True, False], ids=["both ways", "one way"])
def test_a_host_that_loses_the_database_ends_what_others_have_taken_over(start_host, work, back):
    """Its bodies end while it is cut off, beside those of the next attempts: what it says of them comes too late."""
    cut_off, to_database, _ = start_host(pool=work.kind.pool)
    ids = work.fill()
    processes = work.pids()
    work.start_worker()
    to_database.cut(back=back)
    wait_until(Worker.objects.filter(pk=cut_off.pk, gone_at__isnull=False).exists, "it is declared gone")
    work.run(ids, attempt=2)
    assert not any(map(has_ended, processes)), "it cannot tell this from a database that is away for all"
    assert not work.pids() & processes
    work.release()
    assert work.ended() == {("success", 2, 1)}
    to_database.heal()
    wait_until(lambda: all(map(has_ended, [cut_off.pid, *processes])), "it ends, with its processes")
    assert work.ended() == {("success", 2, 1)}
    work.nothing_is_left()
