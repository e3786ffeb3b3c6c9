"""Tell causes from consequences among the conditions that hold, by a table. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from jobs.reading.health.conditions import Condition, Severity

LOST = ("worker_lost", "worker_silent")
BUSY = ("loop_blocked", "database_threads", "nothing_ends")
WITHOUT = ("pool_short", "stalled", "no_worker", *BUSY, *LOST, "worker_cut_off", "no_clock")
# By condition: those that bring it about if they hold for the same pool, the nearest first.
CAUSES: Mapping[str, Sequence[str]] = {
    "no_clock": LOST,
    "no_worker": LOST,
    "stalled": ("worker_cut_off", "no_clock"),
    "pool_short": (*LOST, "worker_cut_off", *BUSY),
    "messages_lost": (*LOST, "worker_cut_off"),
    "repairs": LOST,
    "nothing_ends": ("loop_blocked", "database_threads"),
    "tenant_starved": WITHOUT,
    "targets_missed": WITHOUT,
    "deaths": ("failures",),
    "recorder_late": ("no_clock",),
}


@dataclass(frozen=True)
class Chain:
    """A condition that no other one explains, and those that it brought about.

    severity: the worst of them.
    """

    cause: Condition
    consequences: Sequence[Condition]

    @property
    def severity(self) -> Severity:
        return min((one.severity for one in (self.cause, *self.consequences)), key=_rank)


def chains(holding: Sequence[Condition]) -> list[Chain]:
    """Return the conditions as chains; those with the worst conditions first, otherwise in the order of the causes."""
    parents = [_cause(one, holding) for one in holding]
    found = [
        Chain(one, [*_below(index, parents, holding)]) for index, one in enumerate(holding) if parents[index] is None
    ]
    return sorted(found, key=lambda chain: _rank(chain.severity))


def _cause(one: Condition, holding: Sequence[Condition]) -> int | None:
    """Return the place of its cause among the conditions that hold; None if it has none there."""
    for code in CAUSES.get(one.code, ()):
        for place, other in enumerate(holding):
            if other.code == code and _concerns(other, one):
                return place
    return None


def _concerns(cause: Condition, one: Condition) -> bool:
    """Return whether both may be about the same pool."""
    first, second = cause.fault.pools, one.fault.pools
    if first is None or second is None:
        return first != frozenset() and second != frozenset()
    return not first.isdisjoint(second)


def _below(place: int, parents: Sequence[int | None], holding: Sequence[Condition]) -> Iterator[Condition]:
    """Yield the consequences of a condition, each before its own."""
    for child, parent in enumerate(parents):
        if parent == place:
            yield holding[child]
            yield from _below(child, parents, holding)


def _rank(severity: Severity) -> int:
    return get_args(Severity).index(severity)
