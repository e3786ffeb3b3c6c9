"""The runtime: the parts of its process that the engine uses. The entry point of the process makes it, once.

A web process has a carrier and a relay; a worker's parent an announcer too; a worker's child a host.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from jobs.engine.process.host import AttemptHost
from jobs.store import Claimed


@dataclass(frozen=True)
class Runtime:
    """The parts of a process that the engine uses. Each may be None.

    carrier: sends claimed jobs to workers. It must not raise: recover repeats lost messages. None: they are not sent.
    relay: requests the dispatches after commits; None: the committing thread makes them itself.
    announcer: sends the signal `job_died` of a job and an attempt; None: the thread that buries the job does.
    host: the seat of this process, if it runs jobs.
    """

    carrier: Callable[[Sequence[Claimed]], object] | None = None
    relay: Callable[[], object] | None = None
    announcer: Callable[[int, int], object] | None = None
    host: AttemptHost | None = None


_runtime = Runtime()


def current() -> Runtime:
    return _runtime


def start(runtime: Runtime) -> None:
    """Make this the runtime of the process from now on."""
    global _runtime  # noqa: PLW0603 - a process has one, like its environment
    _runtime = runtime


def change(**parts: Any) -> Runtime:
    """Replace these parts; return the runtime as it was."""
    before = _runtime
    start(replace(before, **parts))
    return before


@contextmanager
def changed(**parts: Any) -> Iterator[None]:
    """Replace these parts inside the block."""
    before = change(**parts)
    try:
        yield
    finally:
        start(before)
