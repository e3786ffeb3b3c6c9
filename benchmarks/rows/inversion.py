"""inversion: the wait of a customer's mails beside its own exports, which would hold all of its slots.

Its exports wait in a long line, and each takes longer than many mails. A neighbour has as many slots and mails, and no
exports. There are more processes than slots, so that only slots are short. First without and then with two slots of
each tenant in the queue of the exports.
"""

import time
from collections import defaultdict
from pathlib import Path
from statistics import quantiles

from benchmarks import POOL, bells, databases, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from jobs import async_
from jobs.allocation.order import SLICE
from jobs.models import Queue
from tests.waiting import wait_until

SLOTS, SLOTS_OF_EXPORTS, PROCESSES = 5, 2, 12
EXPORT, MAIL = 2.0, 0.01  # seconds of a body
EVERY, WARM, WINDOW = 0.2, 3.0, 12.0  # seconds
EXPORTS = int(2 * SLOTS * (WARM + WINDOW) / EXPORT)
MAILS = 1_000_000  # the number of the first mail, which tells it from an export

WITHOUT, WITH = "without", "with"
IDLE, BESIDE = "an idle neighbour's mail, p95 ms", "a mail beside exports, p95 ms"
BEYOND = "longer than the neighbour's, p95 ms"

BARS = [Bar(of=(BEYOND, WITH), at_most=1000 * SLICE)]


def measure(directory: Path) -> Figures:
    figures: Figures = {IDLE: {}, BESIDE: {}, BEYOND: {}}
    for name, slots in ((WITHOUT, None), (WITH, SLOTS_OF_EXPORTS)):
        databases.empty()
        idle, beside = _waits(slots, directory)
        figures[IDLE][name], figures[BESIDE][name], figures[BEYOND][name] = idle, beside, beside - idle
    return figures


def _waits(slots: int | None, directory: Path) -> tuple[float, float]:
    """The 95th percentile of the waits of the neighbour's mails and of the others, in milliseconds.

    slots: of a tenant in the queue of the exports
    """
    Queue.objects.create(name="exports", pool=POOL, tenant_slots=slots)
    side = Ours()
    side.prepare(2, SLOTS)
    customer, neighbour = side.things
    for n in range(EXPORTS):
        async_(customer.rest, queue="exports")(n, seconds=EXPORT)
    submitted: dict[tuple[str, int], float] = {}
    bells.forget()
    with stage.playing(directory, f"worker-{slots}", side.worker(PROCESSES)):
        bells.wait(1)
        time.sleep(WARM)
        until, n = time.monotonic() + WINDOW, MAILS
        while time.monotonic() < until:
            for thing in (customer, neighbour):
                submitted[str(thing.tenant_id), n] = time.time()
                async_(thing.rest)(n, seconds=MAIL)
            n += 1
            time.sleep(EVERY)
        wait_until(lambda: len(_begun()) == len(submitted), "all mails have begun", EXPORTS * EXPORT)
    waits: defaultdict[str, list[float]] = defaultdict(list)
    for mail, moment in _begun().items():
        waits[mail[0]].append((moment - submitted[mail]) * 1000)
    of_customer, of_neighbour = (quantiles(waits[str(thing.tenant_id)], n=100)[94] for thing in side.things)
    return of_neighbour, of_customer


def _begun() -> dict[tuple[str, int], float]:
    """When each mail has begun, by its tenant and its number."""
    begun = [(ring.words[1], int(ring.words[2]), ring.moment) for ring in bells.heard() if ring.words[0] == "begin"]
    return {(tenant, n): moment for tenant, n, moment in begun if n >= MAILS}
