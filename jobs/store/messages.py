"""NOTIFY: the bell of light pools; and messages, for a project without a broker.

Each worker gets a message, and the first takes it.
"""

from collections import deque
from collections.abc import Collection

from jobs.store.rows import rows
from jobs.store.session import OwnSession, session
from plumbing.names import named

MAX_TAKEN = 100  # messages whose locks the session keeps: the attempt has long started when a lock is given up


class Hearing:
    """A session of its own that may listen. One thread uses it. Raises Django's errors of a lost connection."""

    def __init__(self, listen: str) -> None:
        """Make the session.

        listen: the name of the statement by which it begins to listen.
        """
        self._listen = listen
        self._own = OwnSession()
        self._heard: deque[str] = deque()

    def hear(self) -> int:
        """Begin to listen; return the file descriptor that becomes readable when there is a message."""
        with self._own.speaking():
            rows(self._listen)
            raw = session().connection
            raw.add_notify_handler(lambda notice: self._heard.append(notice.payload))
            return int(raw.fileno())

    def heard(self) -> list[str]:
        """Return the messages that were sent since the last call. Do not wait for any."""
        with self._own.speaking():
            wire = session().connection.pgconn
        wire.consume_input()
        while notice := wire.notifies():
            self._heard.append(notice.extra.decode())
        texts = [*self._heard]
        self._heard.clear()
        return texts

    def close(self) -> None:
        with self._own.speaking():
            session().close()


def ring(pools: Collection[str]) -> None:
    """Ring for these light pools: their feeders make a pass."""
    rows("ring", pools=[named(pool) for pool in pools])


def ring_to_stop(ids: Collection[int]) -> None:
    """Ring for the light pools in which these jobs run: their feeders look which of them were asked to stop."""
    rows("ring_to_stop", ids=[*ids], prefix=named(""))


class Rings(Hearing):
    """The rings for light pools, as texts: `named(pool)`, or with " stop" behind it."""

    def __init__(self) -> None:
        super().__init__("hear_rings")


class Messages(Hearing):
    """The messages of a broker."""

    def __init__(self) -> None:
        super().__init__("hear_messages")
        self._taken: deque[str] = deque()

    def send(self, text: str) -> None:
        with self._own.speaking():
            rows("send_message", text=text)

    def take(self, text: str, job_id: int, attempt: int) -> bool:
        """Return whether this message is for the caller alone, and its attempt has not started."""
        with self._own.speaking():
            if rows("take_message", text=text, id=job_id, attempt=attempt) != [(True,)]:
                return False
            self._taken.append(text)
            if len(self._taken) > MAX_TAKEN:
                rows("give_up_message", text=self._taken.popleft())
        return True
