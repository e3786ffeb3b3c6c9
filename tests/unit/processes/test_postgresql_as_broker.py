"""The transport that speaks NOTIFY: whose message it takes, and when."""

from types import SimpleNamespace

import pytest
from kombu import Connection

from jobs import celery  # noqa: F401 - tells kombu the transport
from jobs.worker import postgresql, prefetch


class Messages:
    """Those of a test. others: what another worker has taken."""

    def __init__(self) -> None:
        self.coming, self.asked, self.others, self.closed = [], [], set(), False

    def hear(self) -> int:
        return 3

    def heard(self) -> list[str]:
        coming, self.coming = self.coming, []
        return coming

    def take(self, text: str, job_id: int, attempt: int) -> bool:
        self.asked.append((job_id, attempt))
        return text not in self.others

    def close(self) -> None:
        self.closed = True


class Loop:
    def __init__(self) -> None:
        self.on_tick, self.readers, self.soon = set(), {}, []

    def add_reader(self, file: int, callback) -> None:
        self.readers[file] = callback

    def remove_reader(self, file: int) -> None:
        del self.readers[file]

    def call_soon(self, callback) -> None:
        self.soon.append(callback)

    def tick(self) -> None:
        for look in list(self.on_tick):
            look()
        while self.soon:
            self.soon.pop()()


@pytest.fixture
def wire(monkeypatch):
    """A worker's end: of the pool `default`, with one process."""
    monkeypatch.setattr(postgresql, "Messages", Messages)
    connection = Connection("postgresql://")
    channel, loop, got = connection.channel(), Loop(), []
    connection.transport.register_with_event_loop(connection.connection, loop)
    channel.basic_consume("default", True, lambda message: got.append(message.payload[0]), "tag")
    pool = SimpleNamespace(num_processes=1, _pool=SimpleNamespace(_cache={}))
    consumer = SimpleNamespace(pool=pool, controller=SimpleNamespace(), connection=connection)
    consumer.task_consumer = SimpleNamespace(channel=channel)
    prefetch.TakeOneAtATime(SimpleNamespace()).start(consumer)
    return SimpleNamespace(messages=connection.transport.messages, loop=loop, got=got, connection=connection, pool=pool)


def test_the_transport_takes_free_messages_of_its_pool_and_no_strangers_words(wire) -> None:
    wire.messages.coming = [
        "default",
        "default x",
        "default 7-",
        "default 0-1",
        f"default {2**63}-1",
        f"default 7-{2**31}",
    ]
    wire.messages.coming += ["default 7-2", "heavy 8-1", "default 9-1"]
    wire.messages.others = {"default 9-1"}
    wire.loop.readers[3]()
    assert wire.got == [[7, 2]]
    assert wire.messages.asked == [(7, 2), (9, 1)]


def test_the_transport_asks_for_no_message_while_its_processes_are_busy(wire) -> None:
    wire.pool._pool._cache["a job"] = None
    wire.messages.coming = ["default 7-2"]
    wire.loop.readers[3]()
    wire.loop.tick()
    assert wire.messages.asked == []
    wire.pool._pool._cache.clear()
    wire.loop.tick()
    assert wire.got == [[7, 2]]


def test_a_message_that_came_during_a_statement_is_taken_at_once(wire) -> None:
    wire.messages.coming = ["default 7-2"]  # the file is not readable: psycopg has read it
    wire.loop.tick()
    assert wire.got == [[7, 2]]


def test_a_lost_session_leaves_nothing_in_the_loop(wire) -> None:
    wire.connection.close()
    assert not wire.loop.readers
    assert not wire.loop.on_tick
    assert wire.messages.closed


def test_a_child_does_not_close_the_session_of_its_parent(wire) -> None:
    wire.connection.transport._owner = -1
    wire.connection.close()
    assert not wire.messages.closed
