"""The embedded PostgreSQL: a cluster in the data directory, reachable only by a private Unix socket."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from embedded import EmbeddedError, account, binaries, data_dir, leftovers, ready
from embedded.processes import Processes

ADMIN, ROLE, DATABASE = "postgres", "app", "scheduler"
SOCKET = "socket"
BUILTIN_LOCALES = 17  # the first major version whose C.UTF-8 does not depend on the machine's

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}
# For tests: a crash of the machine may lose the data; nothing else changes.
NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}


def start(directory: Path, processes: Processes, *, durable: bool) -> str:
    """Start it with its data beneath `directory`; create role and database if missing. Return its URL."""
    program = binaries.postgres()
    identity = account.choose(program)
    home = account.home(directory, identity)
    program = account.reachable_copy(program, identity, home)
    data = home / "postgresql"
    leftovers.wait_for(data)
    _ensure_cluster(program, data, identity, durable=durable)
    socket = account.own(data_dir.socket_directory(home, SOCKET), identity)
    settings = SETTINGS | ({} if durable else NOT_DURABLE)
    settings["unix_socket_directories"] = '"' + str(socket).replace('"', '""') + '"'
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    process = processes.start(
        "postgresql",
        [*identity.prefix, str(program), "-D", str(data), *options],
        environment(os.environ),
        log=directory / "log" / "postgresql.log",
        restart=True,
        stop_signal=signal.SIGINT,  # fast: SIGTERM would wait for every client to leave
        death_signal=signal.SIGINT,
        account=identity.ids,
    )
    ready.wait(process, lambda: _answers(socket))
    _ensure_database(socket)
    return url(socket)


def tidy(directory: Path) -> None:
    """Remove the files outside the data directory after the server has stopped."""
    data_dir.remove_socket_directory(directory, SOCKET)


def url(socket: Path) -> str:
    """The URL of our database, for django-environ and for libpq."""
    return f"postgres://{ROLE}@/{DATABASE}?host={quote(str(socket))}"


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without variables that change the server's locale, or the address that clients use."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(("LC_", "PG")) and name not in {"LANG", "LANGUAGE"}
    }


def locale_options(major: int) -> list[str]:
    """initdb's options for UTF-8 and a sort order that is the same on every machine."""
    if major >= BUILTIN_LOCALES:
        return ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return ["-E", "UTF8", "--locale=C.UTF-8"]


def _ensure_cluster(program: Path, data: Path, identity: account.Account, *, durable: bool) -> None:
    major = _major(program)
    version = data / "PG_VERSION"
    if version.exists():
        found = version.read_text().strip()
        if found != str(major):
            raise EmbeddedError(
                f"{data} belongs to PostgreSQL {found}, but {program} is {major}: move the directory away."
            )
        return
    unfinished = data.with_name("postgresql.new")  # renamed when complete: initdb may be killed half-way
    shutil.rmtree(unfinished, ignore_errors=True)
    account.own(unfinished, identity)
    options = [*locale_options(major), "-U", ADMIN, "-A", "trust", *([] if durable else ["--no-sync"])]
    program = program.with_name("initdb")
    made = account.run(identity, [str(program), "-D", str(unfinished), *options], environment(os.environ))
    if made.returncode:
        raise EmbeddedError(f"initdb failed.\n{made.stderr.strip()}")
    unfinished.rename(data)


def _major(program: Path) -> int:
    said = subprocess.run([str(program), "--version"], capture_output=True, check=True, text=True).stdout
    match = re.search(r"\d+", said)
    if match is None:
        raise EmbeddedError(f"{program} does not print its version: {said!r}")
    return int(match[0])


def _connect(socket: Path) -> psycopg.Connection:
    # Give all parameters: PG* variables replace missing ones.
    return psycopg.connect(
        host=str(socket), port=5432, user=ADMIN, dbname="postgres", connect_timeout=5, autocommit=True
    )


def _answers(socket: Path) -> bool:
    try:
        _connect(socket).close()
    except psycopg.OperationalError:
        return False
    return True


def _ensure_database(socket: Path) -> None:
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    with _connect(socket) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
            # Not a superuser, which could read files and run programs through SQL. The role creates the database of
            # the tests, and the demo's customer databases with roles that may only read.
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB CREATEROLE").format(role))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))
