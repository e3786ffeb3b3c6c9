"""Patroni on hosts of its own, with the files of deploy/patroni: what a switchover costs, and a primary that dies."""

import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from embedded import data_dir
from tests.chaos import own_engines, verdict
from tests.factories import QueueFactory, ThingFactory
from tests.hosts import Net, missing, patroni
from tests.hosts.patroni import TURNS, Cluster
from tests.hosts.scheduler import Scheduler, on_database
from tests.hosts.stream import Stream, all_end, counts, hold, longest_pause, release
from tests.thorough import THOROUGH
from tests.waiting import wait_until

pytestmark = pytest.mark.long("Patroni; test_failover.py promotes a standby by hand")

# Seconds as few as Patroni allows, or those of the file. An asynchronous standby may lack what was just accepted.
TIMING = {} if THOROUGH else {"ttl": "20", "loop_wait": "2", "retry_timeout": "5"}
CHANGED = {"synchronous_mode": "true", **TIMING}
BEATS = {"JOBS_BEAT_INTERVAL": "5"}  # the default: HAProxy finds a new primary within three of these
SWITCHOVER = ("switchover", "--force")


@pytest.fixture
def here(tmp_path: Path, django_db_blocker) -> Iterator[tuple[Scheduler, Cluster]]:
    """Two workers, one by a URL with two hosts, one by HAProxy."""
    if reason := missing() or patroni.missing():
        pytest.skip(reason)
    with (
        django_db_blocker.unblock(),
        data_dir.throwaway() as directory,
        Net() as net,
        patroni.running(net, directory, **CHANGED) as cluster,
        on_database(net, cluster.both, cluster.by_socket, tmp_path, **BEATS) as scheduler,
    ):
        QueueFactory(name="default")
        scheduler.start_worker("by-both", 3)
        scheduler.start_worker("by-haproxy", 3, DATABASE_URL=cluster.by_haproxy)
        scheduler.wait_for_workers()
        yield scheduler, cluster


def test_neither_a_switchover_nor_a_dead_primary_costs_an_attempt(here):
    scheduler, cluster = here
    thing = ThingFactory(tenant__queue__num_slots=100)
    events = {
        "switchover": lambda _: cluster.ctl(*SWITCHOVER),
        "killed": lambda first: cluster.servers[first].crash(),
    }
    held = []
    with Stream() as stream:
        for name, strike in events.items():
            wait_until(cluster.has_standby, "there is a standby", TURNS)
            held += hold(scheduler, thing, name, 4)
            first, began, failed = cluster.primary(), time.time(), len(stream.failed)
            strike(first)
            wait_until(lambda first=first: cluster.primary() == cluster.other(first), "another leads", TURNS)
            promoted = time.time()
            own_engines.wait_for_database()  # a new session of this process
            release(scheduler, name)
            stream.goes_on(limit=TURNS)
            pause = longest_pause(scheduler, began, time.time())
            refused = len(stream.failed) - failed
            print(f"{name}: new primary after {promoted - began:.1f} s, no begin for {pause:.1f} s, {refused} refused")  # noqa: T201
    all_end()
    assert counts(held) == dict.fromkeys(held, ("success", 1, 0))
    assert set(counts(stream.accepted).values()) == {("success", 1, 0)}
    assert verdict.judge(scheduler.evidence, stream.accepted | dict.fromkeys(held, 0.0), []) == []
    assert all(process.restarts == 0 for process in scheduler.workers.values())
    call_command("check_invariants")
    wait_until(lambda: not told(), "the clock has skipped numbers")


def told() -> str:
    """What `manage.py check` has to say of the database."""
    errors = StringIO()
    call_command("check", databases=["default"], stderr=errors, stdout=StringIO())
    return errors.getvalue()
