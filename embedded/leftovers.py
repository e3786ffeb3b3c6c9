"""Wait for the engines of a launcher that was killed: they end by themselves (PR_SET_PDEATHSIG), but not at once.

They are not reused: they may have other settings, and a server that is not our child would neither be restarted nor
end with us.
"""

import os
import time
from pathlib import Path

from embedded import EmbeddedError

PID_FILES = {"postgresql": "postmaster.pid", "valkey": "valkey.pid"}  # of each engine, in its directory
PATIENCE = 40.0  # seconds


def wait_for_all(directory: Path) -> None:
    """Wait for the engines whose data is in a data directory of ours."""
    for engine in PID_FILES:
        wait_for(directory / engine)


def wait_for(home: Path) -> None:
    """Wait for the engine whose data is in `home`, if it runs. Raises `EmbeddedError` if it does not end."""
    file = home / PID_FILES[home.name]
    try:
        pid = int(file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + PATIENCE
    while _runs_in(pid, home):
        if time.monotonic() > deadline:
            raise EmbeddedError(f"Process {pid}, left in {home} by an earlier run, does not end.")
        time.sleep(0.02)
    if _exists(pid):  # another process by now, which PostgreSQL would mistake for its predecessor
        file.unlink(missing_ok=True)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def _runs_in(pid: int, home: Path) -> bool:
    """Whether `pid` is a process with the working directory `home`; a zombie has none."""
    try:
        return Path(f"/proc/{pid}/cwd").resolve(strict=True) == home.resolve()
    except OSError:
        return False
