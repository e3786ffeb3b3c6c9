"""The conditions of workers that are not as they should be. Pure functions over the facts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from jobs.reading.health.facts import Facts
from jobs.reading.health.fault import Fault
from jobs.reading.looking import Worker
from plumbing.text import printable

MAX_NAMED, MAX_NAME = 3, 60  # workers in a sentence, and characters of the name of one


def worker_silent(facts: Facts) -> Iterator[Fault]:
    for pool, workers in _in_state(facts, "silent"):
        text = f"{_named(pool, workers)} missed three heartbeats."
        yield Fault(text, pool, pools=frozenset({pool}), since=workers[0].beat_at)


def worker_cut_off(facts: Facts) -> Iterator[Fault]:
    for pool, workers in _in_state(facts, "cut off"):
        gets, its = ("gets", "its") if len(workers) == 1 else ("get", "their")
        text = f"{_named(pool, workers)} {gets} no message from the broker: {its} idle processes get no job."
        yield Fault(text, pool, pools=frozenset({pool}), since=workers[0].cut_off_at)


def worker_lost(facts: Facts) -> Iterator[Fault]:
    for pool, lost in _by_pool(facts.lost):
        replaced = facts.replaced(lost)
        told = not any(worker.concurrency for worker in lost)  # to stop: they drained
        how = "while stopping" if told else "without stopping"
        text = f"{_named(pool, lost)} went silent {how}: killed, or cut off from the network."
        text += f" {'Another worker has' if len(lost) == 1 else 'As many have'} started since." if replaced else ""
        yield Fault(text, pool, pools=frozenset() if replaced else frozenset({pool}), since=lost[0].gone_at)


def _in_state(facts: Facts, state: str) -> Iterator[tuple[str, list[Worker]]]:
    return _by_pool(worker for worker in facts.workers if worker.state(facts.server.now) == state)


def _by_pool(workers: Iterable[Worker]) -> Iterator[tuple[str, list[Worker]]]:
    for pool, of_pool in groupby(sorted(workers, key=attrgetter("pool")), attrgetter("pool")):
        yield pool, [*of_pool]


def _named(pool: str, workers: Sequence[Worker]) -> str:
    names = [printable(worker.name)[:MAX_NAME] or "without a name" for worker in workers[:MAX_NAMED]]
    more = [f"{len(workers) - MAX_NAMED} more"] if len(workers) > MAX_NAMED else []
    of_pool = f"of pool {pool or 'unknown'}"
    return f"Worker {names[0]} {of_pool}" if len(workers) == 1 else f"Workers {', '.join([*names, *more])} {of_pool}"
