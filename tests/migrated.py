"""A PostgreSQL cluster with this project's tables, and a database on the server that runs: made once, then copied.

Otherwise each test with a server of its own would spend nine seconds of a processor on `initdb` and the migrations, and
each process of pytest three on the migrations.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.db import connection
from psycopg import sql

from embedded import REPOSITORY, binaries, data_dir, engines
from embedded.processes import Processes

KEPT = REPOSITORY / ".venv" / "migrated"  # also for the next run
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.settings"}


def put(directory: Path) -> None:
    """Put a copy beneath `directory`, where `engines.running` looks for the data of PostgreSQL."""
    KEPT.mkdir(exist_ok=True)
    directory.mkdir(exist_ok=True)
    with (KEPT / "lock").open("a") as lock:
        # One process makes it, and none removes it while another one copies it: `make test-15` has a server of its own.
        fcntl.flock(lock, fcntl.LOCK_EX)
        cluster = KEPT / _key()
        if not cluster.exists():
            _make(cluster)
        _copy(cluster, directory / "postgresql")


def database() -> str:
    """The name of a database of the server that runs: its copies (`TEMPLATE`) have this project's tables."""
    name = f"migrated_{_key()}"
    with psycopg.connect(**connection.get_connection_params() | {"dbname": "postgres"}, autocommit=True) as session:
        session.execute("SELECT pg_advisory_lock(1)")  # other processes of pytest ask at the same time
        if not session.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            unfinished = sql.Identifier("migrated_unfinished")
            session.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(unfinished))
            session.execute(sql.SQL("CREATE DATABASE {}").format(unfinished))
            parts = urlsplit(os.environ["DATABASE_URL"])._replace(path="/migrated_unfinished")
            _migrate(os.environ | {"DATABASE_URL": urlunsplit(parts)})
            session.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(unfinished, sql.Identifier(name)))
    return name


def _key() -> str:
    """What the tables depend on: the migrations, the versions of all packages, the server."""
    found = hashlib.sha256(str(binaries.postgres()).encode())
    for path in [REPOSITORY / "requirements-dev.lock", *sorted(REPOSITORY.glob("*/migrations/**/*.*"))]:
        if path.suffix != ".pyc":
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _make(cluster: Path) -> None:
    for older in KEPT.glob("*/"):
        shutil.rmtree(older)
    taken = {engines.DATABASE, engines.BROKER, engines.CACHE, engines.NAMES}
    ours = {name: value for name, value in os.environ.items() if name not in taken}
    with data_dir.throwaway() as directory:
        with Processes() as processes, engines.running(directory, processes, ours, durable=False) as environ:
            _migrate(environ)
        unfinished = cluster.with_name("unfinished")
        _copy(directory / "postgresql", unfinished)
        unfinished.rename(cluster)


def _migrate(environ: Mapping[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"]
    subprocess.run(command, cwd=REPOSITORY, env={**environ, **SETTINGS}, check=True)


def _copy(cluster: Path, to: Path) -> None:
    """With its owner: root runs the server as somebody else."""
    subprocess.run(["cp", "--archive", "--reflink=auto", str(cluster), str(to)], check=True)
