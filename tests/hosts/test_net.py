"""The network of the hosts does what the tests of the product believe of it."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.hosts import Host, Net, missing

PORT = 7000
SENT, FEW = 200, 3  # packets; the first to a new neighbour may be lost
PATIENCE = 0.5  # seconds: the kernel needs none
LATE = 3.0  # seconds: what is lost or late goes through a thread of Python


@pytest.fixture
def net() -> Iterator[Net]:
    if missing():
        pytest.skip(missing())
    with Net() as net:
        yield net


def listener(host: Host, kind: socket.SocketKind) -> socket.socket:
    with host.inside():
        made = socket.socket(socket.AF_INET, kind)
    made.bind((host.address, PORT))
    made.settimeout(PATIENCE)
    return made


def arrived(sender: Host, receiver: Host, sent: int = 1, patience: float = PATIENCE) -> int:
    """How many of those packets arrive. patience: seconds until the next one."""
    with listener(receiver, socket.SOCK_DGRAM) as there, sender.inside(), socket.socket(type=socket.SOCK_DGRAM) as here:
        for _ in range(sent):
            here.sendto(b"x", (receiver.address, PORT))
        found = 0
        there.settimeout(patience)
        with suppress(TimeoutError):
            while found < sent:
                there.recv(1)
                found += 1
        return found


def test_a_cut_drops_what_goes_that_way_and_nothing_else(net):
    a, b, c = (net.host(name) for name in "abc")
    ways = {"a to b": (a, b), "b to a": (b, a), "a to c": (a, c), "c to b": (c, b)}

    def open_ways() -> set[str]:
        return {name for name, way in ways.items() if arrived(*way, FEW)}

    assert open_ways() == set(ways)
    net.cut_one_way(a, b)
    assert open_ways() == {"b to a", "a to c", "c to b"}
    net.cut(a, b)
    assert open_ways() == {"a to c", "c to b"}
    net.cut(a)
    assert open_ways() == {"c to b"}
    net.heal()
    assert open_ways() == set(ways)


def test_a_loss_drops_a_share_and_a_delay_holds_back_each_way(net):
    a, b = net.host("a"), net.host("b")
    net.loss(0.5, a, b)
    assert SENT * 0.3 < arrived(a, b, SENT, LATE) < SENT * 0.7
    net.heal()
    net.delay(0.05)
    with listener(b, socket.SOCK_STREAM) as there:
        there.listen()
        began = time.monotonic()
        with a.inside():
            socket.create_connection((b.address, PORT), timeout=5).close()
        assert 0.1 <= time.monotonic() - began < 5
    net.heal()
    assert arrived(a, b, SENT) == SENT


def test_a_process_on_a_host_has_its_address_and_is_gone_with_it(net):
    a, b = net.host("a"), net.host("b")
    assert a.address in a.run("hostname -I").stdout
    argv = ["python3", "-m", "http.server", str(PORT), "--bind", a.address]
    server = a.processes.start("server", argv, env={"PATH": "/usr/bin:/bin"})
    server.wait_until(lambda: b.reaches(a.address, PORT))
    a.crash()
    assert not b.reaches(a.address, PORT)
    assert not server.alive
