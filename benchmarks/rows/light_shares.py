"""light_shares: seconds in seats of tenants that always have jobs waiting, and the most bodies of a tenant at once.

Forty tenants with five slots each share 100 seats. Their backlogs are after Zipf, and their bodies wait for 0.1 s to
2 s. Both figures are as the bodies tell them.
"""

import random
from collections import Counter
from pathlib import Path

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.rows.fairness import JAIN, ZIPF
from jobs import submit_many
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 40, 5, 50, 2
WARM, WINDOW = 2.0, 20.0  # seconds
SHORTEST, LONGEST = 0.1, 2.0  # seconds of a body
ZIPFS = 15_000  # jobs, shared after Zipf
PLENTY = 2  # the least backlog of a tenant, as a multiple of its fair share

BUSY, MOST = "seats busy with bodies", "most bodies of a tenant / slots"

BARS = [Bar(of=(JAIN, "ours"), at_least=0.985, goal=0.995), Bar(of=(MOST, "ours"), at_most=1)]


def measure(directory: Path) -> Figures:
    """The figures of one window."""
    side = Light(TENANTS, SLOTS, SEATS)
    side.prepare()
    for thing, (seconds, count) in zip(side.things, _backlogs(), strict=True):
        submit_many(thing.async_.arest.request(n, seconds=seconds) for n in range(count))
    bells.forget()
    with stage.playing(directory, "worker", side.worker(PROCESSES)):
        bells.wait(1)
        begin = bells.heard()[0].moment + WARM
        end = begin + WINDOW
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", WARM + WINDOW + 30)
    served = [*bells.seconds_in_bodies(begin, end).values()]
    jain = sum(served) ** 2 / (TENANTS * sum(second**2 for second in served))
    busy = sum(served) / (SEATS * PROCESSES * WINDOW)
    return {JAIN: {"ours": jain}, BUSY: {"ours": busy}, MOST: {"ours": _most_at_once() / SLOTS}}


def _backlogs() -> list[tuple[float, int]]:
    """Seconds of a body and jobs waiting, tenant by tenant."""
    run_times = [SHORTEST * (LONGEST / SHORTEST) ** (n / (TENANTS - 1)) for n in range(TENANTS)]
    random.Random(1).shuffle(run_times)  # noqa: S311 - the same in every run
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = SEATS * PROCESSES * (WARM + WINDOW) / TENANTS
    return [
        (seconds, max(int(ZIPFS * part / sum(parts)), int(PLENTY * share / seconds)))
        for seconds, part in zip(run_times, parts, strict=True)
    ]


def _most_at_once() -> int:
    """The most bodies of one tenant that ran at the same moment, of all tenants."""
    running: Counter[str] = Counter()
    most = 0
    for _, (what, tenant, _) in sorted(bells.heard()):
        running[tenant] += 1 if what == "begin" else -1
        most = max(most, running[tenant])
    return most
