"""Messages to a real TLS server on loopback, and what an attacker who owns the name or the server may try."""

import hmac
import logging
import socket
import ssl
import subprocess
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jobs.calls.refusals import InvalidRequest
from jobs.engine.webhooks import posting, signing
from jobs.engine.webhooks.posting import NotDelivered, post

HOST = "hooks.customer.example"
LOOPBACK = ["127.0.0.0/8"]
BODY = b'{"type": "job.success"}'
CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -keyout key.pem -out cert.pem"
    f" -addext subjectAltName=DNS:{HOST}"
)
TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(CERTIFICATE.split(), cwd=folder, check=True, capture_output=True)
    return folder


class Server:
    """Answers each connection with what `answer` does, and keeps what it was sent."""

    def __init__(self, folder: Path, answer: Callable[[ssl.SSLSocket], None]) -> None:
        self.heard: list[bytes] = []
        self.names: list[str | None] = []
        self.sent = 0
        self._answer = answer
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self._context.sni_callback = lambda _, name, __: self.names.append(name)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                plain, _ = self._listener.accept()
                with suppress(OSError), plain, self._context.wrap_socket(plain, server_side=True) as connection:
                    self.heard.append(self._read(connection))
                    self._answer(connection)

    @staticmethod
    def _read(connection: ssl.SSLSocket) -> bytes:
        heard = b""
        while not (heard.endswith(BODY) or heard.endswith(b"}}")) and (piece := connection.recv(65_536)):
            heard += piece
        return heard

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def serve(certificate, monkeypatch) -> Iterator[Callable[..., Server]]:
    """Start a server; the name resolves to loopback, and its certificate is believed."""
    made: list[Server] = []
    resolved(monkeypatch, ["127.0.0.1"])
    monkeypatch.setattr(posting, "context", lambda: ssl.create_default_context(cafile=certificate / "cert.pem"))

    def serve(answer: bytes | Callable[[ssl.SSLSocket], None] = TAKEN) -> Server:
        made.append(Server(certificate, answer if callable(answer) else lambda connection: connection.sendall(answer)))
        return made[-1]

    yield serve
    for one in made:
        one.close()


def resolved(monkeypatch, *answers: list[str]) -> list[str]:
    """Let names resolve to these in turn, the last one for ever; return the names that were asked for."""
    asked: list[str] = []

    def getaddrinfo(host, port, *_, **__):
        if host[0].isdigit():  # an address is none to resolve
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]
        asked.append(host)
        found = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def send(server: Server, path: str = "/hook", allowed=LOOPBACK, headers=None, host: str = HOST) -> None:
    post(f"https://{host}:{server.port}{path}", BODY, headers or {"webhook-id": "msg_1"}, allowed)


class TestDelivered:
    def test_to_the_resolved_address_with_the_name_for_tls_and_http(self, serve):
        server = serve()
        send(server, "/hook?x=1")
        head, _, body = server.heard[0].partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        assert lines[0] == "POST /hook?x=1 HTTP/1.1"
        assert f"Host: {HOST}:{server.port}" in lines
        assert "webhook-id: msg_1" in lines
        assert (server.names, body) == ([HOST], BODY)

    @pytest.mark.parametrize("status", [200, 201, 202, 299])
    def test_any_2xx_answer_is_a_success(self, serve, status):
        send(serve(f"HTTP/1.1 {status} X\r\nContent-Length: 10\r\n\r\n".encode()))

    def test_after_an_interim_answer(self, serve):
        send(serve(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + TAKEN))


class TestNotDelivered:
    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_a_redirect_is_not_followed(self, serve, status):
        elsewhere = serve()
        there = f"https://{HOST}:{elsewhere.port}/"
        server = serve(f"HTTP/1.1 {status} Moved\r\nLocation: {there}\r\n\r\n".encode())
        with pytest.raises(NotDelivered, match=f"answer was {status}"):
            send(server)
        assert elsewhere.heard == []

    def test_a_name_that_resolves_otherwise_a_moment_later_is_asked_once(self, serve, monkeypatch):
        server = serve()
        asked = resolved(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])
        send(server)
        assert (asked, len(server.heard)) == ([HOST], 1)

    @pytest.mark.parametrize("found", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], []])
    def test_a_name_with_any_address_that_is_not_public_gets_no_connection(self, serve, monkeypatch, found):
        server = serve()
        resolved(monkeypatch, found)
        with pytest.raises(NotDelivered, match="not of the public internet"):
            send(server, allowed=())
        assert (server.heard, server.names) == ([], [])

    def test_a_certificate_for_another_name_is_not_believed(self, serve):
        with pytest.raises(NotDelivered, match="certificate"):
            send(serve(), host="other.customer.example")

    def test_a_certificate_of_nobody_is_not_believed(self, serve, monkeypatch):
        server = serve()
        monkeypatch.setattr(posting, "context", ssl.create_default_context)
        with pytest.raises(NotDelivered, match="certificate"):
            send(server)
        assert server.heard == []

    @pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 503])
    def test_any_other_status_is_a_failure(self, serve, status):
        with pytest.raises(NotDelivered, match=f"answer was {status}"):
            send(serve(f"HTTP/1.1 {status} No\r\n\r\n".encode()))

    @pytest.mark.parametrize(
        "answer", [b"", b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 200", b"HTTP/1.1 2000 OK\r\n\r\n", b"\r\n\r\n"]
    )
    def test_an_answer_that_is_not_http_is_a_failure(self, serve, answer):
        with pytest.raises(NotDelivered, match="not HTTP"):
            send(serve(answer))

    def test_a_closed_port_is_a_failure_without_its_reason(self, serve):
        serve()
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            port = nobody.getsockname()[1]
        with pytest.raises(NotDelivered) as refused:
            post(f"https://{HOST}:{port}/", BODY, {}, LOOPBACK)
        assert str(refused.value) == "the connection failed"

    def test_a_resolver_that_does_not_answer_is_left_behind(self, serve, monkeypatch):
        monkeypatch.setattr(posting, "SECONDS", 0.3)
        hangs = threading.Event()
        server = serve()
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: hangs.wait(30) and [])
        with pytest.raises(NotDelivered, match="not resolved in time"):
            send(server)
        hangs.set()


class TestSlowAndHuge:
    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch):
        monkeypatch.setattr(posting, "SECONDS", 1.0)

    def drips(self, text: bytes) -> Callable[[ssl.SSLSocket], None]:
        def answer(connection: ssl.SSLSocket) -> None:
            for byte in text:
                connection.sendall(bytes([byte]))
                time.sleep(0.05)  # each one in time, all of them not

        return answer

    def test_an_answer_that_drips_ends_with_the_time_for_all_of_it(self, serve):
        begins = time.monotonic()
        with pytest.raises(NotDelivered, match="no answer within"):
            send(serve(self.drips(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 500)))
        assert time.monotonic() - begins < 3

    def test_a_server_that_says_nothing(self, serve):
        silent = threading.Event()
        with pytest.raises(NotDelivered, match="no answer within"):
            send(serve(lambda _: silent.wait(5)))
        silent.set()

    def test_a_server_that_never_begins_tls(self, serve, monkeypatch):
        serve()
        mute = socket.create_server(("127.0.0.1", 0))
        with pytest.raises(NotDelivered, match="no answer within"):
            post(f"https://{HOST}:{mute.getsockname()[1]}/", BODY, {}, LOOPBACK)
        mute.close()

    def test_headers_without_end_are_read_to_64_kib(self, serve):
        sent: list[int] = []

        def answer(connection: ssl.SSLSocket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for _ in range(10_000):
                connection.sendall(b"X: " + b"y" * 8000 + b"\r\n")
                sent.append(8000)

        with pytest.raises(NotDelivered, match="larger than 64 KiB"):
            send(serve(answer))

    def test_a_body_without_end_is_not_read(self, serve):
        def answer(connection: ssl.SSLSocket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"z" * 65_536)

        begins = time.monotonic()
        send(serve(answer))
        assert time.monotonic() - begins < 1


class TestHeaders:
    @pytest.mark.parametrize(
        ("name", "value"), [("x", "a\r\nHost: evil"), ("x", "a\nb"), ("x\r\ny", "a"), ("x y", "a"), ("x", "ä")]
    )
    def test_a_header_brings_no_other_with_it(self, serve, name, value):
        server = serve()
        with pytest.raises(ValueError, match="not a header"):
            send(server, headers={name: value})
        assert server.heard == []

    def test_a_path_brings_none_with_it(self, serve):
        server = serve()
        with pytest.raises(InvalidRequest):
            send(server, "/x HTTP/1.1\r\nX: y")
        assert server.heard == []


class TestSigned:
    AT = datetime(2031, 3, 5, 12, 0, 0, 999_999, tzinfo=UTC)

    def test_as_the_example_of_standard_webhooks_does(self, monkeypatch):
        secret = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        monkeypatch.setattr(signing, "_secret", lambda salt, key: secret)
        body = b'{"test": 2432232314}'
        found = signing.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", datetime.fromtimestamp(1614265330, UTC), body, [""])
        assert found["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        assert found["webhook-timestamp"] == "1614265330"

    def test_a_holder_of_the_shown_secret_verifies_the_signature(self):
        key = b64decode(signing.secret_of("salt").removeprefix("whsec_"))
        found = signing.headers("msg_1", self.AT, BODY, ["salt"])
        signed = f"msg_1.{found['webhook-timestamp']}.".encode() + BODY
        assert found["webhook-signature"] == "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()

    def test_with_former_keys_too_while_they_are_fallbacks(self, settings):
        before = signing.headers("msg_1", self.AT, BODY, ["salt"])["webhook-signature"]
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "n" * 60
        now = signing.headers("msg_1", self.AT, BODY, ["salt"])["webhook-signature"].split(" ")
        assert (len(now), now[1]) == (2, before)
        assert now[0] != before

    def test_with_a_secret_of_each_endpoints_own(self):
        assert signing.secret_of("one") != signing.secret_of("two")

    def test_a_replay_has_its_old_moment_under_the_signature(self):
        first, later = (signing.headers("msg_1", at, BODY, ["salt"]) for at in (self.AT, self.AT.replace(minute=9)))
        assert first["webhook-id"] == later["webhook-id"]
        assert first["webhook-signature"] != later["webhook-signature"]


def test_nothing_of_it_is_logged(serve, caplog):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(NotDelivered) as refused:
        send(serve(b"HTTP/1.1 500 whsec_abc\r\n\r\n"), headers=signing.headers("m", datetime.now(UTC), BODY, ["salt"]))
    assert signing.secret_of("salt") not in caplog.text + repr(refused.value)
    assert "whsec_abc" not in caplog.text + repr(refused.value)
