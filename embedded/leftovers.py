"""Stop engines that a killed launcher has left running; their pid files show them.

They are not reused: they may have other settings, and a server that is not our child would neither be restarted nor
end with us. On Linux they end by themselves (PR_SET_PDEATHSIG), and this only waits for that.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from embedded import EmbeddedError

# Where each engine leaves its pid, relative to its directory; how to ask it to stop, then to insist.
POSTGRESQL = ("postmaster.pid", signal.SIGINT, signal.SIGQUIT)  # fast, then immediate: never SIGKILL,
VALKEY = ("valkey.pid", signal.SIGTERM, signal.SIGKILL)  # which leaves backends and shared memory
PATIENCE = 20.0  # seconds for each of the two signals


def stop_all(directory: Path) -> None:
    """Stop the engines that still run in a data directory of ours."""
    stop(directory / "valkey", *VALKEY)
    stop(directory / "postgresql", *POSTGRESQL)


def stop(home: Path, pid_file: str, *signals: signal.Signals) -> None:
    """Stop the engine whose data is in `home`, if it runs. Raises `EmbeddedError` if it does not stop."""
    try:
        pid = int((home / pid_file).read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return
    for number in signals:
        # Check each time: a pid file outlives its process, and the kernel reuses pids.
        if not _runs_in(pid, home):
            if _exists(pid):  # another process by now, which PostgreSQL would mistake for its predecessor
                (home / pid_file).unlink(missing_ok=True)
            return
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        _wait_until_gone(pid, home)
    if _runs_in(pid, home):
        raise EmbeddedError(f"Process {pid}, left in {home} by an earlier run, does not stop.")


def _wait_until_gone(pid: int, home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while _runs_in(pid, home) and time.monotonic() < deadline:
        time.sleep(0.02)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def _runs_in(pid: int, home: Path) -> bool:
    """Whether `pid` is a process with the working directory `home`; a zombie has none."""
    try:
        if Path("/proc/self").exists():
            return Path(f"/proc/{pid}/cwd").resolve(strict=True) == home.resolve()
        listing = subprocess.run(
            ["lsof", "-a", "-d", "cwd", "-Fn", "-p", str(pid)],  # noqa: S607  # macOS
            capture_output=True,
            check=False,
            text=True,
        )
        return f"n{home.resolve()}\n" in listing.stdout
    except OSError:
        return False
