"""Hosts with networks of their own, which are cut, lossy or slow: docs/reliability.md, "Paths between hosts"."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command

from jobs.models import Job, Worker
from tenants import auth
from tests.chaos import verdict
from tests.concurrency.audit import Auditor
from tests.factories import QueueFactory, ThingFactory
from tests.hosts import missing, parts
from tests.hosts.scheduler import Scheduler, running
from tests.hosts.stream import Stream, all_end, all_processes_are_of_use, counts, hold, release
from tests.waiting import wait_until

pytestmark = pytest.mark.long("cuts between hosts; test_broken_paths.py has those of a path by itself")


@pytest.fixture
def run(tmp_path: Path, django_db_blocker) -> Iterator[Callable]:
    """`with run() as scheduler:`, where hosts can be made."""
    if missing():
        pytest.skip(missing())

    @contextmanager
    def run(**settings: str) -> Iterator[Scheduler]:
        with running(tmp_path, **settings) as scheduler:
            QueueFactory(name="default")
            yield scheduler

    with django_db_blocker.unblock():
        yield run


def nothing_is_wrong(scheduler: Scheduler, auditor: Auditor, stream: Stream, others: Iterable[int] = ()) -> None:
    """Nothing is lost, no body of an attempt started twice, no limit was ever exceeded."""
    accepted = stream.accepted | dict.fromkeys(others, 0.0)
    assert auditor.looks > 0
    assert verdict.judge(scheduler.evidence, accepted, auditor.violations) == []
    call_command("check_invariants")


def test_hosts_that_are_cut_off_cost_their_own_capacity_and_nothing_else(run):
    """Each is cut in another way, and holds a job; only the first one is whole. The cuts last until all are noticed."""
    with run() as scheduler:
        net, database, broker = scheduler.net, scheduler.net.hosts["database"], scheduler.broker
        ways: dict[str, Callable] = {
            "no-database": lambda host: net.cut(host, database),
            "unheard-by-database": lambda host: net.cut_one_way(host, database),
            "deaf-to-database": lambda host: net.cut_one_way(database, host),
            "no-engine": net.cut,
            "no-broker": lambda host: net.cut(host, broker),
            "unheard-by-broker": lambda host: net.cut_one_way(host, broker),
            "deaf-to-broker": lambda host: net.cut_one_way(broker, host),
        }
        processes = {"whole": 3, **dict.fromkeys(ways, 1)}
        hosts = {name: scheduler.start_worker(name, count) for name, count in processes.items()}
        scheduler.wait_for_workers()
        held = hold(scheduler, ThingFactory(tenant__queue__num_slots=100), "held", len(processes) + 2)
        workers = {name: scheduler.worker(name) for name in processes}
        of_worker = dict(Job.objects.filter(pk__in=held).values_list("worker", "pk"))
        lost = [name for name in ways if "broker" not in name]
        kept = [name for name in ways if "broker" in name]
        assert set(of_worker) == {worker.pk for worker in workers.values()}, "each host holds one"
        with Auditor() as auditor, Stream() as stream:
            for name, cut in ways.items():
                cut(hosts[name])
            release(scheduler, "held")
            stream.goes_on()
            ids = [workers[name].pk for name in lost]
            wait_until(lambda: Worker.objects.filter(pk__in=ids, lost=True).count() == len(ids), "they are gone")
            ids = [workers[name].pk for name in kept]
            away = Worker.objects.filter(pk__in=ids, cut_off_at__isnull=False, concurrency=0, gone_at=None)
            wait_until(lambda: away.count() == len(ids), "they count as none")
            stream.goes_on()
            wait_until(lambda: not Job.objects.filter(pk__in=held).exclude(status="success").exists(), "they come back")
            net.heal()
            scheduler.wait_for_workers()
            stream.goes_on()
        all_end()
        all_processes_are_of_use(scheduler, processes)
        for name, worker in workers.items():
            attempts = (2, 1) if name in lost else (1, 0)
            assert counts([of_worker[worker.pk]]) == {of_worker[worker.pk]: ("success", *attempts)}, name
        assert stream.failed == []
        nothing_is_wrong(scheduler, auditor, stream, held)


def test_a_lossy_and_slow_network_costs_no_attempt(run):
    with run() as scheduler:
        for name in ("a", "b"):
            scheduler.start_worker(name, 2)
        scheduler.wait_for_workers()
        scheduler.net.loss(0.02)
        scheduler.net.delay(0.005)  # a round trip takes 10 ms
        with Auditor() as auditor, Stream() as stream:
            stream.goes_on(50)
        all_end()
        assert set(Job.objects.values_list("status", "attempt", "crashes")) == {("success", 1, 0)}
        assert not Worker.objects.exclude(gone_at=None, cut_off_at=None).exists()
        nothing_is_wrong(scheduler, auditor, stream)


def test_a_web_host_without_broker_and_cache_takes_jobs_and_one_without_database_says_so(run):
    with run() as scheduler:
        web = scheduler.net.host("web")
        scheduler.start_worker("worker", 2)
        url = parts.start_web(web, scheduler.environ, scheduler.directory)
        scheduler.wait_for_workers()
        tenant = ThingFactory().tenant
        _, token = auth.issue(tenant, "test")

        def submit() -> int:
            thing = ThingFactory(tenant=tenant)  # another one: no job is identical to another
            call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "tell"}
            return scheduler.ask(f"{url}/api/v1/jobs", token, call)[0]

        def status(path: str) -> int:
            return scheduler.ask(url + path)[0]

        assert (submit(), status("/readyz")) == (202, 200)
        scheduler.net.cut(web, scheduler.broker)
        assert [submit() for _ in range(5)] == [202] * 5
        assert status("/readyz") == 200
        all_end()
        scheduler.net.heal()
        assert submit() == 202
        scheduler.net.cut(web, scheduler.net.hosts["database"])
        assert (submit(), submit(), status("/readyz"), status("/healthz")) == (503, 503, 503, 200)
        scheduler.net.heal()
        wait_until(lambda: status("/readyz") == 200, "it is ready again")
        assert submit() == 202
        all_end()
        assert set(Job.objects.values_list("status", "attempt")) == {("success", 1)}
        assert Job.objects.count() == 8
        call_command("check_invariants")
