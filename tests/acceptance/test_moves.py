"""A tenant moves between two installations and back, under load: each accepted job runs once, whatever is killed."""

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.conf import settings
from django.db import connection

from embedded import fleet
from jobs import submit_many
from jobs.models import AnyJob, Job
from tenants.models import Tenant
from tests.acceptance.neighbour import Neighbour
from tests.factories import ThingFactory
from tests.sample.models import Thing
from tests.thorough import sized
from tests.waiting import wait_until
from tests.warm import WarmProcesses

pytestmark = [
    pytest.mark.long("a tenant in two databases; tests/integration/engine/test_moving.py moves it in one"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(sized(480, thorough=1800)),  # 20 processes that load everything, beside two workers
    pytest.mark.skipif(not settings.CELERY_BROKER_URL.startswith("redis"), reason="on RabbitMQ: a virtual host each"),
]
JOBS = sized(300, thorough=10_000)  # of each tenant
PREPARE = """
from tenants.models import Tenant
from tests.factories import TenantFactory
from tests.sample.models import Thing
TenantFactory()
for number, slug in {things}:
    Thing.objects.create(pk=number, tenant=TenantFactory(slug=slug, queue__num_slots=1))
"""
SUBMIT = """
import json
from threading import Event
from jobs import submit_many
from jobs.calls.refusals import TenantMoves
from tests.sample.models import Thing
thing, accepted, pace = Thing.objects.get(pk={thing}), [], Event()
try:
    for first in range({first}, {first} + 1_000_000, 5):
        calls = [thing.async_(delay=number % 2).work.request(number, seconds=0.0) for number in range(first, first + 5)]
        accepted += submit_many(calls)
        pace.wait(0.05)
except TenantMoves:
    print(json.dumps(accepted))
"""


@pytest.fixture
def evidence(monkeypatch, tmp_path) -> Path:
    """Where bodies of both installations write: a third place."""
    path = tmp_path / "evidence"
    path.touch()
    monkeypatch.setenv("CHAOS_EVIDENCE", str(path))
    return path


@pytest.fixture
def ours(evidence, environ) -> Neighbour:
    return Neighbour(environ, connection.settings_dict["NAME"])


@contextmanager
def submitting(where: Neighbour, thing: Thing, first: int) -> Iterator[list[int]]:
    """Submit there until that is refused; afterwards the list has the jobs that were accepted."""
    accepted: list[int] = []
    script = SUBMIT.format(thing=thing.pk, first=first)
    argv, environ = fleet.manage("shell", "--verbosity", "0", "-c", script, environ=where.environ)
    newest = "SELECT coalesce(max(id), 0) FROM jobs"
    with where.session() as session:
        before = session.execute(newest).fetchone()
        submitter = subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, text=True)
        wait_until(lambda: session.execute(newest).fetchone() != before, "it submits")
    with submitter:
        yield accepted
        output, _ = submitter.communicate(timeout=60)
    accepted += json.loads(output.splitlines()[-1])


def killed(where: Neighbour, table: str, mode: str, *command: str) -> None:
    """Kill the command while it waits for the table, which somebody has locked, until PostgreSQL has ended it, too."""
    waiting = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
    alive = "SELECT pid FROM pg_stat_activity WHERE pid = ANY(%s)"
    with where.session() as session, where.session() as looking, TemporaryDirectory() as name:
        with session.transaction(), WarmProcesses() as processes:
            argv, environ = fleet.manage(*command, environ=where.environ)
            process = processes.start("killed", argv, environ, log=Path(name) / "log")
            session.execute(f"LOCK TABLE {table} IN {mode} MODE")
            wait_until(lambda: looking.execute(waiting, [table]).fetchall(), f"{command} comes to {table}")
            pids = [pid for (pid,) in looking.execute(waiting, [table]).fetchall()]
            os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: not looking.execute(alive, [pids]).fetchall(), "its session has ended")


def move(here: Neighbour, there: Neighbour, path: Path, slug: str = "acme") -> None:
    export, take_in, moved, opened = steps(path, slug)
    here.manage(*export)
    word = here.document(*moved, there.document(*take_in)["receipt"])["word"]
    there.manage(*opened, word)


def move_with_deaths(here: Neighbour, there: Neighbour, path: Path) -> None:
    """Each step is repeated after its process was killed in the middle; and two of them after that they were done."""
    export, take_in, moved, opened = steps(path, "acme")
    killed(here, "kept_answers", "ACCESS EXCLUSIVE", *export)
    assert not path.exists()
    here.manage(*export)
    killed(there, "changes", "EXCLUSIVE", *take_in)
    receipt = there.document(*take_in)["receipt"]
    assert there.document(*take_in)["receipt"] == receipt
    killed(here, "job_memories", "EXCLUSIVE", *moved, receipt)
    word = here.document(*moved, receipt)["word"]
    killed(there, "changes", "EXCLUSIVE", *opened, word)
    there.manage(*opened, word)


def steps(path: Path, slug: str) -> list[tuple[str, ...]]:
    address = "https://there.example.com"
    return [
        ("tenants", "export", slug, str(path), "--to", address),
        ("tenants", "import", str(path)),
        ("tenants", "moved", slug),
        ("tenants", "open", slug),
    ]


def test_each_job_of_two_tenants_that_move_there_and_back_runs_once(
    ours, neighbour, start_worker, start_neighbours_worker, tmp_path
):
    thing, other = ThingFactory(tenant__slug="acme", tenant__queue__num_slots=4), ThingFactory(tenant__slug="globex")
    neighbour.manage("jobs", "skip-numbers", "--by", str(10**12))
    neighbour.manage(
        "shell", "--verbosity", "0", "-c", PREPARE.format(things=[(thing.pk, "acme"), (other.pk, "globex")])
    )
    accepted = submit_many(thing.async_(delay=n % 3).work.request(n, seconds=0.0) for n in range(JOBS))
    accepted += submit_many(other.async_.work.request(n, seconds=0.0) for n in range(JOBS))
    start_worker()
    start_neighbours_worker()
    with submitting(ours, thing, JOBS) as first:
        move_with_deaths(ours, neighbour, tmp_path / "there.jsonl.gz")
    assert Tenant.objects.get(slug="acme").jobs_queue.moving == "moved"
    move(ours, neighbour, tmp_path / "other_there.jsonl.gz", "globex")
    with submitting(neighbour, thing, 10**7) as second:
        move(neighbour, ours, tmp_path / "back.jsonl.gz")
    move(neighbour, ours, tmp_path / "other_back.jsonl.gz", "globex")
    accepted += first + second
    assert first and second and min(second) > 10**12
    open_jobs = Job.objects.filter(end_time=None)
    wait_until(lambda: not open_jobs.exists(), "all jobs end", limit=60 + JOBS / 25)
    assert AnyJob.objects.filter(status="success").count() == len(accepted)
    ran = Counter(int(line.split()[0]) for line in (tmp_path / "evidence").read_text().splitlines())
    assert ran == dict.fromkeys(accepted, 1)
    for where in (ours, neighbour):
        assert where.manage("check_invariants").startswith("No violations")
