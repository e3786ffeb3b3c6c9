"""What docs/upgrading.md tells to type for a newer PostgreSQL, from 15 to the embedded one, while jobs run."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection

from embedded import REPOSITORY, binaries, postgresql
from embedded.processes import Processes
from jobs.lifecycle import FINAL, Status
from jobs.models import Job, Worker
from jobs.store import database_now, partitions
from tests.acceptance.following import ended, running
from tests.acceptance.restoring import worker_of
from tests.chaos import own_engines
from tests.factories import ThingFactory, make_job
from tests.pages import blocks
from tests.sample.models import Run
from tests.sql import sql, value
from tests.thorough import only_thorough
from tests.waiting import wait_until

FIFTEEN = Path("/usr/lib/postgresql/15/bin")
pytestmark = [
    only_thorough,  # a minute
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("what replication does not carry over; skipped numbers are in tests/integration/engine"),
    pytest.mark.skipif(not (FIFTEEN / "postgres").exists(), reason="no PostgreSQL 15 of Debian: make postgresql-15"),
]
PAGE = REPOSITORY / "docs/upgrading.md"
[COPY, LOOK, CHANGE_OVER, SEQUENCES, START] = [
    block.text
    for block in blocks(PAGE, "sh")
    if '"$OLD"' in block.text or '"$NEW"' in block.text or "skip-n" in block.text
]
# Systemd's part is the test's.
SHELL = f"""
manage() {{ (cd {REPOSITORY} && .venv/bin/python manage.py "$@"); }}
systemctl() {{ :; }}
"""
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.settings", "JOBS_BEAT_INTERVAL": "1", "JOBS_HAND_OVER_TIMEOUT": "2"}
COUNTS = "SELECT status, count(*)::int FROM all_jobs GROUP BY 1 ORDER BY 1"
NUMBERS = "SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL ORDER BY 1, 2"
LATER = timedelta(days=10)  # beyond the partitions that a copy gets with the schema
STARTED = 60.0  # seconds


@dataclass
class Servers:
    """The environment of processes on the old server and on the new one; the URLs are those of superusers."""

    directory: Path
    environ: dict[str, str]
    old: str
    new: str
    new_url: str
    accepted: list[int] = field(default_factory=list)

    def type_in(self, commands: str, **variables: str) -> str:
        path = f"{binaries.postgres().parent}:{os.environ['PATH']}"
        environ = self.environ | {"PATH": path, "OLD": self.old, "NEW": self.new} | variables
        bash = ["bash", "-euo", "pipefail", "-c", SHELL + commands]
        done = subprocess.run(
            bash, env=environ, cwd=self.directory, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Somebody submits jobs meanwhile."""
        stop, thing = threading.Event(), ThingFactory(tenant__queue__num_slots=5)

        def submit() -> None:
            while not stop.wait(0.05):
                self.accepted.append(thing.async_.echo(len(self.accepted)))
            connection.close()

        thread = threading.Thread(target=submit, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def superuser(home: Path) -> str:
    socket = quote(str(postgresql.socket_directory(home)), safe="")
    return f"postgresql://{postgresql.ADMIN}@/{postgresql.DATABASE}?host={socket}"


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    """PostgreSQL 15, where Django is, and an empty newer one."""
    new = tmp_path / "new"
    new.mkdir()
    with Processes() as processes, monkeypatch.context() as patch:
        new_url = postgresql.start(new, processes, durable=False)
        patch.setenv(binaries.POSTGRESQL_BIN, str(FIFTEEN))
        with own_engines.running(tmp_path / "old") as engines:
            patch.delenv(binaries.POSTGRESQL_BIN)
            with psycopg.connect(superuser(tmp_path / "old"), autocommit=True) as session:
                session.execute("ALTER SYSTEM SET wal_level = logical")
            os.kill(engines.postgresql.pid, signal.SIGINT)
            engines.postgresql.wait(STARTED)
            own_engines.wait_for_database()
            yield Servers(tmp_path, engines.environ | SETTINGS, superuser(tmp_path / "old"), superuser(new), new_url)


def rows_of_both(servers: Servers, statement: str) -> list[list[tuple]]:
    found = []
    for url in (servers.old, servers.new):
        with psycopg.connect(url) as session:
            found.append(session.execute(statement).fetchall())
    return found


def are_equal(servers: Servers) -> bool:
    """What the page types says so; not at once, while a dispatch of the killed worker is under way."""
    with suppress(AssertionError):
        return servers.type_in(CHANGE_OVER).splitlines()[-1] == "equal"
    return False


def make_a_partition_with_rows() -> None:
    """As the clock does when days go by; some attempts are of that day."""
    day = database_now().replace(hour=0, minute=0, second=0, microsecond=0) + LATER
    assert partitions.ensure("attempts", day, day + timedelta(days=1))
    sql(
        "INSERT INTO attempts SELECT (jsonb_populate_record(a, jsonb_build_object('ended_at', %s::timestamptz))).*"
        " FROM attempts a LIMIT 3",
        [day + timedelta(hours=1)],
    )


def test_a_newer_postgresql_takes_over_with_every_job_and_the_next_numbers(servers):
    thing = ThingFactory(tenant__queue__num_slots=5)
    later = thing.async_(delay=3600).echo("later")
    dead = make_job(thing.tenant, Status.DEAD).pk
    with worker_of(servers.environ, servers.directory / "old.log"), servers.submitting():
        ended(thing.async_.echo("before the copy"))
        servers.type_in(COPY)
        wait_until(lambda: servers.type_in(LOOK).strip() == "t", "every table is copied")
        ended(thing.async_.echo("after the copy"))
        make_a_partition_with_rows()
        interrupted = thing.async_.wait_for_file(str(servers.directory / "released"))
        running(interrupted)
        os.kill(Worker.objects.get(gone_at=None).pid, signal.SIGKILL)  # a stop in good order would wait for its job
    waiting = thing.async_.echo("while no worker is there")
    wait_until(lambda: are_equal(servers), "both have the same jobs", 60)
    assert len(servers.accepted) > 20
    for statement in (COUNTS, "SELECT count(*) FROM attempts", "SELECT count(*) FROM job_minutes"):
        there, here = rows_of_both(servers, statement)
        assert there == here != []
    servers.type_in(SEQUENCES)
    there, here = rows_of_both(servers, NUMBERS)
    assert there == here != []

    with pytest.MonkeyPatch.context() as patch, own_engines.on(servers.new_url, patch):
        assert value("SELECT current_setting('server_version_num')::int / 10000") > 15
        on_new = servers.environ | {"DATABASE_URL": servers.new_url}
        servers.type_in(START, **{"DATABASE_URL": servers.new_url})
        (servers.directory / "released").touch()
        with worker_of(on_new, servers.directory / "new.log"):
            new = thing.async_.echo("on the new server")
            assert new > max(servers.accepted)
            for pk in (new, waiting, interrupted, *servers.accepted):
                assert ended(pk).status == "success", pk
        again = Job.objects.get(pk=interrupted)
        assert (again.attempt, again.crashes) == (2, 1)
        assert Run.objects.filter(job_id=interrupted).count() == 2
        assert Job.objects.exclude(status__in=FINAL).get().pk == later
        assert Job.objects.filter(pk=dead, status="dead").exists()
        assert servers.type_in("manage check_invariants", **{"DATABASE_URL": servers.new_url}).splitlines()[-1] == (
            "No violations found."
        )
