"""The data directory: one launcher uses it at a time, and cleans up after one that was killed."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from embedded import EmbeddedError, leftovers

STATE = "engines.env"  # the URLs of the engines that run here now, one KEY=value per line
PREFIX = "scheduler-throwaway-"
SETTLED = 60.0  # seconds after which a throwaway directory without a lock is certainly abandoned


@contextmanager
def kept(path: Path) -> Iterator[Path]:
    """Lock `path`, and create it if missing. Raises `EmbeddedError` while another launcher has the lock."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = path.resolve()
    lock = _lock(path)
    if lock is None:
        raise EmbeddedError(
            f"{path} is in use by process {_holder(path)}. Its engines' URLs are in {path / STATE}; "
            "to start other engines, set DATA_DIR to another directory, or use --throwaway."
        )
    try:
        yield path
    finally:
        (path / STATE).unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def throwaway() -> Iterator[Path]:
    """Create a fresh directory, and remove it at the end; also remove those of killed runs."""
    # As root, do not use TMPDIR: engines that run as another user may not reach it.
    parent = Path("/tmp" if os.geteuid() == 0 else tempfile.gettempdir())  # noqa: S108
    _remove_abandoned(parent)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        with kept(path) as held:
            yield held
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_state(path: Path, urls: dict[str, str]) -> None:
    """Write the URLs, for other terminals."""
    write_private(path / STATE, "".join(f"{key}={value}\n" for key, value in urls.items()))


def write_private(path: Path, text: str) -> None:
    """Write a file with a password; only the present user may read it, from its first byte."""
    path.unlink(missing_ok=True)
    with open(path, "x", opener=_private) as output:  # Path.open takes no opener
        output.write(text)


def socket_directory(path: Path, name: str) -> Path:
    """A short private directory for Unix sockets: `path/name`, or a temporary directory with a link from there.

    The kernel takes 107 bytes for the whole address, "/.s.PGSQL.5432" included.
    """
    directory = path / name
    if len(bytes(directory)) <= 85:  # noqa: PLR2004
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory
    # By this link the next run finds and reuses the directory of a run that was killed.
    with suppress(OSError):
        target = directory.readlink()
        if target.is_dir() and not target.is_symlink() and target.stat().st_uid == os.geteuid():
            return target
    directory.unlink(missing_ok=True)
    target = Path(tempfile.mkdtemp(prefix="pgs-", dir="/tmp"))  # TMPDIR may be long itself
    directory.symlink_to(target)
    return target


def remove_socket_directory(path: Path, name: str) -> None:
    """Remove the directory that `socket_directory` created outside `path`."""
    link = path / name
    if link.is_symlink():
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()


def _lock(path: Path) -> int | None:
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)  # not inherited by children (PEP 446)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _holder(path: Path) -> str:
    return (path / "lock").read_text().strip() or "(unknown)"


def _remove_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = path.lstat()
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < SETTLED:
                continue
            lock = _lock(path)
            if lock is not None:
                leftovers.wait_for_all(path)
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
