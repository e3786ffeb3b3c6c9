"""The wheel, as somebody else installs it: into a virtual environment of theirs, beside an empty database."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg import conninfo, sql

from embedded import REPOSITORY
from tests.acceptance.checkout import files


def run(argv: list[object], directory: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        list(map(str, argv)), cwd=directory, env=env, capture_output=True, text=True, check=False, timeout=400
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from what git holds, not from what a build left behind."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in files(r"(jobs|tenants|plumbing|docs/runbooks)/|[^/]+$"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((REPOSITORY / name).read_bytes())
    run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", built, source], source)
    [wheel] = built.glob("*.whl")
    return wheel


@pytest.fixture
def database(db: None) -> Iterator[dict[str, str]]:
    """libpq's variables of an empty database `mysite` of this process."""
    name = f"mysite_{os.environ.get('PYTEST_XDIST_WORKER', '')}{os.getpid()}"
    ours = connection.get_connection_params()
    where = {key: ours[key] for key in ("host", "port", "user", "password") if ours.get(key)}
    address = conninfo.make_conninfo(dbname="postgres", **where)
    with psycopg.connect(address, autocommit=True) as session:
        session.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield {f"PG{key.upper()}": str(value) for key, value in where.items()} | {"NAME": name}
        session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def environment(database: dict[str, str], wheel: Path) -> dict[str, str]:
    """Variables of such a project: none of ours."""
    kept = {key: os.environ[key] for key in os.environ if key in ("PATH", "HOME", "LANG") or key[:4] == "PIP_"}
    redis = settings.CACHES["default"]["LOCATION"].rpartition("/")[0]
    return kept | {**database, "WHEEL": str(wheel), "REDIS_URL": redis}
