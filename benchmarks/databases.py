"""Create and empty the benchmark's own database on the given server."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

SUFFIX = "_bench"


@contextmanager
def fresh(url: str) -> Iterator[tuple[str, str]]:
    """A new database beside that of `url`, dropped at the end: its URL, and the server's version."""
    parts = urlsplit(url)
    name = parts.path.lstrip("/") + SUFFIX
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    there = urlunsplit(parts._replace(scheme="postgresql"))
    with psycopg.connect(there, autocommit=True) as server:
        version = server.info.parameter_status("server_version") or ""
        server.execute(drop)
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield urlunsplit(parts._replace(path=f"/{name}")), version.split()[0]
    finally:
        with psycopg.connect(there, autocommit=True) as server:
            server.execute(drop)


def empty() -> None:
    """Create missing tables in Django's current database, and empty all, except for rows from migrations."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0, run_syncdb=True)
    call_command("flush", verbosity=0, interactive=False)
