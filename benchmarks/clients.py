"""Clients of a web server: each keeps one connection, and sends the next request as soon as it gets an answer."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0  # seconds for one answer

Ask = Callable[[int], tuple[str, str, Any]]  # the n-th request: method, path, body


class Clients:
    """`count` clients that send requests until `stop`; `answered` counts the answers. The first error ends all."""

    def __init__(self, port: int, token: str, ask: Ask, count: int) -> None:
        self._port, self._ask, self._count = port, ask, count
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._done = threading.Event()
        self._answered = [0] * count
        self._errors: list[str] = []
        self._threads = [threading.Thread(target=self._run, args=[place], daemon=True) for place in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def answered(self) -> int:
        """Raises AssertionError if any request failed."""
        if self._errors:
            raise AssertionError(self._errors[0])
        return sum(self._answered)

    def stop(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _run(self, place: int) -> None:
        server = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            while not self._done.is_set():
                method, path, body = self._ask(self._answered[place] * self._count + place)
                server.request(method, path, None if body is None else json.dumps(body), self._headers)
                answer = server.getresponse()
                body = answer.read()
                if answer.status >= http.client.BAD_REQUEST:
                    raise AssertionError(f"{method} {path}: {answer.status} {body[:300]!r}")
                self._answered[place] += 1
        except Exception as error:
            self._errors.append(f"{type(error).__name__}: {error}")
        finally:
            server.close()


def ready(port: int) -> bool:
    """Whether the server answers, with any status."""
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        server.request("GET", "/api/v1/nothing")
        server.getresponse().read()
    except OSError:
        return False
    finally:
        server.close()
    return True


def rate(clients: Clients, seconds: float) -> tuple[int, float]:
    """The requests answered in about so many seconds from now, and the exact seconds."""
    begun, before = time.monotonic(), clients.answered
    time.sleep(seconds)  # what is measured
    return clients.answered - before, time.monotonic() - begun
