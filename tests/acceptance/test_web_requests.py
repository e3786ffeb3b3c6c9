"""A real web process, and requests that no client of good will sends."""

import socket
from urllib.parse import urlsplit

import pytest

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "the server's own parser; what the handler refuses is in tests/integration/project/test_handler.py"
    ),
]


def connected(web) -> socket.socket:
    address = urlsplit(web.url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def test_what_follows_a_request_with_two_lengths_is_not_served(web):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(web) as client:
        client.sendall(head + b"0\r\n\r\n" + hidden)
        told = b"".join(iter(lambda: client.recv(65536), b""))  # until it is closed
    assert told.startswith(b"HTTP/1.1 400 ")
    assert told.count(b"HTTP/1.1 ") == 1
