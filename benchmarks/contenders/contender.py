"""What a row asks of each contender."""

import os
from contextlib import suppress
from typing import Protocol

from embedded.fleet import Command

TENANTS, SLOTS = 10, 2  # of those that know tenants
PROCESSES = 2  # of a worker


class Contender(Protocol):
    name: str

    def prepare(self) -> None:
        """Empty its queues, and make what its jobs belong to."""

    def submit(self, n: int) -> None:
        """One job, whose body rings n; with whatever dispatch that implies."""

    def fill(self, count: int) -> None:
        """So many jobs at once, numbered from 0, before any worker is there."""

    def begin(self) -> None:
        """A worker is there."""

    def worker(self) -> Command:
        """One with PROCESSES processes."""


def purge(app: object, queue: str) -> None:
    """Drop the messages that another row has left in a queue of the broker."""
    from kombu.exceptions import ChannelError

    # Suppressed: it does not exist yet.
    with app.connection_for_write() as broker, suppress(ChannelError):  # type: ignore[attr-defined]
        broker.default_channel.queue_purge(queue)


def node(name: str) -> str:
    """A name for a worker that no other run uses."""
    return f"{name}-{os.getpid()}"
