"""Hosts with networks of their own, which are cut, lossy or slow: docs/reliability.md, "Paths between hosts"."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.core.management import call_command

from jobs.engine.process import runtime
from jobs.models import Job, Worker
from tenants import auth
from tests.chaos import verdict
from tests.concurrency.audit import Auditor
from tests.factories import QueueFactory, ThingFactory
from tests.hosts import Host, missing, parts
from tests.hosts.scheduler import Scheduler, running
from tests.hosts.stream import Stream, all_end, all_processes_are_of_use, counts, hold, release
from tests.waiting import wait_until

pytestmark = pytest.mark.long("cuts between hosts; test_broken_paths.py has those of a path by itself")

# Each is to be cut in another way, but the first.
PROCESSES = {"whole": 3, "no-database": 1, "unheard-by-database": 1, "deaf-to-database": 1, "no-engine": 1}
PROCESSES |= {"no-broker": 1, "unheard-by-broker": 1, "deaf-to-broker": 1}


@dataclass(frozen=True)
class Here:
    """One installation for all of it: to start it costs more than a test. url: of its web process."""

    scheduler: Scheduler
    hosts: dict[str, Host]
    web: Host
    url: str


@pytest.fixture
def here(tmp_path: Path, django_db_blocker, sent) -> Iterator[Here]:
    if missing():
        pytest.skip(missing())
    with (
        django_db_blocker.unblock(),
        running(tmp_path) as scheduler,
        runtime.changed(carrier=scheduler.hand_over),
    ):
        QueueFactory(name="default")
        hosts = {name: scheduler.start_worker(name, count) for name, count in PROCESSES.items()}
        web = scheduler.net.host("web")
        yield Here(scheduler, hosts, web, parts.start_web(web, scheduler.environ, tmp_path))


def nothing_is_wrong(scheduler: Scheduler, auditor: Auditor, stream: Stream, others: Iterable[int] = ()) -> None:
    """Nothing is lost, no body of an attempt started twice, no limit was ever exceeded."""
    accepted = stream.accepted | dict.fromkeys(others, 0.0)
    assert stream.failed == []
    assert auditor.looks > 0
    assert verdict.judge(scheduler.evidence, accepted, auditor.violations) == []
    call_command("check_invariants")


def workers_are_cut_off(here: Here) -> None:
    """All at once, while each holds a job; the cuts last until all are noticed. They cost their own capacity."""
    scheduler, net = here.scheduler, here.scheduler.net
    database, broker = net.hosts["database"], net.hosts["broker"]
    ways: dict[str, Callable[[Host], object]] = {
        "no-database": lambda host: net.cut(host, database),
        "unheard-by-database": lambda host: net.cut_one_way(host, database),
        "deaf-to-database": lambda host: net.cut_one_way(database, host),
        "no-engine": net.cut,
        "no-broker": lambda host: net.cut(host, broker),
        "unheard-by-broker": lambda host: net.cut_one_way(host, broker),
        "deaf-to-broker": lambda host: net.cut_one_way(broker, host),
    }
    held = hold(scheduler, ThingFactory(tenant__queue__num_slots=100), "held", sum(PROCESSES.values()))
    workers = {name: scheduler.worker(name).pk for name in PROCESSES}
    job_of = dict(Job.objects.filter(pk__in=held).values_list("worker", "pk"))
    assert set(job_of) == set(workers.values()), "each host holds one"
    lost = {workers[name] for name in ways if "broker" not in name}
    away = {workers[name] for name in ways if "broker" in name}
    with Auditor() as auditor, Stream() as stream:
        for name, cut in ways.items():
            cut(here.hosts[name])
        release(scheduler, "held")
        stream.goes_on()
        gone = Worker.objects.filter(pk__in=lost, lost=True)
        wait_until(lambda: gone.count() == len(lost), "those without database are gone")
        none = Worker.objects.filter(pk__in=away, cut_off_at__isnull=False, concurrency=0, gone_at=None)
        wait_until(lambda: none.count() == len(away), "those without broker count as none")
        stream.goes_on()
        wait_until(lambda: not Job.objects.filter(pk__in=held).exclude(status="success").exists(), "jobs come back")
        net.heal()
        scheduler.wait_for_workers()
        stream.goes_on()
    all_end()
    all_processes_are_of_use(scheduler, PROCESSES)
    for worker, job_id in job_of.items():
        assert counts([job_id]) == {job_id: ("success", *((2, 1) if worker in lost else (1, 0)))}
    nothing_is_wrong(scheduler, auditor, stream, held)


def packets_are_lost_and_late(here: Here) -> None:
    """That costs no attempt."""
    workers = set(Worker.objects.filter(gone_at=None).values_list("pk", flat=True))
    here.scheduler.net.loss(0.02)
    here.scheduler.net.delay(0.005)  # a round trip takes 10 ms
    with Auditor() as auditor, Stream() as stream:
        stream.goes_on(30)
    all_end()
    assert set(counts(stream.accepted).values()) == {("success", 1, 0)}
    assert Worker.objects.filter(gone_at=None, cut_off_at=None, pk__in=workers).count() == len(workers)
    nothing_is_wrong(here.scheduler, auditor, stream)


def web_is_cut_off(here: Here) -> None:
    """Without broker and cache it takes jobs, without database it says so."""
    scheduler, net = here.scheduler, here.scheduler.net
    tenant = ThingFactory().tenant
    _, token = auth.issue(tenant, "test")

    def submit() -> int:
        thing = ThingFactory(tenant=tenant)  # another one: no job is identical to another
        call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "tell"}
        return scheduler.ask(f"{here.url}/api/v1/jobs", token, call)[0]

    def status(path: str) -> int:
        return scheduler.ask(here.url + path)[0]

    assert (submit(), status("/readyz")) == (202, 200)
    net.cut(here.web, net.hosts["broker"])
    assert [submit() for _ in range(5)] == [202] * 5
    assert status("/readyz") == 200
    all_end()
    net.heal()
    assert submit() == 202
    net.cut(here.web, net.hosts["database"])
    assert (submit(), status("/readyz"), status("/healthz")) == (503, 503, 200)
    net.heal()
    wait_until(lambda: status("/readyz") == 200, "it is ready again")
    assert submit() == 202
    all_end()
    ended = Job.objects.filter(tenant=tenant).values_list("status", "attempt")
    assert [*ended] == [("success", 1)] * 8
    call_command("check_invariants")


def test_hosts_that_are_cut_off_or_far_away_cost_their_own_capacity_and_time_and_nothing_else(here, subtests):
    for trouble in (workers_are_cut_off, packets_are_lost_and_late, web_is_cut_off):
        here.scheduler.net.heal()
        here.scheduler.wait_for_workers()
        with subtests.test(trouble.__name__):
            trouble(here)
