"""A PostgreSQL and a Redis for all runs; each run gets a new database in the one, and the other emptied."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis
from psycopg import sql

from embedded import data_dir, postgresql, valkey
from embedded.processes import Processes

MAX_CONNECTIONS = "400"
DSN, REDIS_URL = "DSN", "REDIS_URL"  # in the environment of adapters and workers


@dataclass(frozen=True)
class Engines:
    """Addresses and pids of the two servers."""

    postgresql_url: str
    redis_url: str
    postgresql_pid: int
    redis_pid: int

    @property
    def version(self) -> str:
        """Of PostgreSQL."""
        with psycopg.connect(self.postgresql_url) as server:
            return (server.info.parameter_status("server_version") or "").split()[0]

    @contextmanager
    def fresh(self, name: str) -> Iterator[dict[str, str]]:
        """Yield the addresses for one run, by engine; its database is dropped at the end."""
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        self._execute(drop)
        create = sql.SQL("CREATE DATABASE {} OWNER {}")
        self._execute(create.format(sql.Identifier(name), sql.Identifier(postgresql.ROLE)))
        with redis.Redis.from_url(self.redis_url) as server:
            server.flushall()
        url = urlunsplit(urlsplit(self.postgresql_url)._replace(path=f"/{name}"))
        try:
            yield {"postgresql": url, "redis": self.redis_url}
        finally:
            self._execute(drop)

    def _execute(self, statement: sql.Composed) -> None:
        # As the superuser: FORCE must also end a worker of autovacuum.
        with psycopg.connect(self.postgresql_url, user=postgresql.ADMIN, autocommit=True) as server:
            server.execute(statement)


@contextmanager
def running() -> Iterator[Engines]:
    """Start both, durable ones, and stop them at the end."""
    postgresql.SETTINGS["max_connections"] = MAX_CONNECTIONS
    with data_dir.throwaway() as directory:
        with Processes() as processes:
            url = postgresql.start(directory, processes, durable=True)
            redis_url, _ = valkey.start(directory, processes)
            pids = {process.name: process.pid for process in processes}
            there = urlunsplit(urlsplit(url)._replace(scheme="postgresql"))
            yield Engines(there, redis_url, pids["postgresql"], pids["valkey"])
        postgresql.tidy(directory)
