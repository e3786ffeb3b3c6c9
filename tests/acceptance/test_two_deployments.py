"""Two deployments on one Redis, with jobs of the same numbers: each runs its own, and reads its own results."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg import sql

from embedded import fleet
from jobs.models import Job
from jobs.store import results
from tests.acceptance.following import ended
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long("two deployments that share a broker or a cache"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not settings.CELERY_BROKER_URL.startswith("redis"), reason="on RabbitMQ: a virtual host each"),
]
COUNT = 10
SUBMIT = """
from django.db import connection
from tests.factories import ThingFactory
with connection.cursor() as cursor:
    cursor.execute("SELECT setval(pg_get_serial_sequence('jobs', 'id'), %s, false)", [{first}])
thing = ThingFactory()
print([thing.async_.echo("the neighbour's", times=n) for n in range(1, {count} + 1)])
"""
READ = """
import json
from jobs import results
from jobs.models import Job
print(json.dumps([results.load(job).value for job in Job.objects.order_by("pk")]))
"""


@dataclass(frozen=True)
class Neighbour:
    """A deployment with a database of its own, on our broker and our cache."""

    environ: dict[str, str]
    database: str

    def manage(self, *arguments: str) -> str:
        argv, environ = fleet.manage(*arguments, environ=self.environ)
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1] if done.stdout else ""

    def statuses(self) -> list[tuple[str, int]]:
        with psycopg.connect(**connection.get_connection_params() | {"dbname": self.database}) as session:
            return session.execute("SELECT status, attempt FROM jobs ORDER BY id").fetchall()


@pytest.fixture
def neighbour(environ) -> Iterator[Neighbour]:
    environ["JOBS_HAND_OVER_TIMEOUT"] = "3600"  # a message that somebody else has taken is not sent again
    name = f"{connection.settings_dict['NAME']}_neighbour"
    url = urlunsplit(urlsplit(environ["DATABASE_URL"])._replace(path=f"/{name}"))
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            one = Neighbour(environ | {"DATABASE_URL": url, "DEPLOYMENT": "neighbour"}, name)
            one.manage("migrate", "--verbosity", "0")
            yield one
        finally:
            session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def start_neighbours_worker(neighbour, processes, tmp_path) -> Callable[[], None]:
    def start() -> None:
        name = f"neighbour-{os.getpid()}"
        processes.start(
            name, *fleet.worker(concurrency=2, name=name, environ=neighbour.environ), log=tmp_path / "neighbour.log"
        )

    return start


def test_each_runs_its_own_jobs_and_reads_its_own_results(start_worker, register, neighbour, start_neighbours_worker):
    register(concurrency=COUNT)  # so that messages are there before our worker is
    owner = ThingFactory(tenant__queue__num_slots=COUNT)
    mine = [owner.async_.echo("the owner's", times=n) for n in range(1, COUNT + 1)]
    theirs = neighbour.manage("shell", "--verbosity", "0", "-c", SUBMIT.format(first=mine[0], count=COUNT))
    assert json.loads(theirs) == mine
    assert Job.objects.filter(pk__in=mine, status="queued").count() == COUNT
    start_neighbours_worker()
    wait_until(lambda: all(status == "success" for status, _ in neighbour.statuses()), "the neighbour's jobs end")
    assert neighbour.statuses() == [("success", 1)] * COUNT
    assert Job.objects.filter(pk__in=mine, status="queued").count() == COUNT
    start_worker()
    jobs = [ended(job_id) for job_id in mine]
    assert [(job.status, job.attempt) for job in Job.objects.filter(pk__in=mine)] == [("success", 1)] * COUNT
    assert [results.load(job).value for job in jobs] == [["the owner's"] * n for n in range(1, COUNT + 1)]
    read = neighbour.manage("shell", "--verbosity", "0", "-c", READ)
    assert json.loads(read) == [["the neighbour's"] * n for n in range(1, COUNT + 1)]
