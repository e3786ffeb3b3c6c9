"""fairness: worker-seconds of tenants that always have jobs waiting, with different numbers and lengths of jobs.

A Zipf mix (the r-th tenant has r ** -1.1 of the backlog) of run times from 10 ms to 2 s; then weights 3 and 1.
It counts the seconds of bodies within the window, as the bodies report them. First in an ordinary pool; then in an
installation of two kinds of pools, where each tenant has such jobs in both, and fewer slots than it could use.
"""

import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks import bells, databases, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders import two_kinds
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.two_kinds import TwoKinds
from jobs import async_, submit_many
from tests.waiting import wait_until

TENANTS, PROCESSES, WINDOW = 50, 4, 70.0  # seconds
ZIPF, JOBS = 1.1, 20_000
SHORTEST, LONGEST = 0.010, 2.0  # seconds of a body
FREE_SLOTS = 60  # of the weighted tenants: a tenant at its limit cannot take its share
PLENTY = 4  # the least backlog of a tenant, as a multiple of its fair share
WEIGHTS, WEIGHED = (3, 1), 25.0  # seconds of the window


@dataclass(frozen=True)
class Kind:
    """A kind of pool, and the jobs that it gets.

    seats: of all its processes.
    shortest, weighed: seconds of a body: the shortest of the mix, and each of the weighted tenants.
    first: the number of its first job, which tells the kinds apart.
    """

    name: str
    method: str
    queue: str
    seats: int
    shortest: float
    weighed: float
    first: int

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + APART)


APART = 10_000_000  # jobs: more than any has
ORDINARY = Kind("ordinary", "rest", "default", PROCESSES, SHORTEST, 0.05, first=0)
SEATS = two_kinds.LIGHT_PROCESSES * two_kinds.SEATS
LIGHT = Kind("light", "arest", two_kinds.LIGHT, SEATS, 0.1, 0.2, first=APART)
SIDES: dict[type[Ours], tuple[list[Kind], int]] = {  # the kinds, and the slots of each tenant
    Ours: ([ORDINARY], PROCESSES),
    TwoKinds: ([ORDINARY, LIGHT], 2),
}

JAIN, LEAST, MOST = "Jain's index", "worker-s of the least served", "worker-s of the most served"
JAIN_OF, BUSY_OF = "Jain's index, {} pool", "busy with bodies, {} pool"
RATIO, AT_ONCE = "worker-s, weight 3 / weight 1", "most bodies of a tenant / slots"

BARS = [
    *(Bar(of=(JAIN, side.name), at_least=0.985) for side in SIDES),
    *(Bar(of=(RATIO, side.name), at_least=2.91, at_most=3.09) for side in SIDES),
    Bar(of=(AT_ONCE, TwoKinds.name), at_most=1),  # alone, a tenant has as many slots as there are processes
]


def measure(directory: Path) -> Figures:
    """The mix, then the weights; in the ordinary pool, then in both."""
    figures: Figures = {}
    for kind_of_side in SIDES:
        side = kind_of_side()
        for what, value in (_mixed(side, directory) | _weighed(side, directory)).items():
            figures.setdefault(what, {})[side.name] = value
    return figures


def prepare(side: Ours, tenants: int = TENANTS) -> None:
    """Create the mix; further tenants have no jobs."""
    databases.empty()
    kinds, slots = SIDES[type(side)]
    side.prepare(tenants=tenants, slots=slots)
    for kind in kinds:
        for place, (seconds, count) in enumerate(_mix(kind)):
            _backlog(side, kind, place, seconds, count)


def _mixed(side: Ours, directory: Path) -> dict[str, float]:
    prepare(side)
    kinds, slots = SIDES[type(side)]
    begin, end = _window(side, directory, WINDOW)
    served = bells.seconds_in_bodies(begin, end)
    figures = {JAIN: _jain(served), LEAST: min(_all(served)), MOST: max(_all(served))}
    for kind in kinds:
        there = bells.seconds_in_bodies(begin, end, kind.numbers)
        figures |= {JAIN_OF.format(kind.name): _jain(there)}
        figures |= {BUSY_OF.format(kind.name): there.total() / (kind.seats * WINDOW)}
    return figures | {AT_ONCE: bells.most_at_once(lambda tenant, _: tenant) / slots}


def _weighed(side: Ours, directory: Path) -> dict[str, float]:
    databases.empty()
    kinds, _ = SIDES[type(side)]
    side.prepare(tenants=len(WEIGHTS), slots=FREE_SLOTS, weights=list(WEIGHTS))
    for kind in kinds:
        for place in range(len(WEIGHTS)):
            _backlog(side, kind, place, kind.weighed, int(PLENTY * kind.seats * WEIGHED / kind.weighed / 2))
    served = bells.seconds_in_bodies(*_window(side, directory, WEIGHED))
    heavy, light = (served[tenant.pk] for tenant in side.tenants)
    return {RATIO: heavy / light}


def _mix(kind: Kind) -> list[tuple[float, int]]:
    """Seconds of a body and jobs waiting, tenant by tenant."""
    run_times = [kind.shortest * (LONGEST / kind.shortest) ** (n / (TENANTS - 1)) for n in range(TENANTS)]
    random.Random(1).shuffle(run_times)  # noqa: S311 - the same in every run
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = kind.seats * WINDOW / TENANTS
    return [
        (seconds, max(int(JOBS * part / sum(parts)), int(PLENTY * share / seconds) + kind.seats))
        for seconds, part in zip(run_times, parts, strict=True)
    ]


def _backlog(side: Ours, kind: Kind, place: int, seconds: float, count: int) -> None:
    call = async_(getattr(side.things[place], kind.method), queue=kind.queue)
    submit_many(call.request(kind.first + n, seconds=seconds) for n in range(count))


def _window(side: Ours, directory: Path, seconds: float) -> tuple[float, float]:
    """Run the workers for a window that begins with the first body; return when it began and ended."""
    bells.forget()
    with stage.crew(directory, side.workers(PROCESSES)):
        bells.wait(1)
        begin = bells.heard()[0].moment
        end = begin + seconds
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", seconds + 30)
    return begin, end


def _all(served: Counter[int]) -> list[float]:
    """The seconds of every tenant, also of those that were not served."""
    return [*served.values(), *[0.0] * (TENANTS - len(served))]


def _jain(served: Counter[int]) -> float:
    return served.total() ** 2 / (TENANTS * sum(second**2 for second in served.values()))
