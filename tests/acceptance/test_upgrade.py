"""The database of a release, as tests/upgrades/dump.py wrote it then, is migrated and works on: also one of today."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from embedded import REPOSITORY, binaries
from jobs.lifecycle import Status
from tests.factories import database_url
from tests.upgrades import dump

pytestmark = pytest.mark.long("a database of each release")

RELEASES = [path.stem for path in sorted(dump.HERE.glob("*.sql"))]
HELD = """
SELECT tenant_id, count(*)::int, range_agg(int4range(slot, slot + 1)) FROM jobs WHERE slot IS NOT NULL
GROUP BY tenant_id ORDER BY tenant_id
"""
BOOKS = "SELECT tenant_id, in_use, slots FROM tenant_books WHERE in_use > 0 ORDER BY tenant_id"
STATUSES = "SELECT status, count(*)::int FROM all_jobs GROUP BY status ORDER BY status"
RUN = "from jobs.contrib.testing import drain; print(len(drain(raising=False)))"


@pytest.fixture
def database(transactional_db) -> Iterator[str]:
    """The URL of an empty database."""
    name = sql.Identifier(f"{connection.settings_dict['NAME']}_of_a_release")
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(name))
    yield urlunsplit(urlsplit(database_url())._replace(path=f"/{name.as_string(None).strip(chr(34))}"))
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def python(database: str, *words: str) -> str:
    settings = "tests.settings" if "-m" in words else "scheduler_project.settings"
    environ = {**os.environ, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": settings}
    ended = subprocess.run(
        [sys.executable, *words], cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def carry_over(database: str, release: str) -> None:
    with psycopg.connect(database, autocommit=True) as session:
        session.execute(release)
        session.execute("SET search_path = public")  # pg_dump sets none
        before = session.execute(STATUSES).fetchall()
        assert {status for status, _ in before} == set(Status)
        python(database, "manage.py", "migrate", "--verbosity", "0")
        assert session.execute(STATUSES).fetchall() == before
        assert session.execute(BOOKS).fetchall() == session.execute(HELD).fetchall() != []
        dead = session.execute("SELECT id FROM jobs WHERE died_at IS NOT NULL").fetchall()
        python(database, "manage.py", "jobs", "revive", *(str(number) for (number,) in dead))
        assert int(python(database, "manage.py", "shell", "--no-imports", "-c", RUN)) >= 1 + len(dead)


@pytest.mark.parametrize("release", RELEASES)
def test_a_database_of_a_release_is_migrated_and_its_jobs_run(database, release):
    carry_over(database, (dump.HERE / f"{release}.sql").read_text())


def test_the_dump_of_the_next_release_can_be_taken_and_carried_over(database, tmp_path):
    if shutil.which("pg_dump", path=binaries.postgres().parent) is None:
        pytest.skip("no pg_dump beside the server")
    python(database, "-m", "tests.upgrades.dump", str(tmp_path / "next"))
    with psycopg.connect(database, autocommit=True) as session:
        session.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    carry_over(database, (tmp_path / "next.sql").read_text())
