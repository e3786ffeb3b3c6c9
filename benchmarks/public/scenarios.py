"""The scenarios of jonyoder/queue-benchmark at 11fef00 (internal/workload/scenarios.go, scripts/), as data."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of job: its part of all, and the bounds of its run time in ms and of its payload in bytes."""

    weight: int
    shortest: int
    longest: int
    smallest: int
    largest: int


MIXED = (Kind(60, 5, 30, 128, 512), Kind(20, 20, 150, 256, 1024), Kind(15, 100, 800, 256, 1024))
MIXED += (Kind(5, 1000, 5000, 1024, 4096),)
NO_WORK = (Kind(1, 0, 0, 0, 0),)


@dataclass(frozen=True)
class Scenario:
    """skew: the part of the jobs that the noisy tenant submits. burst: from when to when, how many times the rate."""

    tenants: int
    rate: int  # jobs a second
    workers: int  # jobs at once
    seconds: float  # of submits; as long again for what waits then
    seed: int
    skew: float = 0.0
    mix: tuple[Kind, ...] = MIXED
    burst: tuple[float, float, float] | None = None


class Arrival(NamedTuple):
    """A job to submit, so many seconds after the begin. tenant 0 is the noisy one, if there is one."""

    at: float
    tenant: int
    seconds: float
    payload: int


NEIGHBOUR = Scenario(tenants=10, rate=100, workers=10, seconds=30, seed=12, skew=0.9)  # noisy_neighbor_saturated
FLOOD = Scenario(tenants=10, rate=300, workers=100, seconds=15, seed=13)  # high_scale
BURST = Scenario(tenants=5, rate=50, workers=10, seconds=30, seed=2, burst=(5, 10, 10.0))  # burst
PICKUP = Scenario(tenants=1, rate=20, workers=10, seconds=30, seed=5, mix=NO_WORK)  # notify_latency


def arrivals(scenario: Scenario) -> Iterator[Arrival]:
    """The same in every run. Their generator draws other numbers from the same distributions."""
    draw = random.Random(scenario.seed)  # noqa: S311 - no secret
    at = 0.0
    while at < scenario.seconds:
        kind = draw.choices(scenario.mix, [kind.weight for kind in scenario.mix])[0]
        seconds = draw.randint(kind.shortest, kind.longest) / 1000
        yield Arrival(at, _tenant(scenario, draw), seconds, draw.randint(kind.smallest, kind.largest))
        begin, end, times = scenario.burst or (0.0, 0.0, 1.0)
        at += 1 / (scenario.rate * (times if begin <= at < end else 1.0))


def _tenant(scenario: Scenario, draw: random.Random) -> int:
    if not scenario.skew:
        return draw.randrange(scenario.tenants)
    return 0 if draw.random() < scenario.skew else 1 + draw.randrange(scenario.tenants - 1)
