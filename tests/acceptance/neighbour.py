"""Another installation beside ours: a database of its own, and its own names in our broker and cache."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from embedded import fleet
from tests import migrated
from tests.warm import WarmProcesses


@dataclass(frozen=True)
class Neighbour:
    """A deployment with a database of its own, on our broker and our cache."""

    environ: dict[str, str]
    database: str

    def manage(self, *arguments: str) -> str:
        """Run a command of `manage.py`; its last line."""
        printed = self._run(*arguments)
        return printed.splitlines()[-1] if printed else ""

    def document(self, *arguments: str) -> Any:
        """Run a command with `--json`; its document."""
        return json.loads(self._run(*arguments, "--json"))

    def _run(self, *arguments: str) -> str:
        with TemporaryDirectory() as name, WarmProcesses() as processes:
            command = processes.start("manage", *fleet.manage(*arguments, environ=self.environ), log=Path(name) / "log")
            code, printed = command.wait(120), (Path(name) / "log").read_text()
        assert code == 0, printed
        return printed

    def session(self) -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(**connection.get_connection_params() | {"dbname": self.database}, autocommit=True)

    def statuses(self) -> list[tuple[str, int]]:
        with self.session() as session:
            return session.execute("SELECT status, attempt FROM jobs ORDER BY id").fetchall()


@pytest.fixture
def neighbour(environ) -> Iterator[Neighbour]:
    environ["JOBS_HAND_OVER_TIMEOUT"] = "3600"  # a message that somebody else has taken is not sent again

    name = f"{connection.settings_dict['NAME']}_neighbour"
    url = urlunsplit(urlsplit(environ["DATABASE_URL"])._replace(path=f"/{name}"))
    one = Neighbour(environ | {"DATABASE_URL": url, "DEPLOYMENT": "neighbour"}, name)
    ours = sql.Identifier(name)
    with psycopg.connect(**connection.get_connection_params() | {"dbname": "postgres"}, autocommit=True) as session:
        session.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(ours, sql.Identifier(migrated.database())))
        try:
            yield one
        finally:
            session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(ours))


@pytest.fixture
def start_neighbours_worker(neighbour, processes, tmp_path) -> Callable[[], None]:
    def start() -> None:
        name = f"neighbour-{os.getpid()}"
        processes.start(
            name, *fleet.worker(concurrency=2, name=name, environ=neighbour.environ), log=tmp_path / "neighbour.log"
        )

    return start
