"""A Valkey with a replica, and three sentinels that replace it by the replica within seconds."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from embedded import binaries, fleet
from embedded.process import Process
from embedded.processes import Processes
from tests.waiting import wait_until

MASTER, PASSWORD, COUNT = "jobs", "secret", 3
NODE = """bind 127.0.0.1
port {port}
requirepass {password}
masterauth {password}
dir "{home}"
appendonly yes
repl-diskless-sync-delay 0
"""
SENTINEL = """bind 127.0.0.1
port {port}
dir "{home}"
sentinel monitor {master} 127.0.0.1 {first} 2
sentinel auth-pass {master} {password}
sentinel down-after-milliseconds {master} 1000
sentinel failover-timeout {master} 5000
"""


@dataclass(frozen=True)
class Watched:
    """What the sentinels watch. None of the processes is started again."""

    sentinels: list[int]
    master: Process

    @property
    def environ(self) -> dict[str, str]:
        """The broker, for a worker."""
        urls = [f"sentinel://:{PASSWORD}@127.0.0.1:{port}/0" for port in self.sentinels]
        return {
            "CELERY_BROKER_URL": ";".join(urls),
            "CELERY_BROKER_TRANSPORT_OPTIONS": json.dumps({"master_name": MASTER}),
        }

    def address(self) -> int:
        """The port of the present master, as the sentinels say."""
        with redis.Redis(port=self.sentinels[0]) as connection:
            return int(connection.execute_command("SENTINEL", "get-master-addr-by-name", MASTER)[1])

    def kill_master(self) -> None:
        """Kill it; return when the replica is the master."""
        before = self.address()
        self.master.signal_group(signal.SIGKILL)
        wait_until(lambda: self.address() != before, "the replica is the master")


@contextmanager
def running(directory: Path) -> Iterator[Watched]:
    """All five, with their data in `directory`; each sentinel knows of the others and of the replica."""
    with Processes() as processes:
        nodes = [_started(processes, directory, f"node{number}", NODE) for number in range(2)]
        (first, master), (second, _) = nodes
        with redis.Redis(port=second, password=PASSWORD) as replica:
            replica.replicaof("127.0.0.1", first)
            wait_until(lambda: replica.info("replication")["master_link_status"] == "up", "the replica follows")
        watching = [_started(processes, directory, f"sentinel{n}", SENTINEL, first=first)[0] for n in range(COUNT)]
        for port in watching:
            with redis.Redis(port=port) as connection:
                wait_until(lambda connection=connection: _knows_all(connection), "the sentinels have met")
        yield Watched(watching, master)
        for process in processes:
            process.signal_group(signal.SIGKILL)  # their data is thrown away


def _knows_all(sentinel: redis.Redis) -> bool:
    known = sentinel.sentinel_master(MASTER)
    return (known["num-other-sentinels"], known["num-slaves"]) == (COUNT - 1, 1)


def _started(processes: Processes, directory: Path, name: str, text: str, **facts: object) -> tuple[int, Process]:
    port, home = fleet.free_port(), directory / name
    home.mkdir()
    file = home / "conf"  # a sentinel writes to its own
    file.write_text(text.format(port=port, home=home, master=MASTER, password=PASSWORD, **facts))
    kind = ["--sentinel"] if text is SENTINEL else []
    process = processes.start(name, [str(binaries.valkey()), str(file), *kind], log=home / "log")
    process.wait_until(lambda: fleet.listens(port))
    return port, process
