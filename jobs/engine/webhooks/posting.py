"""Post a message to an address that a tenant has chosen, but never to one that only our machines can reach.

The name is resolved once, and every address that it has must be public. The connection goes to one of these very
addresses, with the name for TLS and HTTP. So a name that resolves otherwise a moment later changes nothing. No proxy of
the environment is used, and no redirect followed. The answer is read up to its headers: nothing of it is kept.
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from queue import Empty, Queue

from django.utils.http import parse_http_date

from jobs.authoring.exceptions import TenantError
from jobs.engine.webhooks import addresses

SECONDS = 10.0  # for the whole delivery
MOST_BYTES = 65_536  # that are read of an answer
STATUS = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?\r?\n")
DATE = re.compile(rb"(?i)\r\ndate:[ \t]*([ -~]{1,40}?)[ \t]*\r\n")
RETRY_AFTER = re.compile(rb"(?i)\r\nretry-after:[ \t]*([ -~]{1,40}?)[ \t]*\r\n")
NAME, VALUE = re.compile(r"[A-Za-z0-9-]+"), re.compile(r"[ -~]*")


class NotDelivered(TenantError):
    """The message was not delivered. The text is for the endpoint's owner, and reveals nothing of our network.

    status: the status of the answer; None: there was no answer.
    retry_after: the seconds for which the answer asks us to wait.
    """

    def __init__(self, why: str, status: int | None = None, retry_after: float = 0.0) -> None:
        super().__init__(why)
        self.status, self.retry_after = status, retry_after


def post(url: str, body: bytes, headers: Mapping[str, str], allowed: Iterable[str] = ()) -> None:
    """Deliver a message. Raises NotDelivered, or InvalidRequest for the URL.

    allowed: networks that are allowed beside the public ones.
    """
    ends = time.monotonic() + SECONDS
    host, port, path = addresses.split(url)
    request = _request(host, port, path, body, headers)
    resolved = _resolve(host, port, ends)
    if not resolved or not all(addresses.is_public(address, allowed) for address in resolved):
        raise NotDelivered(f"{host} has an address that is not of the public internet, or none")
    try:
        with _connect(resolved, port, ends) as plain, _secure(plain, host, ends) as connection:
            _send(connection, request, ends)
            status, retry_after = _answer(connection, ends)
    except ssl.SSLCertVerificationError:
        raise NotDelivered("the certificate is not valid for this name") from None
    except TimeoutError:
        raise NotDelivered(f"no answer within {SECONDS:.0f} s") from None
    except OSError:
        raise NotDelivered("the connection failed") from None
    if not 200 <= status < 300:  # noqa: PLR2004 - success
        raise NotDelivered(f"the answer was {status}", status, retry_after)


def _request(host: str, port: int, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    lines = {
        "Host": host if port == 443 else f"{host}:{port}",  # noqa: PLR2004 - the default of https
        "User-Agent": "jobs-webhooks",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **headers,
    }
    if bad := [name for name, value in lines.items() if not NAME.fullmatch(name) or not VALUE.fullmatch(value)]:
        raise ValueError(f"not a header: {bad[0]!r}")
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body


def _resolve(host: str, port: int, ends: float) -> list[str]:
    """Return all addresses of the name. The resolver has no time limit: a thread that is late is left behind."""
    answers: Queue[list[str]] = Queue()

    def ask() -> None:
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        except (OSError, UnicodeError):
            infos = []
        answers.put(list(dict.fromkeys(str(address[0]) for *_, address in infos)))

    threading.Thread(target=ask, daemon=True, name="webhook-resolver").start()
    try:
        return answers.get(timeout=_left(ends))
    except Empty:
        raise NotDelivered(f"{host} was not resolved in time") from None


def _connect(addresses: list[str], port: int, ends: float) -> socket.socket:
    """Connect to the first address that accepts; each gets its share of the time."""
    *others, last = addresses
    for n, address in enumerate(others):
        with suppress(OSError):
            return socket.create_connection((address, port), timeout=_left(ends) / (len(addresses) - n))
    return socket.create_connection((last, port), timeout=_left(ends))


def _secure(plain: socket.socket, host: str, ends: float) -> ssl.SSLSocket:
    plain.settimeout(_left(ends))  # for the whole handshake
    return context().wrap_socket(plain, server_hostname=host)


@lru_cache
def context() -> ssl.SSLContext:
    """Return a context that trusts the certificates of the system, or of SSL_CERT_FILE, as of the first message."""
    return ssl.create_default_context()


def _send(connection: ssl.SSLSocket, request: bytes, ends: float) -> None:
    rest = memoryview(request)
    while rest:
        connection.settimeout(_left(ends))
        rest = rest[connection.send(rest[:16_384]) :]


def _answer(connection: ssl.SSLSocket, ends: float) -> tuple[int, float]:
    """Return the status and Retry-After of the answer, when its headers are complete. Skip interim answers (1xx)."""
    answer = b""
    while len(answer) < MOST_BYTES:
        connection.settimeout(_left(ends))
        piece = connection.recv(min(4096, MOST_BYTES - len(answer)))
        answer += piece
        head, complete, after = answer.partition(b"\r\n\r\n")
        while complete and (status := STATUS.match(head + b"\r\n")) and status[1].startswith(b"1"):
            answer = after
            head, complete, after = answer.partition(b"\r\n\r\n")
        if complete or not piece:
            status = STATUS.match(head + b"\r\n")
            if not complete or status is None:
                raise NotDelivered("the answer was not HTTP")
            return int(status[1]), _rest(head + b"\r\n")
    raise NotDelivered(f"the headers of the answer were larger than {MOST_BYTES // 1024} KiB")


def _rest(head: bytes) -> float:
    """Return the seconds of Retry-After; 0: none. A moment there counts from the answer's Date, not from our clock."""
    retry_after, date = RETRY_AFTER.search(head), DATE.search(head)
    with suppress(ValueError):
        if retry_after and retry_after[1].isdigit():
            return float(retry_after[1])
        if retry_after and date:
            return float(parse_http_date(retry_after[1].decode("ascii")) - parse_http_date(date[1].decode("ascii")))
    return 0.0


def _left(ends: float) -> float:
    """Return the seconds that are left. Raises TimeoutError if there are none."""
    if (left := ends - time.monotonic()) <= 0:
        raise TimeoutError
    return left
