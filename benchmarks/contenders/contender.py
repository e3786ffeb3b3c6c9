"""The interface of a contender."""

import os
from contextlib import suppress
from typing import Protocol

from embedded.fleet import Command

TENANTS, SLOTS = 10, 2  # for contenders that have tenants
PROCESSES = 2  # of a worker


class Contender(Protocol):
    name: str

    def prepare(self) -> None:
        """Empty its queues, and create its tenants."""

    def submit(self, n: int) -> None:
        """Submit one job, whose body rings n, with the dispatch that this implies."""

    def fill(self, count: int) -> None:
        """Submit so many jobs at once, numbered from 0, before any worker starts."""

    def begin(self) -> None:
        """Called when a worker is running."""

    def worker(self) -> Command:
        """A worker with PROCESSES processes."""


def purge(app: object, queue: str) -> None:
    """Delete the messages that another row left in a queue of the broker."""
    from kombu.exceptions import ChannelError

    # Suppressed: it does not exist yet.
    with app.connection_for_write() as broker, suppress(ChannelError):
        broker.default_channel.queue_purge(queue)


def node(name: str) -> str:
    """A name for a worker that no other run uses."""
    return f"{name}-{os.getpid()}"
