"""Who comes while a job waits: those of the last minutes come again, in circles, so that bursts stay bursts."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar


class _Arrived(Protocol):
    @property
    def at(self) -> float: ...  # seconds after the beginning of the window


Arrived = TypeVar("Arrived", bound=_Arrived)


def again(arrived: Sequence[Arrived], window: float, begin: float) -> Iterator[tuple[float, Arrived]]:
    """When each comes again, in seconds from now, in order and without an end; nobody if nobody came.

    arrived: in the order of `at`. window: the seconds in which they came. begin: the moment of the window that is now.
    """
    if not arrived:
        return
    first = next((place for place, one in enumerate(arrived) if one.at >= begin), len(arrived))
    passed = -begin
    while True:
        for one in arrived[first:]:
            yield passed + one.at, one
        first, passed = 0, passed + window
