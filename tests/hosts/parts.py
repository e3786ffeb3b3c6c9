"""The product's own parts on hosts: engines that others reach by a password, workers, a web process."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from embedded import binaries, data_dir, fleet, postgresql, valkey
from embedded.process import Process
from tests.hosts.host import Host
from tests.hosts.net import SUBNET

PASSWORD = "of-the-hosts"
POSTGRESQL, VALKEY, WEB = 5432, 6379, 8000  # ports


@contextmanager
def listening(host: Host) -> Iterator[None]:
    """An embedded PostgreSQL that is started now listens at the address of the host, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(postgresql.SETTINGS, "listen_addresses", host.address)
        yield


def start_postgresql(host: Host, directory: Path) -> tuple[str, str]:
    """Start the embedded PostgreSQL with its data in `directory`; two URLs of its database.

    The first is for the hosts. The second, by a Unix socket, is for an onlooker, whom no cut concerns.
    """
    with listening(host):
        by_socket = postgresql.start(directory, host.processes, durable=False)
    socket = postgresql.socket_directory(directory)
    with (directory / "postgresql/pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {SUBNET}.0/24 scram-sha-256\n")
    with psycopg.connect(host=str(socket), user=postgresql.ADMIN, dbname=postgresql.DATABASE) as session:
        session.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(postgresql.ROLE), PASSWORD))
        session.execute("SELECT pg_reload_conf()")
    return postgresql_url(host), by_socket


def postgresql_url(*hosts: Host) -> str:
    """The URL of the database on whichever of these takes changes."""
    where = ",".join(f"{host.address}:{POSTGRESQL}" for host in hosts)
    return f"postgres://{postgresql.ROLE}:{PASSWORD}@{where}/{postgresql.DATABASE}"


def start_valkey(host: Host, directory: Path) -> tuple[str, str]:
    """Start the embedded Valkey with its data in `directory`; the URLs of broker and cache."""
    home = directory / "valkey"
    home.mkdir(parents=True)
    text = valkey.configuration(home, VALKEY, PASSWORD).replace("bind 127.0.0.1", f"bind {host.address}")
    file = home / "valkey.conf"
    data_dir.write_private(file, text)
    process = host.processes.start(
        "valkey", [str(binaries.valkey()), str(file)], log=directory / "valkey.log", restart=True, home=home
    )
    process.wait_until(lambda: host.reaches(host.address, VALKEY))
    broker, cache = (
        valkey.url(VALKEY, PASSWORD, number).replace("127.0.0.1", host.address)
        for number in (valkey.BROKER, valkey.CACHE)
    )
    return broker, cache


def start_worker(
    host: Host, environ: Mapping[str, str], directory: Path, processes: int = 2, pool: str = "default"
) -> Process:
    """Start a supervised worker, whose log is in `directory`. It registers later."""
    name = f"{pool}-{host.name}"
    command = fleet.worker(pool, processes, name, environ)
    return host.processes.start(name, *command, log=directory / f"{name}.log", restart=True, stop_signal=signal.SIGKILL)


def start_web(host: Host, environ: Mapping[str, str], directory: Path) -> str:
    """Start a supervised web process; its URL, when it answers there."""
    argv, env = fleet.web(WEB, {**environ, "ALLOWED_HOSTS": host.address})
    here = [host.address if word == "127.0.0.1" else word for word in argv]
    process = host.processes.start(
        f"web-{host.name}", here, env, log=directory / f"web-{host.name}.log", restart=True, stop_signal=signal.SIGKILL
    )
    process.wait_until(lambda: host.reaches(host.address, WEB))
    return f"http://{host.address}:{WEB}"
