"""The conditions of light pools, where a body may hold up all others of its process. Pure functions over the facts."""

from collections.abc import Iterator
from itertools import groupby

from jobs.reading.blocks import BlocksOfType
from jobs.reading.health.facts import MINUTES, Facts
from jobs.reading.health.fault import Fault
from plumbing.text import duration, printable

BLOCKS = 3  # of event loops of a pool in MINUTES: one or two may be chance
MAX_BLOCKED = 3  # blocked loops with a sentence each
DATABASE_WAIT = 1.0  # seconds that a body waits for a database thread


def loop_blocked(facts: Facts) -> Iterator[Fault]:
    yield from (Fault(block.sentence, pools=frozenset({block.pool})) for block in facts.blocked[:MAX_BLOCKED])
    if (more := len(facts.blocked) - MAX_BLOCKED) > 0:
        pools = frozenset(block.pool for block in facts.blocked)
        yield Fault(f"{more} more event loop{'s are' if more > 1 else ' is'} blocked.", pools=pools)
    for pool, of_types in groupby(facts.blocks, lambda one: one.pool):
        yield from _blocked_often(pool, [*of_types])


def database_threads(facts: Facts) -> Iterator[Fault]:
    for pool, seconds in sorted(facts.database_waits.items()):
        if seconds > DATABASE_WAIT:
            text = f"Bodies of pool {pool} waited up to {duration(seconds)} for a database thread of their process."
            yield Fault(text, pools=frozenset({pool}))


def _blocked_often(pool: str, of_types: list[BlocksOfType]) -> Iterator[Fault]:
    """Tell how often the bodies of a pool did so, and which did most often, if it was BLOCKS times or more."""
    times, most = sum(one.times for one in of_types), of_types[0]
    if times < BLOCKS:
        return
    length = duration(sum(one.seconds for one in of_types))
    at = f" at {printable(most.place)}" if most.place else ""
    last = f", last as job {most.job_id}{at}" if most.job_id else ""
    which = f"most often {most.job_type or 'unknown bodies'} ({most.times:,}){last}"
    text = f"Bodies blocked event loops of pool {pool} {times:,} times in {MINUTES} minutes, {length} in all; {which}."
    yield Fault(text, pools=frozenset({pool}))
