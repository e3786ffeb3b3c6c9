"""Connections whose requests do not arrive: they are closed, and those that are served are not."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from jobs.reading import waiting
from scheduler_project import connections
from scheduler_project.connections import Connection
from tests.waiting import wait_until

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
MOST = 5


async def application(scope, receive, send) -> None:
    """Answer a request that has arrived; /stream tells something, and then nothing more."""
    if scope["type"] != "http":
        raise ValueError
    message = await receive()
    while message.get("more_body"):
        message = await receive()
    if message["type"] == "http.disconnect":
        return
    stream = scope["path"] == "/stream"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"transfer-encoding", b"chunked")]})
    await send({"type": "http.response.body", "body": b"here", "more_body": stream})
    if stream:
        await receive()


@pytest.fixture
def connect() -> Iterator:
    """Connect to a web process in a thread, and send it that."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, http=Connection, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = threading.Thread(target=lambda: asyncio.run(server._serve([listener])))
    serving.start()
    wait_until(lambda: server.started, "it serves")
    clients: list[socket.socket] = []

    def connect(data: bytes) -> socket.socket:
        client = socket.create_connection(listener.getsockname(), timeout=30)
        client.sendall(data)
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.close()
    server.should_exit = True
    serving.join(30)
    assert not serving.is_alive()
    waiting._stop.clear()  # of the whole process, which here goes on
    assert not Connection.arriving


def answer(client: socket.socket, end: bytes = b"0\r\n\r\n") -> bytes:
    told = b""
    while end not in told and (part := client.recv(65536)):
        told += part
    return told


def closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_the_oldest_request_that_has_not_arrived_makes_room(connect, monkeypatch, caplog):
    monkeypatch.setattr(connections, "most_arriving", lambda: MOST)
    stream = connect(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b"here" in answer(stream, b"here")
    oldest = [connect(HEAD + b"{"), connect(b"POST / HT"), connect(b"")]
    for n in range(MOST):
        wait_until(lambda n=n: len(Connection.arriving) == min(3 + n, MOST), "it is known")
        last = connect(HEAD + b"{")
    assert [closed(client) for client in oldest] == [True] * 3
    last.sendall(b"}")
    assert b"200 OK" in answer(last), "the newest are waited for"
    assert b"200 OK" in answer(connect(HEAD + b"{}"))
    assert caplog.text.count("requests that do not arrive are closed") == 1
    stream.sendall(b" ")
    stream.setblocking(False)
    with pytest.raises(BlockingIOError):  # it is still open
        stream.recv(1)


def test_a_head_that_does_not_arrive_is_given_up_and_a_body_is_the_handlers_affair(connect, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.05)
    body = connect(HEAD + b"{")
    assert closed(connect(b""))
    assert closed(connect(b"POST / HT"))
    again = connect(HEAD + b"{}")
    assert b"200 OK" in answer(again)
    again.sendall(b"GET /")
    assert closed(again), "the second one of a connection, too"
    body.sendall(b"}")
    assert b"200 OK" in answer(body)
