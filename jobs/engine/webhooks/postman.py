"""Run `posting.post` in a process of its own, which connects to tenants' endpoints and to no database.

A worker's parent forks the processes of its pool. If another of its threads has a lock of OpenSSL at that moment, the
lock stays closed in the new process. With four threads that posted without a pause, 4 of 158 new processes hung at
their first use of TLS.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

from jobs.calls.refusals import InvalidRequest
from jobs.engine.webhooks import posting
from jobs.engine.webhooks.posting import SECONDS, NotDelivered

COMMAND = [sys.executable, "-m", "jobs.engine.webhooks.postman"]
PATIENCE = SECONDS + 5.0  # seconds to wait for an answer of the process


class Postman:
    """Starts the process at the first message, and again if it has ended. Many threads may use one."""

    def __init__(self) -> None:
        self._lock, self._numbers = Lock(), count()
        self._process: subprocess.Popen[str] | None = None
        self._waiting: dict[int, SimpleQueue[dict[str, Any]]] = {}

    def post(self, url: str, body: bytes, headers: Mapping[str, str], allowed: Iterable[str] = ()) -> None:
        """Post as `posting.post` does. Raises also OSError or TimeoutError if the process died or does not answer."""
        answer: SimpleQueue[dict[str, Any]] = SimpleQueue()
        message = {"url": url, "body": body.decode(), "headers": dict(headers), "allowed": list(allowed)}
        with self._lock:
            process, number = self._running(), next(self._numbers)
            self._waiting[number] = answer
            print(json.dumps({"number": number, **message}), file=process.stdin, flush=True)
        try:
            result = answer.get(timeout=PATIENCE)
        except Empty:
            process.kill()
            raise TimeoutError from None
        finally:
            self._waiting.pop(number, None)
        if result["why"] is not None:
            raise NotDelivered(result["why"], result["status"], result["retry_after"])

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None or self._process.poll() is not None:
            environ = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            self._process = subprocess.Popen(
                COMMAND,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            Thread(target=self._read, args=[self._process], name="webhook-answers", daemon=True).start()
        return self._process

    def _read(self, process: "subprocess.Popen[str]") -> None:
        with suppress(OSError), process:  # the `with` closes its pipes, and waits for its end
            for line in process.stdout or ():
                answer = json.loads(line)
                if waiting := self._waiting.get(answer["number"]):
                    waiting.put(answer)


def serve() -> None:
    """Post the messages of the input, each in a thread of its own, until its writer ends."""
    speaks = Lock()

    def answer(number: int, url: str, body: str, headers: dict[str, str], allowed: list[str]) -> None:
        outcome: dict[str, Any] = {"number": number, "why": None, "status": None, "retry_after": 0.0}
        try:
            posting.post(url, body.encode(), headers, allowed)
        except NotDelivered as error:
            outcome |= {"why": str(error), "status": error.status, "retry_after": error.retry_after}
        except InvalidRequest as error:
            outcome["why"] = str(error)
        with speaks:
            sys.stdout.write(json.dumps(outcome) + "\n")
            sys.stdout.flush()

    for line in sys.stdin:
        Thread(target=answer, kwargs=json.loads(line), daemon=True).start()


if __name__ == "__main__":
    serve()
