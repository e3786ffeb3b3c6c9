"""Debian's Patroni with etcd and HAProxy on hosts, from the files of deploy/patroni."""

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from embedded import REPOSITORY
from tests.hosts.host import Host
from tests.hosts.net import SUBNET, Net
from tests.waiting import wait_until

FILES = REPOSITORY / "deploy/patroni"
PROGRAMS = ("patroni", "etcd", "haproxy", "pg_rewind")
PATH = os.pathsep.join([os.defpath, "/usr/sbin", "/usr/lib/postgresql/15/bin"])
PLAIN = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/nonexistent"}
PASSWORD = "of-the-scheduler"
TURNS = 120.0  # seconds, for what takes Patroni some turns


def missing() -> str:
    """Which of Debian's packages is not here; "" if all are."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    return f"not here: {', '.join(absent)} (patroni, etcd-server, haproxy, postgresql-15)" if absent else ""


@dataclass
class Cluster:
    """Two PostgreSQL with a Patroni each, one etcd, one HAProxy. directory: of data, logs and sockets."""

    directory: Path
    etcd: Host
    servers: dict[str, Host]
    haproxy: Host
    synchronous: bool

    @property
    def both(self) -> str:
        """The URL with both hosts."""
        hosts = ",".join(f"{host.address}:5432" for host in self.servers.values())
        return f"postgres://scheduler:{PASSWORD}@{hosts}/scheduler?target_session_attrs=read-write"

    @property
    def by_haproxy(self) -> str:
        return f"postgres://scheduler:{PASSWORD}@{self.haproxy.address}:5000/scheduler"

    @property
    def by_socket(self) -> str:
        """The same two, for an onlooker whom no cut concerns."""
        sockets = ",".join(quote(str(self.socket(name)), safe="") for name in self.servers)
        return f"postgres://scheduler@/scheduler?host={sockets}&target_session_attrs=read-write"

    def socket(self, name: str) -> Path:
        return self.directory / name / "socket"

    def ask(self, name: str, statement: str) -> Any:
        """The first value of a statement of the administrator's on that server. Raises `psycopg.OperationalError`."""
        with psycopg.connect(
            host=str(self.socket(name)), user="postgres", connect_timeout=2, autocommit=True
        ) as session:
            cursor = session.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def primary(self) -> str:
        """The name of the server that takes changes; "" while none does."""
        for name in self.servers:
            with suppress(psycopg.OperationalError):
                if not self.ask(name, "SELECT pg_is_in_recovery()"):
                    return name
        return ""

    def other(self, name: str) -> str:
        [other] = self.servers.keys() - {name}
        return other

    def has_standby(self) -> bool:
        """Whether one leads, and the other follows as it should, as Patroni sees it."""
        follows = "Sync Standby" if self.synchronous else "Replica"
        with suppress(ValueError):  # no answer
            members = json.loads(self.ctl("list", "--format", "json"))
            return {m["Role"] for m in members if m["State"] in ("running", "streaming")} == {"Leader", follows}
        return False

    def proxy_leads_to_primary(self) -> bool:
        """Whether HAProxy knows which one it is. At its start it takes both for primaries, and each gets a turn."""
        try:
            with self.haproxy.inside():
                for _ in self.servers:
                    psycopg.connect(self.by_haproxy, target_session_attrs="read-write", connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def ctl(self, *arguments: str) -> str:
        """What patronictl says; it reads the file of pg1."""
        file = self.directory / "pg1/patroni.yml"
        return self.etcd.run(["patronictl", "-c", str(file), *arguments], PLAIN).stdout

    def start(self, name: str) -> None:
        """Start the Patroni of that server, which makes its PostgreSQL if there is none."""
        home = self.directory / name
        patroni = ["patroni", str(home / "patroni.yml")]
        self.servers[name].processes.start(f"patroni-{name}", patroni, PLAIN, log=home / "patroni.log", not_root=True)


@contextmanager
def running(net: Net, directory: Path, **changed: str) -> Iterator[Cluster]:
    """A cluster with a standby, and an empty database in it.

    directory: its path is short, for sockets. changed: values that settings have in place of the file's.
    """
    etcd, pg1, pg2, haproxy = (net.host(name) for name in ("etcd", "pg1", "pg2", "haproxy"))
    cluster = Cluster(directory, etcd, {"pg1": pg1, "pg2": pg2}, haproxy, changed.get("synchronous_mode") == "true")
    _start_etcd(etcd, directory)
    for name in cluster.servers:
        _configure(cluster, name, changed)
        cluster.start(name)
        wait_until(cluster.primary, "there is a primary", TURNS)
    wait_until(cluster.has_standby, "there is a standby", TURNS)
    cluster.ask(cluster.primary(), f"CREATE ROLE scheduler LOGIN PASSWORD '{PASSWORD}'")
    cluster.ask(cluster.primary(), "CREATE DATABASE scheduler OWNER scheduler")
    file = directory / "haproxy.cfg"
    file.write_text(_placed(cluster, (FILES / "haproxy.cfg").read_text()))
    proxy = haproxy.processes.start(
        "haproxy", ["haproxy", "-db", "-f", str(file)], PLAIN, log=directory / "haproxy.log", stop_signal=signal.SIGKILL
    )
    proxy.wait_until(cluster.proxy_leads_to_primary)
    yield cluster


def _start_etcd(host: Host, directory: Path) -> None:
    clients, peers = f"http://{host.address}:2379", f"http://{host.address}:2380"
    words = {
        "name": "etcd",
        "data-dir": directory / "etcd",
        "listen-client-urls": clients,
        "advertise-client-urls": clients,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"etcd={peers}",
    }
    argv = ["etcd", *(f"--{name}={value}" for name, value in words.items())]
    etcd = host.processes.start("etcd", argv, PLAIN, log=directory / "etcd.log", stop_signal=signal.SIGKILL)
    etcd.wait_until(lambda: host.reaches(host.address, 2379))


def _configure(cluster: Cluster, name: str, changed: dict[str, str]) -> None:
    """Write the file of a server, as its first lines say; paths are beneath the cluster's directory."""
    home = cluster.directory / name
    cluster.socket(name).mkdir(parents=True)
    for directory in (home, cluster.socket(name)):
        shutil.chown(directory, "nobody")
    text = (FILES / "patroni.yml").read_text()
    if name == "pg2":
        text = re.sub(r"(listen|connect_address): 10\.0\.0\.11", r"\1: 10.0.0.12", text).replace(
            "name: pg1", "name: pg2"
        )
    for setting, value in changed.items():
        text = re.sub(rf"\b{setting}: \w+", f"{setting}: {value}", text)
    places = {
        "/var/lib/postgresql/15/scheduler": home / "data",
        "/var/lib/postgresql/patroni.pgpass": home / "pgpass",
        "/var/run/postgresql": cluster.socket(name),
        "local all postgres peer": "local all all trust",  # of an onlooker
    }
    for there, here in places.items():
        assert there in text, f"{there}: no longer in the file"
        text = text.replace(there, str(here))
    (home / "patroni.yml").write_text(_placed(cluster, text))


def _placed(cluster: Cluster, text: str) -> str:
    """A file of deploy/patroni with the addresses of our hosts."""
    ours = {"10.0.0.10": cluster.etcd.address, "10.0.0.0/24": f"{SUBNET}.0/24"}
    ours |= {"10.0.0.11": cluster.servers["pg1"].address, "10.0.0.12": cluster.servers["pg2"].address}
    for there, here in ours.items():
        text = text.replace(there, here)
    return text
