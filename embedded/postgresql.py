"""The embedded PostgreSQL: a cluster in the data directory, reachable only by a private Unix socket."""

import hashlib
import os
import pwd
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from embedded import EmbeddedError, binaries
from embedded.process import tethered
from embedded.processes import Processes

ADMIN, ROLE, DATABASE = "postgres", "app", "scheduler"
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
    """Start the server with its data beneath `directory`; create role and database if missing. Return its URL."""
    program, data, socket = binaries.postgres(), directory / "postgresql", socket_directory(directory)
    _ensure_cluster(program, data, durable=durable)
    if os.geteuid() == 0 and data.stat().st_uid != pwd.getpwnam("nobody").pw_uid:  # an earlier version made it as root
        subprocess.run(["chown", "-Rh", "nobody", str(data)], check=True)  # noqa: S607
    tidy(directory)
    socket.mkdir(mode=0o700, exist_ok=True)
    if socket.lstat().st_uid != os.geteuid():
        raise EmbeddedError(f"{socket} belongs to another user; set DATA_DIR to another directory.")
    settings = SETTINGS | ({} if durable else NOT_DURABLE)
    settings["unix_socket_directories"] = '"' + str(socket).replace('"', '""') + '"'
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    process = processes.start(
        "postgresql",
        [str(program), "-D", str(data), *options],
        environment(os.environ),
        log=directory / "log" / "postgresql.log",
        restart=True,
        home=data,
        stop_signal=signal.SIGINT,  # fast: SIGTERM would wait for every client to leave
        death_signal=signal.SIGINT,
        not_root=True,
    )
    process.wait_until(lambda: _answers(socket))
    _ensure_database(socket)
    return url(socket)


def socket_directory(directory: Path) -> Path:
    """Return the socket's directory: beneath `directory`, or in /tmp if that path is too long.

    The kernel allows 107 bytes, "/.s.PGSQL.5432" included.
    """
    if len(bytes(directory)) <= 78:  # noqa: PLR2004
        return directory / "socket"
    return Path("/tmp") / f"pgs-{hashlib.sha256(bytes(directory)).hexdigest()[:16]}"  # noqa: S108  # `start` checks its owner


def tidy(directory: Path) -> None:
    """Remove the files that a killed server leaves, also those outside of the data directory.

    Its pid file has a process id, which another process may have by now. The next server would take that process for a
    running server.
    """
    (directory / "postgresql" / "postmaster.pid").unlink(missing_ok=True)
    shutil.rmtree(socket_directory(directory), ignore_errors=True)


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of PostgreSQL to its end, as the user of the server, and keep its output."""
    return subprocess.run(
        tethered(argv, not_root=True),
        env=environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )


def url(socket: Path) -> str:
    """Return the URL of our database, for django-environ and for libpq."""
    return f"postgres://{ROLE}@/{DATABASE}?host={quote(str(socket))}"


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` without variables that change the server's locale, or the address that clients use."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith(("LC_", "PG")) and name not in {"LANG", "LANGUAGE"}
    }


def locale_options(major: int) -> list[str]:
    """Return initdb's options for UTF-8 and a sort order that is the same on every machine."""
    if major >= BUILTIN_LOCALES:
        return ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return ["-E", "UTF8", "--locale=C.UTF-8"]


def _ensure_cluster(program: Path, data: Path, *, durable: bool) -> None:
    major = _major(program)
    version = data / "PG_VERSION"
    if version.exists():
        cluster_version = version.read_text().strip()
        if cluster_version != str(major):
            raise EmbeddedError(
                f"{data} belongs to PostgreSQL {cluster_version}, but {program} is {major}: move the directory away."
            )
        return
    unfinished = data.with_name("postgresql.new")  # renamed when complete: initdb may be killed half-way
    shutil.rmtree(unfinished, ignore_errors=True)
    options = [*locale_options(major), "-U", ADMIN, "-A", "trust", *([] if durable else ["--no-sync"])]
    made = run([str(program.with_name("initdb")), "-D", str(unfinished), *options])
    if made.returncode:
        raise EmbeddedError(f"initdb failed; a DATABASE_URL would replace this PostgreSQL.\n{made.stderr.strip()}")
    unfinished.rename(data)


def _major(program: Path) -> int:
    output = subprocess.run([str(program), "--version"], capture_output=True, check=True, text=True).stdout
    match = re.search(r"\d+", output)
    if match is None:
        raise EmbeddedError(f"{program} does not print its version: {output!r}")
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
