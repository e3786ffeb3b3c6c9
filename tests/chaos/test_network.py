"""A path does to both of its ends what a network does."""

import socket
import struct

import pytest

from tests.network import paths

AT_ONCE = struct.pack("ii", 1, 0)  # linger for 0 seconds: a close sends a reset
PATIENCE = 5.0  # seconds


@pytest.mark.parametrize("resets", ["engine", "client"])
def test_a_reset_of_one_end_reaches_the_other(resets):
    with (
        socket.create_server(("127.0.0.1", 0)) as engine,
        paths(f"//{_of(engine)}") as [path],
        socket.create_connection(("127.0.0.1", int(path.url.rpartition(":")[2])), PATIENCE) as client,
        engine.accept()[0] as there,
    ):
        there.settimeout(PATIENCE)
        end, other = (there, client) if resets == "engine" else (client, there)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        end.close()
        assert other.recv(1) == b""


def _of(server: socket.socket) -> str:
    return "{}:{}".format(*server.getsockname())
