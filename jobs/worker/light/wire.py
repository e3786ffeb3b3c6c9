"""A wire between the parent of a light worker and one of its processes: a Unix socket that carries messages.

Neither side waits for the other: what cannot be sent yet is kept until the socket has room.
"""

import pickle
import socket
import struct
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

LENGTH = struct.Struct("!I")
PIECE = 256 * 1024  # bytes read at once
Sent = tuple[Any, ...]  # the name of the message, and what it says


class WireCut(Exception):
    """The other side has ended."""


class Wire:
    """One side of a wire. Only one thread uses it."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end
        self._received, self._unsent = bytearray(), bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, *message: Any) -> bool:
        """Send a message; return False if a part of it is left, for `flush`."""
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        self._unsent += LENGTH.pack(len(data)) + data
        return self.flush()

    def flush(self) -> bool:
        """Send what is left, as far as the socket has room; return whether nothing is left."""
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return False
            except OSError:  # the other side has ended: `receive` tells
                self._unsent.clear()
                return True
            del self._unsent[:sent]
        return True

    def receive(self) -> list[Sent]:
        """Return the messages that have arrived. Raises WireCut after the last one of a side that has ended."""
        is_cut = False
        try:
            while piece := self._socket.recv(PIECE):
                self._received += piece
                if len(piece) < PIECE:
                    break
            else:
                is_cut = True
        except BlockingIOError:
            pass
        except OSError:
            is_cut = True
        messages = self._complete()
        if is_cut and not messages:  # otherwise the next call raises it
            raise WireCut
        return messages

    def close(self) -> None:
        self._socket.close()

    def _complete(self) -> list[Sent]:
        messages, at = [], 0
        while len(self._received) >= at + LENGTH.size:
            (length,) = LENGTH.unpack_from(self._received, at)
            if len(self._received) < at + LENGTH.size + length:
                break
            at += LENGTH.size
            messages.append(pickle.loads(memoryview(self._received)[at : at + length]))  # noqa: S301 - our own process
            at += length
        del self._received[:at]
        return messages


class Listener:
    """The place where the processes of a worker call its parent: a socket in a directory that only this user may open.

    The parent makes it before its pool forks.
    """

    def __init__(self) -> None:
        self._directory = Path(mkdtemp(prefix="jobs-"))
        self._path = str(self._directory / "feeder")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self._path)
        self._socket.listen(1024)
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def accept(self) -> Wire | None:
        """Return the wire of a process that has called; None if none has."""
        try:
            return Wire(self._socket.accept()[0])
        except BlockingIOError:
            return None

    def call(self) -> Wire:
        """Call the parent, from a process of its pool."""
        end = socket.socket(socket.AF_UNIX)
        end.connect(self._path)
        return Wire(end)

    def close(self) -> None:
        """Remove the place, in the parent."""
        self._socket.close()
        with suppress(OSError):
            Path(self._path).unlink()
            self._directory.rmdir()
