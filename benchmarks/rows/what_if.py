"""what_if: what a replay of a run says of other limits, against a second real run with them; and the other way."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks import POOL, SHORTER, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from jobs import store, submit_many
from jobs.insight import replay
from jobs.insight.forecasting.replay.compare import Comparison, Waits, compare, relative
from jobs.insight.forecasting.replay.idle_gaps import idle_gaps
from jobs.insight.forecasting.replay.record import POOL as OF_POOL
from jobs.insight.forecasting.replay.record import TENANT, Hypothesis, Record
from jobs.models import Job, PoolChange
from jobs.recording import statements
from tenants.models import TenantQueue

TENANTS, PROCESSES, ZIPF, SLOTS = 8, 8, 1.1, 8
SECONDS, LOAD, MEAN, LONGEST, BURST = 100.0, 0.9, 0.6, 6.0, 12
STARTED = 3.0  # seconds until a worker has its processes
MOST = 100_000  # attempts of a window
PATIENCE = 240.0  # seconds in which all that was submitted has ended
SMALL = {"num_slots": 3, "weight": 1, "rate_limit": None, "rate_window": None}  # of the largest tenant
OTHERS = SMALL | {"num_slots": SLOTS}


@dataclass(frozen=True, eq=False)
class Case:
    """Of a run: the processes, and other limits of a tenant, the n-th by size."""

    processes: int = PROCESSES
    tenant: int = 0
    limits: Mapping[str, float] = field(default_factory=dict)


BASE = Case()
CROWDED = Case(processes=6, limits={"num_slots": SLOTS})  # processes decide, not slots: what a weight is for
MORE_SLOTS = "slots"
CASES = {
    MORE_SLOTS: (BASE, Case(limits={"num_slots": 6})),
    "processes": (BASE, Case(processes=6)),
    "weight": (CROWDED, Case(processes=6, limits={"num_slots": SLOTS, "weight": 4})),
    "rate": (BASE, Case(tenant=1, limits={"rate_limit": 6, "rate_window": 3.0})),
}
OFF, NOTHING, UNCHANGED = "mean wait off", "off if unchanged", "off if only replayed"
ITSELF, P95 = "replay of what was off", "p95 off"
THERE, BACK = "", ", back"
BARS = [
    bar
    for name in CASES
    for way in (THERE, BACK)
    for bar in (
        Bar(of=(OFF, name + way), at_most=0.2),
        Bar(of=(OFF, name + way), to=(NOTHING, name + way), at_most=1 / 3),
    )
]


@dataclass(frozen=True)
class Run:
    """What was recorded of one, and what was in force in it, as a hypothesis for the others."""

    record: Record
    limits: Hypothesis

    def what_if(self, hypothesis: Hypothesis) -> Comparison:
        return compare(self.record, idle_gaps(self.record.past), hypothesis)


def measure(directory: Path) -> Figures:
    """The same jobs again and again; each case compares two runs with one limit that is another.

    A shorter run is of the first case alone.
    """
    chosen, seconds = ({MORE_SLOTS: CASES[MORE_SLOTS]}, SHORTER / 2) if SHORTER else (CASES, SECONDS)
    ours = Ours()
    ours.prepare(tenants=TENANTS, slots=SLOTS)
    cases = dict.fromkeys(case for pair in chosen.values() for case in pair)
    runs = {case: _run(ours, directory, f"what-if-{n}", case, seconds) for n, case in enumerate(cases)}
    figures: Figures = {}
    for name, (before, after) in chosen.items():
        for way, changed, truth in ((THERE, before, after), (BACK, after, before)):
            for what, value in compared(runs[changed], runs[truth]).items():
                figures.setdefault(what, {})[name + way] = value
    return figures


def compared(run: Run, truth: Run) -> dict[str, float]:
    """What the replay of the one says of the limits of the other, against what happened there."""
    real = {line.tenant_id: line.recorded for line in truth.what_if({}).lines}
    would_be = run.what_if(truth.limits)
    predicted = {line.tenant_id: line.changed or line.replayed for line in would_be.lines}
    was = {line.tenant_id: line.recorded for line in would_be.lines}
    replayed = {line.tenant_id: line.replayed for line in would_be.lines}
    shares = {line.tenant_id: line.attempts / would_be.attempts for line in would_be.lines}

    def off(waits: Mapping[int, Waits], name: str = "mean") -> float:
        pairs = ((share, getattr(waits[pk], name), getattr(real[pk], name)) for pk, share in shares.items())
        return sum(share * relative(1e9 if estimate is None else estimate, true) for share, estimate, true in pairs)

    itself = would_be.error.mean if would_be.error else 1.0
    return {
        OFF: off(predicted),
        NOTHING: off(was),
        UNCHANGED: off(replayed),
        P95: off(predicted, "p95"),
        ITSELF: itself,
    }


def _run(ours: Ours, directory: Path, name: str, case: Case, seconds: float) -> Run:
    limits = {tenant.pk: dict(OTHERS if place else SMALL) for place, tenant in enumerate(ours.tenants)}
    limits[ours.tenants[case.tenant].pk] |= case.limits
    for pk, row in limits.items():
        TenantQueue.objects.filter(tenant_id=pk).update(**row)
    _await(lambda: _live() == (0, 0))
    with stage.playing(directory, name, ours.worker(case.processes)):
        _await(lambda: _live() == (case.processes, 0))
        time.sleep(STARTED)
        since = store.database_now()
        begins = time.monotonic()
        for at, place, bodies in mix(Random(11), seconds):  # noqa: S311 - the same in every run
            time.sleep(max(begins + at - time.monotonic(), 0.0))
            call = ours.things[place].async_(dedup=False)
            submit_many(call.rest.request(n, seconds=body) for n, body in enumerate(bodies))
        until = store.database_now()
        _await(lambda: not Job.objects.filter(end_time=None).exists())
    held = {(TENANT, pk): row for pk, row in limits.items()} | {(OF_POOL, POOL): {"processes": case.processes}}
    return Run(replay.read(since, until, MOST), held)


def mix(random: Random, seconds: float) -> Iterator[tuple[float, int, list[float]]]:
    """When which tenant submits jobs of so many seconds: tenants of Zipf sizes, log-normal times, bursts."""
    sizes = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    now = 0.0
    while True:
        size = random.choice((1, 1, 1, 1, random.randint(1, BURST)))
        now += random.expovariate(1.0) * size * MEAN / (PROCESSES * LOAD)
        if now >= seconds:
            return
        (tenant,) = random.choices(range(TENANTS), sizes)
        yield now, tenant, [min(random.lognormvariate(-0.83, 0.8), LONGEST) for _ in range(size)]


def _await(over: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not over():
        assert time.monotonic() < deadline, "it takes too long"  # noqa: S101
        time.sleep(0.5)


def _live() -> tuple[int, int]:
    """The processes of the pool, and the jobs that other workers still have; a worker that was killed has none soon."""
    statements.note_pools()
    newest = PoolChange.objects.filter(pool=POOL).latest("at")
    return newest.processes, newest.leaving
