"""The data directory: one launcher uses it at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from embedded import REPOSITORY, EmbeddedError

STATE = "engines.env"  # the URLs of the engines that run here now, one KEY=value per line


@contextmanager
def kept() -> Iterator[Path]:
    """Lock DATA_DIR, or `.data` in the repository, and create it if missing; yield its path.

    Raises `EmbeddedError` while another launcher has the lock.
    """
    path = Path(os.environ.get("DATA_DIR") or REPOSITORY / ".data")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = path.resolve()
        lock = (path / "lock").open("a+")  # not inherited by children (PEP 446)
    except OSError as error:
        raise EmbeddedError(f"cannot write to {path}: {error.strerror}. Set DATA_DIR to another directory.") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise EmbeddedError(
                f"{path} is in use by process {lock.read().strip()}. Its engines' URLs are in {path / STATE}; "
                "to start other engines, set DATA_DIR to another directory, or use --throwaway."
            ) from None
        lock.truncate(0)
        print(os.getpid(), file=lock, flush=True)
        try:
            yield path
        finally:
            (path / STATE).unlink(missing_ok=True)


@contextmanager
def throwaway() -> Iterator[Path]:
    """Yield a fresh directory, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="scheduler-", ignore_cleanup_errors=True) as path:
        yield Path(path)


def write_private(path: Path, text: str) -> None:
    """Write a file with a password; only the present user may read it, from its first byte."""
    path.unlink(missing_ok=True)
    with open(path, "x", opener=partial(os.open, mode=0o600)) as output:  # Path.open takes no opener
        output.write(text)
