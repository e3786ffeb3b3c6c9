"""A broker that is the project's own PostgreSQL: `CELERY_BROKER_URL = "postgresql://"`.

This is a transport of kombu. A message is a NOTIFY with the pool, the job and its attempt. It is not stored, since the
job's row is. All workers receive it. Those with an idle process ask for it, and PostgreSQL gives it to one of them. A
message that reached no worker is sent again, as with every broker.
"""

import os
import re
import uuid
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty
from typing import Any

import psycopg
from django.db import InterfaceError, OperationalError
from kombu.transport import virtual

from jobs.store.messages import Messages
from plumbing.names import named

NAME = "jobs.run_attempt"  # of the task, as message.py has it
ATTEMPT = re.compile(r"[1-9][0-9]{0,17}-[1-9][0-9]{0,8}")  # its job and number, as in their columns
MAX_WAITING = 1000  # messages that a busy worker remembers; most of them have long been taken by others


class Channel(virtual.Channel):
    """A channel for the messages of pools. It has no other queues, such as those of Celery's remote control."""

    connection: Any  # the transport below
    do_restore = False  # the clock sends a message again that no process took up

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        self.connection.messages.send(f"{named(queue)} {message['headers']['id']}")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        while self.connection.waiting:
            name = self.connection.waiting.popleft()
            job_id, attempt = map(int, name.split("-"))
            if self.connection.messages.take(f"{named(queue)} {name}", job_id, attempt):
                return _message(queue, name, f"[[{job_id}, {attempt}], {{}}, {{}}]")
        raise Empty

    def _size(self, queue: str) -> int:
        return 0  # no message is kept

    def _purge(self, queue: str) -> int:
        return 0


def _message(queue: str, name: str, body: str) -> dict[str, Any]:
    """Return a message in kombu's form."""
    delivery = {"exchange": "", "routing_key": queue}
    return {
        "body": body,
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"task": NAME, "id": name},
        "properties": {"delivery_tag": str(uuid.uuid4()), "delivery_info": delivery, "body_encoding": None},
    }


class Transport(virtual.Transport):
    """A session with PostgreSQL, which a worker's event loop watches."""

    Channel = Channel
    channels: Any
    cycle: Any
    _callbacks: Any
    driver_type = driver_name = "postgresql"
    connection_errors = (OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
    default_connection_params: dict[str, Any] = {}  # Django's settings have them
    implements = virtual.Transport.implements.extend(asynchronous=True, exchange_type=frozenset(["direct"]))

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self.messages, self.waiting = Messages(), deque[str](maxlen=MAX_WAITING)
        self._owner = os.getpid()
        self._leave: Callable[[], object] = lambda: None

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        def look_again() -> None:  # a process may have become idle
            self._sort()
            if self.waiting and any(channel.qos.can_consume() for channel in self.channels):
                loop.call_soon(self._deliver_all)  # not now: Celery's own tick, which writes to processes, may have run

        def leave() -> None:
            loop.remove_reader(file)
            loop.on_tick.discard(look_again)

        file, self._leave = self.messages.hear(), leave
        loop.add_reader(file, self._deliver_all)
        loop.on_tick.add(look_again)

    def close_connection(self, connection: Any) -> None:
        self._leave()  # the loop outlives a lost session
        super().close_connection(connection)
        if os.getpid() == self._owner:  # a child's end of the session is its parent's
            self.messages.close()

    def _sort(self) -> None:
        """Keep the messages for the pool of this worker. Drop other texts: any role of the database may send some."""
        pools = {named(queue) for queue in self._callbacks}
        for text in self.messages.heard():
            pool, _, name = text.partition(" ")
            if pool in pools and ATTEMPT.fullmatch(name):
                self.waiting.append(name)

    def _deliver_all(self) -> None:
        with suppress(Empty):  # or no process is idle
            while True:
                self._sort()
                self.cycle.get(self._deliver)
