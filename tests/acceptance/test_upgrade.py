"""From 0.1.0 on databases are migrated: one with jobs in every status, as pg_dump wrote it then, works on as it is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from embedded import REPOSITORY, fleet
from plumbing.error_shapes import key_of, shape
from tests.factories import database_url

pytestmark = pytest.mark.long("a database of an earlier release")

DUMP = REPOSITORY / "tests" / "upgrades" / "0.1.0.sql"
HELD = """
SELECT tenant_id, count(*)::int, range_agg(int4range(slot, slot + 1)) FROM jobs WHERE slot IS NOT NULL
GROUP BY tenant_id ORDER BY tenant_id
"""
BOOKS = "SELECT tenant_id, in_use, slots FROM tenant_books WHERE in_use > 0 ORDER BY tenant_id"
# What a migration in several transactions leaves if it is interrupted just before its end.
INTERRUPT = """
DELETE FROM django_migrations
WHERE app = 'jobs' AND name IN ('0003_beside_running_jobs', '0014_validate_one_check')
"""
ENDS = """
UPDATE jobs SET announced = true, status = 'cancelled', ready_at = NULL, end_time = now() WHERE id = %s
"""
TOLD = """
SELECT e.tenant_id, data ->> 'source_method', (data ->> 'id')::bigint, data ->> 'status'
FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id
ORDER BY event
"""
STATUSES = "SELECT status, count(*)::int FROM jobs GROUP BY status"


@pytest.fixture
def database(transactional_db) -> Iterator[str]:
    """The URL of a database of that release."""
    name = sql.Identifier(f"{connection.settings_dict['NAME']}_of_0_1_0")
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(name))
    url = urlunsplit(urlsplit(database_url())._replace(path=f"/{name.as_string(None).strip(chr(34))}"))
    with psycopg.connect(url, autocommit=True) as old:
        old.execute(DUMP.read_text())
    yield url
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def manage(database: str, *words: str) -> str:
    environ = {**os.environ, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "scheduler_project.settings"}
    command = [sys.executable, "manage.py", *words]
    ended = subprocess.run(
        command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_database_of_the_first_release_with_jobs_in_every_status_is_carried_over(database):
    with psycopg.connect(database, autocommit=True) as now:
        before = now.execute(f"{STATUSES} ORDER BY 1").fetchall()
        assert [count for _, count in before] == [2, 2, 2, 2, 2, 2, 3, 2], "the scheduled ones: one is on hold"
        command, environ = fleet.worker("default", 1, "early", {**os.environ, "DATABASE_URL": database})
        early = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, timeout=60, check=False)
        assert (early.returncode, b"lacks migrations" in early.stderr) == (75, True)
        with psycopg.connect(database) as dump:
            dump.execute("LOCK TABLE jobs IN ACCESS SHARE MODE")
            with pytest.raises(AssertionError, match="due to lock timeout"):
                manage(database, "migrate", "jobs")
        manage(database, "migrate", "--verbosity", "0", "jobs", "0003")
        now.execute(INTERRUPT)
        manage(database, "migrate", "--verbosity", "0")
        assert now.execute(f"{STATUSES} ORDER BY 1").fetchall() == before
        held = now.execute(HELD).fetchall()
        assert [n for _, n, _ in held] == [2, 2]
        assert now.execute(BOOKS).fetchall() == held
        args = now.execute("SELECT DISTINCT args ->> 'region' FROM jobs WHERE args <> '{}'").fetchall()
        assert args == [("EU",)]
        [dead] = json.loads(manage(database, "jobs", "list", "--status", "dead", "--tenant", "acme", "--json"))["jobs"]
        keys = now.execute("SELECT DISTINCT error_key FROM jobs WHERE died_at IS NOT NULL").fetchall()
        assert keys == [(key_of(shape(dead["last_error"])),)]
        assert "ValueError" in manage(database, "jobs", "show", str(dead["id"])), "its failed attempt is there"
        manage(database, "jobs", "revive", str(dead["id"]))
        waiting = json.loads(manage(database, "tenants", "slots", "acme", "--json"))["tenants"][0]
        assert (waiting["in_use"], waiting["waiting"], waiting["weight"]) == (2, 2, 3)


def test_ends_that_an_earlier_version_noted_for_webhooks_become_messages(database):
    manage(database, "migrate", "--verbosity", "0", "jobs", "0008")
    with psycopg.connect(database, autocommit=True) as now:
        jobs = now.execute(
            "SELECT id, tenant_id, source_method FROM jobs WHERE status = 'created' ORDER BY id"
        ).fetchall()
        for _, tenant, _ in jobs:
            now.execute(
                "INSERT INTO webhook_endpoints (tenant_id, url, types, batches, salt, last_error, created_at)"
                " VALUES (%s, 'https://example.com/', '{}', '{}', 's', '', '2020-01-01')",
                [tenant],
            )
        for job, _, _ in jobs:
            now.execute(ENDS, [job])
            manage(database, "migrate", "--verbosity", "0")  # after the first one
        found = now.execute(TOLD).fetchall()
        assert found == [(tenant, method, job, "cancelled") for job, tenant, method in jobs]
        manage(database, "migrate", "--verbosity", "0", "jobs", "0008")
        manage(database, "migrate", "--verbosity", "0")
