"""A real web process, and requests that no client of good will sends."""

import resource
import shlex
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from embedded import fleet
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "the server's own parser; what the handler refuses is in tests/integration/project/test_handler.py"
    ),
]


HALF = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
FILES = 1024  # what systemd gives a process, whose unit says nothing


def connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def test_what_follows_a_request_with_two_lengths_is_not_served(web):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(web.url) as client:
        client.sendall(head + b"0\r\n\r\n" + hidden)
        told = b"".join(iter(lambda: client.recv(65536), b""))  # until it is closed
    assert told.startswith(b"HTTP/1.1 400 ")
    assert told.count(b"HTTP/1.1 ") == 1


@pytest.fixture
def many_files() -> Iterator[None]:
    """As clients on other machines have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_requests_stop_nobody_elses(environ, processes, tmp_path, many_files):
    """More of them than the process may have files, all from one address; and it cannot have more files."""
    log, command = tmp_path / "web.log", fleet.web(port := fleet.free_port(), environ)
    shell = ["bash", "-c", f"ulimit -n {FILES} && exec {shlex.join(command.argv)}"]
    process = processes.start("web", shell, command.env, log=log)
    url = f"http://127.0.0.1:{port}"

    def answers(path: str) -> int:
        with urllib.request.urlopen(f"{url}{path}", timeout=60) as response:
            return response.status

    def is_there() -> bool:
        try:
            return answers("/healthz") == 200
        except OSError:
            return not process.alive

    wait_until(is_there, "it answers")
    with ExitStack() as open_ones:
        for n in range(FILES + 76):
            client = open_ones.enter_context(connected(url))
            client.sendall(HALF if n % 4 else b"POST /")
            if n % 200 == 0:
                assert answers("/healthz") == 200
        for _ in range(5):
            assert (answers("/healthz"), answers("/readyz"), answers("/accounts/login/")) == (200, 200, 200)
        client.sendall(b"x" * 99)
        assert client.recv(100).startswith(b"HTTP/1.1 401 "), "the newest may still arrive"
    told = log.read_text()
    assert "requests that do not arrive are closed" in told
    assert "out of system resource" not in told
    assert len(told.splitlines()) < 100
