"""What every test may use. Only tests/acceptance starts Celery; elsewhere the wire is a list."""

import gc
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis

from jobs import store
from jobs.calls.request import JobRequest
from jobs.engine.attempt import execute, slices
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.models import Job, Pool
from jobs.store import Claimed, claiming
from jobs.worker import message
from tests import migrated
from tests.beside import how_many
from tests.fleet import Fleet, Habit
from tests.race import Race

LONG = (
    "test_chaos.py",
    "test_hosts_patroni.py",
    "test_hosts.py",
    "test_world.py",
    "test_ops_pages.py",
    "test_readme.py",
    "test_tenants_apart.py",
    "test_deaths_broker.py",
    "test_members_pages.py",
    "test_other_pages.py",
    "test_admin_pages.py",
    "test_deaths_quorum.py",
    "test_backup.py",
    "test_claim_plan.py",
    "test_own_project.py",
    "test_demo.py",
    "test_storm.py",
    "test_rate_model.py",
)

WorkerFactory = Callable[..., uuid.UUID]
frozen_by_imports = -1  # objects
gc.disable()  # until all is imported

# How long an example takes says how busy the machine is. A fixture of ours begins anew what an example changes.
EXCUSED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
hypothesis.register_profile("ours", deadline=None, suppress_health_check=EXCUSED)
hypothesis.load_profile("ours")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` means."""
    return how_many(os.cpu_count() or 1, settings.CELERY_BROKER_URL, settings.CACHES["default"]["LOCATION"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: at the end the other processes would wait for them."""
    for item in items:
        for mark in item.iter_markers("long"):
            assert mark.args, f"{item.nodeid}: mark.long says which fault the short run may miss"
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


def pytest_collection_finish() -> None:
    """What is imported stays: the collector, which would look through all of it again and again, leaves it out."""
    global frozen_by_imports  # noqa: PLW0603
    frozen_by_imports = gc.get_freeze_count()
    gc.enable()
    gc.collect()
    gc.freeze()


# With a new connection each test would plan every statement anew, the claim for 10 ms. `flush` undoes what one leaves.
TransactionTestCase._should_reload_connections = lambda self: False


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest, django_db_modify_db_settings: None) -> None:
    """Tests that run beside each other copy one database: the migrations take three seconds of a processor."""
    if hasattr(request.config, "workerinput"):  # not in pytest that a test starts, for another project
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated.database()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """At the end, end the sessions that the server has not heard of yet: the database could not be dropped."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


@pytest.fixture(scope="class", autouse=True)
def jobs_follow_time() -> None:
    """Not as the plugin has it for other projects: these are the tests of the database's clock."""


@pytest.fixture(autouse=True)
def sent() -> Iterator[list[Claimed]]:
    """The messages handed over, instead of a broker."""
    messages: list[Claimed] = []
    runtime.change(carrier=messages.extend)
    yield messages
    runtime.change(carrier=message.hand_over)


@pytest.fixture(autouse=True)
def nothing_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No dispatch of an earlier test in this process was in vain, or found a crowd at the door."""
    monkeypatch.setattr(dispatch, "_thread", threading.local())


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """No slice and no slack ends because the machine is slow; a test of their end says when they end."""
    monkeypatch.setitem(claiming.RULES, "seconds", 3600.0)
    monkeypatch.setattr(slices, "SLICE", 3600.0)
    monkeypatch.setattr(slices, "MAX_SLICE", 3600.0)
    monkeypatch.setattr(execute, "SLACK", 3600.0)


@pytest.fixture
def register() -> WorkerFactory:
    """Register a live worker: `register(concurrency=4, pool="default")`; of a light pool with `kind` and `seats`."""

    def register(
        concurrency: int = 100, pool: str = "default", kind: str = Pool.Kind.ORDINARY, seats: int = 1
    ) -> uuid.UUID:
        worker = uuid.uuid4()
        name = f"test@{worker}"
        store.beat(worker, name=name, pid=1, pool=pool, capacity=concurrency, seats=seats, kind=kind)
        return worker

    return register


@pytest.fixture
def exact_capacity(settings) -> None:
    """A pool's capacity is its processes for as long as a slow machine takes."""
    settings.JOBS_BEAT_INTERVAL = 3600.0


@pytest.fixture
def fleet(register, settings) -> Callable[..., Fleet]:
    """`fleet(processes, {tenant id: habit or seconds of its jobs, else 1})`; workers are live whatever the time is."""
    settings.JOBS_BEAT_INTERVAL = 1e7

    def fleet(processes: int, habits: Mapping[int, Habit | float] | None = None, pool: str = "default") -> Fleet:
        def habit(job: Job) -> Habit:
            known = (habits or {}).get(job.tenant_id, 1.0)
            return known if isinstance(known, Habit) else Habit(known)

        return Fleet(register(concurrency=processes, pool=pool), processes, habit)

    return fleet


@pytest.fixture
def as_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process may name its sessions, as one that runs bodies does, for the length of a test."""
    monkeypatch.setattr(connections, "settings", dict(connections.settings))
    monkeypatch.setenv("PGAPPNAME", "")


@pytest.fixture
def elsewhere(transactional_db) -> Iterator[Callable[..., Future]]:
    """Do something in a thread, with a connection of its own: `elsewhere(submit, request).result()`."""
    with ThreadPoolExecutor(16) as threads:

        def in_a_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
            def closing() -> Any:
                try:
                    return function(*args, **kwargs)
                finally:
                    connection.close()

            return threads.submit(closing)

        yield in_a_thread


@pytest.fixture
def blocked(transactional_db) -> Iterator[Callable[[], int]]:
    """How many of the database's sessions wait for a lock now, as an onlooker sees it."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as onlooker:
        question = """SELECT count(*) FROM pg_stat_activity
                      WHERE datname = current_database() AND wait_event_type = 'Lock'"""
        yield lambda: onlooker.execute(question).fetchone()[0]


@pytest.fixture
def onlooker(transactional_db) -> Iterator[psycopg.Connection]:
    """A session of somebody else, who looks on, or holds something."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
        yield session


@pytest.fixture(params=["they commit", "they roll back"])
def race(request, onlooker, elsewhere, blocked) -> Race:
    """Both sides of a race with somebody who is faster."""
    return Race(request.param == "they commit", onlooker, elsewhere, blocked)


def request_for(tenant, source_id: object = 1, **options) -> JobRequest:
    """A request that no registry has to know: for tests that end before the method is called."""
    values = {"source_type": "tests.thing", "source_method": "run", "args": {}, **options}
    return JobRequest(tenant_id=tenant.pk, source_id=str(source_id), **values)
