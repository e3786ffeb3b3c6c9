"""One host: an address, and the processes that run there."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any

from embedded.process import Process
from tests.hosts import namespaces
from tests.warm import WarmProcess, WarmProcesses, warm_parent


class Host:
    """Made by `Net.host`. It shares files and Unix sockets with all others; only its network is its own.

    address: where the others find it.
    processes: supervised as anywhere, and stopped with the net, the youngest first.
    """

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        self.namespace = namespaces.made()
        self.processes = WarmProcesses()
        self.processes.child = self.child(WarmProcess)

    @property
    def path(self) -> str:
        """The file of the namespace: `nsenter --net=PATH COMMAND` for somebody who looks for a fault."""
        return f"/proc/{os.getpid()}/fd/{self.namespace}"

    def child(self, kind: type[Process]) -> type[Process]:
        """The class of its children: `host.processes.child = host.child(Process)` for those that must start cold."""
        host = self

        class OnHost(kind):
            network = host.path

            def _popen_with(self, stdin: int | None, output: IO[bytes] | None) -> Any:
                warm_parent()  # is there before: it belongs to no host
                with host.inside():
                    return super()._popen_with(stdin, output)

        return OnHost

    def inside(self) -> AbstractContextManager[None]:
        """This thread is on the host: `with host.inside(): socket.create_connection(...)`."""
        return namespaces.inside(self.namespace)

    def run(
        self, command: str | Sequence[str], env: Mapping[str, str] | None = None, *, limit: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the host to its end; a string is for bash. Its output is text, stdout and stderr together.

        env: its whole environment; by default ours. Raises `subprocess.TimeoutExpired` after `limit` seconds.
        """
        argv = ["bash", "-c", command] if isinstance(command, str) else command
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with self.inside():
            return subprocess.run(argv, env=env, timeout=limit, check=False, text=True, **streams)

    def reaches(self, address: str, port: int, limit: float = 1.0) -> bool:
        """Whether a connection from here is accepted there within `limit` seconds."""
        with self.inside():
            try:
                socket.create_connection((address, port), timeout=limit).close()
            except OSError:
                return False
        return True

    def crash(self) -> None:
        """kill -9 all that runs here, as when the machine is gone; nobody starts it again."""
        for process in self.processes:
            process.restart = False
        while pids := self._pids():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def close(self) -> None:
        """Stop all processes, also those that a command has left, and give up the network."""
        self.processes.stop()
        self.crash()
        os.close(self.namespace)

    def _pids(self) -> list[int]:
        """Those whose network this is, whoever started them, but for this process."""
        here, found = os.fstat(self.namespace).st_ino, []
        for file in Path("/proc").glob("[0-9]*/ns/net"):
            with suppress(OSError):  # it has ended
                if file.stat().st_ino == here and file.parts[2] != str(os.getpid()):
                    found.append(int(file.parts[2]))
        return found
