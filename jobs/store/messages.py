"""Messages through PostgreSQL itself, for a project without a broker: all workers hear one, the first takes it."""

from collections import deque

from jobs.store.rows import rows
from jobs.store.session import OwnSession, session

MAX_TAKEN = 100  # messages of which the session keeps the lock: each has long started when it is given up


class Messages:
    """A session of its own, in which one thread sends or hears. Raises Django's errors of a lost connection."""

    def __init__(self) -> None:
        self._own = OwnSession()
        self._heard: deque[str] = deque()
        self._taken: deque[str] = deque()

    def send(self, text: str) -> None:
        with self._own.speaking():
            rows("send_message", text=text)

    def hear(self) -> int:
        """Begin to hear; return the file that becomes readable when there is a message."""
        with self._own.speaking():
            rows("hear_messages")
            raw = session().connection
            raw.add_notify_handler(lambda notice: self._heard.append(notice.payload))
            return int(raw.fileno())

    def heard(self) -> list[str]:
        """What was sent since the last call. Does not wait."""
        with self._own.speaking():
            wire = session().connection.pgconn
        wire.consume_input()
        while notice := wire.notifies():
            self._heard.append(notice.extra.decode())
        texts = [*self._heard]
        self._heard.clear()
        return texts

    def take(self, text: str, job_id: int, attempt: int) -> bool:
        """Whether this message is for the caller alone, and its attempt has not started."""
        with self._own.speaking():
            if rows("take_message", text=text, id=job_id, attempt=attempt) != [(True,)]:
                return False
            self._taken.append(text)
            if len(self._taken) > MAX_TAKEN:
                rows("give_up_message", text=self._taken.popleft())
        return True

    def close(self) -> None:
        with self._own.speaking():
            session().close()
