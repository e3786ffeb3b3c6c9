"""Paths between hosts that break: a proxy in front of an engine, which holds back what goes one way or both.

What it holds back arrives when the path is healed, as with TCP. A new connection is accepted meanwhile, and hears
nothing.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

CHUNK = 65536  # bytes


class Trips:
    """Counts the trips of one process to its engines, one after the other: those that overlap count as one."""

    def __init__(self) -> None:
        self.made = 0
        self._unanswered: set[socket.socket] = set()
        self._lock = threading.Lock()

    def asked(self, client: socket.socket) -> None:
        """Note that a client has sent something."""
        with self._lock:
            self.made += not self._unanswered
            self._unanswered.add(client)

    def answered(self, client: socket.socket) -> None:
        """Note that a client has got an answer."""
        with self._lock:
            self._unanswered.discard(client)


class Path:
    """From the host of one process to one engine. url: by which that process finds the engine."""

    def __init__(self, url: str, delay: float = 0.0, trips: Trips | None = None) -> None:
        """Open the path.

        url: of the engine.
        delay: seconds that each way takes.
        trips: counts what is sent and answered.
        """
        self._engine, self._delay, self._trips = urlsplit(url), delay, trips
        self._there, self._back = threading.Event(), threading.Event()  # what goes to the engine, or comes, passes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = [self._listener]
        self.url = self._through(self._listener.getsockname()[1])
        self.heal()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, *, there: bool = True, back: bool = True) -> None:
        """Hold back what goes to the engine (there), and what comes from it (back)."""
        for way, broken in ((self._there, there), (self._back, back)):
            (way.clear if broken else way.set)()

    def heal(self) -> None:
        self.cut(there=False, back=False)

    def close(self) -> None:
        """Close all connections."""
        self.heal()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _through(self, port: int) -> str:
        user, _, _ = self._engine.netloc.rpartition("@")
        return urlunsplit(self._engine._replace(netloc=f"{user}@127.0.0.1:{port}", query=""))

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                self._ends.append(client)
                threading.Thread(target=self._lead_on, args=[client], daemon=True).start()

    def _lead_on(self, client: socket.socket) -> None:
        try:
            server = _connected(self._engine)
        except OSError:  # the engine is away
            client.close()
            return
        self._ends.append(server)
        threading.Thread(target=self._carry, args=[server, client, self._back], daemon=True).start()
        self._carry(client, server, self._there)

    def _carry(self, source: socket.socket, target: socket.socket, way: threading.Event) -> None:
        try:
            while data := source.recv(CHUNK):
                if self._trips and way is self._there:
                    self._trips.asked(source)
                time.sleep(self._delay)
                way.wait()
                if self._trips and way is self._back:
                    self._trips.answered(target)
                target.sendall(data)
            way.wait()  # nor does the end of a connection pass
            target.shutdown(socket.SHUT_WR)
        except OSError:  # one end was reset: the other one hears of it, or it would wait for ever
            self._there.wait()
            self._back.wait()
            for end in (source, target):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


def _connected(engine: SplitResult) -> socket.socket:
    directory = parse_qs(engine.query).get("host")
    if not directory:
        return socket.create_connection((engine.hostname, engine.port))
    end = socket.socket(socket.AF_UNIX)
    end.connect(f"{directory[0]}/.s.PGSQL.{engine.port or 5432}")
    return end


@contextmanager
def paths(*urls: str) -> Iterator[list[Path]]:
    """A path to each of these engines."""
    made = [Path(url) for url in urls]
    try:
        yield made
    finally:
        for path in made:
            path.close()
