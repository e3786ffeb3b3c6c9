"""Network namespaces, each a descriptor: it lives until that is closed and no process is in it any more."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

OURS = "/proc/thread-self/ns/net"
CLONE_NEWNET = 0x40000000  # linux/sched.h
libc = ctypes.CDLL(None, use_errno=True)


def made() -> int:
    """A new namespace. Raises OSError where the kernel or a container refuses one."""
    with _kept():
        _check(libc.unshare(CLONE_NEWNET))
        return os.open(OURS, os.O_RDONLY)


@contextmanager
def inside(namespace: int) -> Iterator[None]:
    """This thread is in it: its new sockets and its new child processes belong to it, and stay there."""
    with _kept():
        _check(libc.setns(namespace, CLONE_NEWNET))
        yield


@contextmanager
def _kept() -> Iterator[None]:
    """This thread is back where it was at the end."""
    before = os.open(OURS, os.O_RDONLY)
    try:
        yield
    finally:
        _check(libc.setns(before, CLONE_NEWNET))
        os.close(before)


def _check(failed: int) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
