"""A RabbitMQ for one test, which may kill it. It needs Debian's rabbitmq-server, which need not run."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest
from kombu import Connection
from kombu.exceptions import OperationalError

from embedded import fleet
from embedded.process import Process
from embedded.processes import Processes
from jobs.store import Claimed
from jobs.worker import message
from tests.waiting import wait_until

PROGRAMS = Path("/usr/lib/rabbitmq/bin")  # those on PATH only run as another user
NODE = "scheduler@localhost"
INSTALLED = pytest.mark.skipif(not PROGRAMS.is_dir(), reason="Debian's rabbitmq-server is not installed")
QUORUM = "quorum"  # the virtual host that makes such queues of all that are durable


@dataclass(frozen=True)
class RabbitMQ:
    """A node of its own, with one virtual host beside the default one; it is started again if it ends."""

    environ: dict[str, str]
    port: int
    process: Process

    @property
    def url(self) -> str:
        """Of the virtual host with quorum queues."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}/{QUORUM}"

    @property
    def classic(self) -> str:
        """The URL of the default virtual host, with classic queues."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def ctl(self, *words: str) -> str:
        """The output of `rabbitmqctl`."""
        command = [str(PROGRAMS / "rabbitmqctl"), "-n", NODE, "--quiet", *words]
        return subprocess.run(command, env=self.environ, check=True, capture_output=True, text=True).stdout

    def waiting(self, queue: str) -> int:
        """The messages in the queue that no worker has; -1 while nobody answers."""
        try:
            with Connection(self.url) as connection:
                return int(connection.default_channel.queue_declare(queue, passive=True).message_count)
        except (OperationalError, *connection.connection_errors, *connection.channel_errors):
            return -1

    def kill(self) -> None:
        """Kill the node; return when it serves again."""
        before = self.process.pid
        # Or it forgets a queue that it made in the last seconds, and with it what is in the log of that queue.
        self.ctl("eval", "mnesia:sync_log(), [dets:sync(Table) || Table <- dets:all()].")
        self.process.signal_group(signal.SIGKILL)
        wait_until(lambda: self.process.pid != before and fleet.listens(self.port), "RabbitMQ serves again")


def sent_to(url: str) -> Callable[[Sequence[Claimed]], None]:
    """Return what `message.hand_over` does, for another broker than this process's."""

    def send(claimed: Sequence[Claimed]) -> None:
        with message.run_attempt.app.connection_for_write(url) as connection:
            for job in claimed:
                sent = message.Message(job.id, job.attempt)
                message.run_attempt.apply_async(astuple(sent), task_id=sent.name, queue=job.pool, connection=connection)

    return send


@contextmanager
def running(
    directory: Path, *, arguments: str = "", quorum: bool = True, configuration: str = ""
) -> Iterator[RabbitMQ]:
    """One with its data in `directory`.

    arguments: of Erlang's.
    configuration: the text of rabbitmq.conf.
    quorum: whether it needs the virtual host of such queues; each `rabbitmqctl` costs more than a second.
    """
    port, distribution, mapper = (str(fleet.free_port()) for _ in range(3))
    (directory / "plugins").write_text("[].")
    (directory / "rabbitmq.conf").write_text(configuration)
    environ = os.environ | {
        "HOME": str(directory),  # of the cookie
        "ERL_EPMD_PORT": mapper,
        "RABBITMQ_NODENAME": NODE,
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_DIST_PORT": distribution,
        "RABBITMQ_MNESIA_BASE": str(directory / "data"),
        "RABBITMQ_LOG_BASE": str(directory / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(directory / "plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": arguments,
        "RABBITMQ_CONFIG_FILE": str(directory / "rabbitmq"),
    }
    with Processes() as processes:
        # Otherwise the node starts one, which outlives it.
        processes.start("epmd", ["epmd", "-address", "127.0.0.1"], environ, log=directory / "epmd.log")
        node = processes.start(
            "rabbitmq", [str(PROGRAMS / "rabbitmq-server")], environ, log=directory / "rabbitmq.log", restart=True
        )
        node.wait_until(lambda: fleet.listens(int(port)), limit=60)
        broker = RabbitMQ(environ, int(port), node)
        if quorum:
            broker.ctl("add_vhost", QUORUM, "--default-queue-type", "quorum")
            broker.ctl("set_permissions", "-p", QUORUM, "guest", ".*", ".*", ".*")
        yield broker
        node.restart = False
        node.signal_group(signal.SIGKILL)  # its data is thrown away
