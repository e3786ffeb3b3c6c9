"""Create a database for each customer of the demo, with a role that can only read it."""

import secrets
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import psycopg
from django.db import connection as scheduler
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier, Literal

from reports.demo.datasets import DATASETS

Connection = psycopg.Connection[Any]


def provide(tenant_id: int, datasets: Iterable[str], known_url: str = "") -> str:
    """Create the customer's database on the scheduler's server, unless it exists; return its URL.

    known_url: the URL of an earlier call; its password stays.

    Raises psycopg's InsufficientPrivilege if the scheduler's role may not create roles and databases.
    """
    with _connect() as server:
        # One name for both, and not the customer's name: every role of a server can list its roles and databases.
        name = f"{server.info.dbname}_customer_{tenant_id}"
        password = str(conninfo_to_dict(known_url).get("password") or secrets.token_urlsafe(24))
        _make_role(server, name, password)
        _make_database(server, name)
        with _connect(dbname=name) as database, database.cursor() as cursor:
            for dataset in datasets:
                DATASETS[dataset].load(cursor)
            cursor.execute(SQL("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}").format(Identifier(name)))
        place = f"host={quote(server.info.host, safe='')}&port={server.info.port}"
    return f"postgresql://{name}:{quote(password, safe='')}@/{name}?{place}"


def remove(tenant_id: int) -> None:
    """Drop the customer's database and its role. Raises psycopg's ObjectInUse if a session stays in it for 5 s."""
    with _connect() as server:
        name = Identifier(f"{server.info.dbname}_customer_{tenant_id}")
        # Not WITH (FORCE): that is refused while a session of another role is there, such as a closing one of the
        # customer, or a vacuum. Without it PostgreSQL waits for sessions to end, and cancels a vacuum.
        server.execute(SQL("DROP DATABASE IF EXISTS {}").format(name))
        server.execute(SQL("DROP ROLE IF EXISTS {}").format(name))


def _connect(**options: str) -> Connection:
    """Return a connection like the scheduler's own, in autocommit: CREATE DATABASE cannot run in a transaction."""
    scheduler.ensure_connection()
    info = scheduler.connection.info
    parameters = {**info.get_parameters(), "password": info.password, **options}
    return psycopg.connect(**parameters, autocommit=True)


def _make_role(server: Connection, name: str, password: str) -> None:
    role = Identifier(name)
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
        server.execute(SQL("CREATE ROLE {} LOGIN").format(role))
    # Hash it here: a statement may appear in the server's log.
    digest = server.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()
    server.execute(SQL("ALTER ROLE {} PASSWORD {}").format(role, Literal(digest)))
    server.execute(SQL("ALTER ROLE {} SET default_transaction_read_only = on").format(role))


def _make_database(server: Connection, name: str) -> None:
    database = Identifier(name)
    if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
        # template0: any session in template1 would block the copy.
        server.execute(SQL("CREATE DATABASE {} TEMPLATE template0").format(database))
    server.execute(SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
    server.execute(SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, Identifier(name)))
