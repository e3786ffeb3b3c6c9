"""The bell notes by one clock when each body starts and ends.

A body whose connection dies has ended at that moment.
"""

import selectors
import socket
import threading
import time
from typing import NamedTuple, Self

START, END, CUT = "start", "end", "cut"
ROUND = 0.2  # seconds: the longest that a stop takes


class Ring(NamedTuple):
    """A report of one body.

    moment: of time.monotonic(), in seconds.
    event: START, END, or CUT: the connection of a running body died.
    """

    moment: float
    event: str
    tenant: str
    id: int
    link: int
    pid: int = 0  # of the body; none is told of a CUT


class Bell:
    """Listens in a thread of its own: `with Bell() as bell`. Its rings are in the order in which they were heard."""

    def __init__(self) -> None:
        self.rings: list[Ring] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._selector = selectors.DefaultSelector()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="bell", daemon=True)
        self._links = 0

    @property
    def address(self) -> str:
        host, port = self._listener.getsockname()[:2]
        return f"{host}:{port}"

    def __enter__(self) -> Self:
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # a socket, always
        self._selector.close()

    def _listen(self) -> None:
        while not self._stopped.is_set():
            for key, _ in self._selector.select(ROUND):
                if key.data is None:
                    connection, _ = self._listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._links += 1
                    self._selector.register(connection, selectors.EVENT_READ, _Link(self._links, connection))
                elif not key.data.heard(self.rings):
                    self._selector.unregister(key.fileobj)
                    key.data.close(self.rings)


class _Link:
    """One connection, and the bodies that run behind it."""

    def __init__(self, number: int, connection: socket.socket) -> None:
        self._number, self._socket = number, connection
        self._rest = b""
        self._running: dict[int, str] = {}  # tenant by id

    def heard(self, rings: list[Ring]) -> bool:
        """Note what has come, and answer each end; False: the connection has ended."""
        try:
            data = self._socket.recv(65536)
        except OSError:
            return False
        moment = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        ends = 0
        for line in lines:
            event, tenant, number, pid = line.decode().split()
            id = int(number)
            rings.append(Ring(moment, event, tenant, id, self._number, int(pid)))
            if event == START:
                self._running[id] = tenant
            else:
                self._running.pop(id, None)
                ends += 1
        if ends:
            try:
                self._socket.sendall(b"." * ends)  # after they were noted
            except OSError:
                return False
        return bool(data)

    def close(self, rings: list[Ring]) -> None:
        moment = time.monotonic()
        for id, tenant in self._running.items():
            rings.append(Ring(moment, CUT, tenant, id, self._number))
        self._socket.close()
