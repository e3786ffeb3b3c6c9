"""An adapter in a process of its own, and the workers that its commands start."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from embedded.process import tethered

PATIENCE = 120.0  # seconds for one verb
HERE = Path(__file__).resolve().parent
HOME = HERE.parent.parent  # the working directory of hosts and workers


class PeerError(Exception):
    """A verb failed, or did not answer."""


class NotOffered(PeerError):
    """The queue does not have this verb."""


class Worker:
    """A worker that was started by an adapter's command, in a group of its own."""

    def __init__(self, argv: list[str], environ: Mapping[str, str], log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                tethered(argv), env=dict(environ), cwd=HOME, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
        self.log = log

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Ask it to stop."""
        self._process.terminate()

    def kill(self) -> None:
        """With all its processes, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


class Peer:
    """One adapter for one run. Verbs raise `PeerError`; `NotOffered` if the queue has no such thing."""

    def __init__(self, name: str, python: Path, environ: Mapping[str, str], directory: Path) -> None:
        self._environ = {**os.environ, **environ, "PYTHONPATH": str(HERE.parent)}
        self._directory = directory
        self._workers = 0
        with (directory / "host.log").open("ab") as log:
            self._process = subprocess.Popen(
                tethered([str(python), "-m", "fair.host", name]), env=self._environ, cwd=HOME, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._rest = b""
        try:
            self.about: dict[str, Any] = self._answer("start", PATIENCE)
        except PeerError:
            self.close()
            raise

    def setup(self, engines: dict[str, str], tenants: dict[str, int]) -> None:
        mine = {name: url for name, url in engines.items() if name in self.about["needs"]}
        self._ask("setup", engines=mine, tenants=tenants)

    def submit(self, tenant: str, bodies: list[dict[str, Any]]) -> None:
        self._ask("submit", tenant=tenant, bodies=bodies)

    def limit(self, tenant: str, slots: int) -> None:
        self._ask("limit", tenant=tenant, slots=slots)

    def count(self) -> int:
        return int(self._ask("count"))

    def worker(self, at_once: int, environ: Mapping[str, str]) -> Worker:
        """Start one more worker, for so many bodies at once."""
        self._workers += 1
        argv = self._ask("worker_command", at_once=at_once)
        return Worker(argv, {**self._environ, **environ}, self._directory / f"worker{self._workers}.log")

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _ask(self, verb: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None  # noqa: S101  # a pipe, always
        try:
            self._process.stdin.write(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise PeerError(f"{verb}: its host has ended. {self._last_line()}") from None
        return self._answer(verb, PATIENCE)

    def _answer(self, verb: str, patience: float) -> Any:
        answer = json.loads(self._line(verb, time.monotonic() + patience))
        if "error" in answer:
            raise (NotOffered if answer["unsupported"] else PeerError)(f"{verb}: {answer['error']}")
        return answer["answer"]

    def _line(self, verb: str, deadline: float) -> bytes:
        assert self._process.stdout is not None  # noqa: S101  # a pipe, always
        output = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([output], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise PeerError(f"{verb}: no answer after {PATIENCE:g} s")
            data = os.read(output, 65536)
            if not data:
                raise PeerError(f"{verb}: its host has ended. {self._last_line()}")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _last_line(self) -> str:
        lines = (self._directory / "host.log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
