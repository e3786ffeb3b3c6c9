"""A web process bounds what it does to the database."""

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long("PostgreSQL's time limits of the web process")]

SHOW = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "jit"):
        cursor.execute(f"SHOW {name}")
        print(cursor.fetchone()[0])
"""


def shown(environ: dict[str, str]) -> list[str]:
    run = subprocess.run([sys.executable, "-c", SHOW], env=environ, capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_its_statements_locks_and_open_transactions_end(environ):
    assert shown({**environ, "WEB_THREADS": "2"}) == ["30s", "5s", "1min", "off"]
    assert shown({**environ, "WEB_THREADS": "2", "DB_LOCK_TIMEOUT": "0.5"})[1] == "500ms"


def test_a_workers_jobs_are_bound_by_their_own_time_limits_alone(environ):
    assert shown(environ) == ["0", "0", "0", "off"]
