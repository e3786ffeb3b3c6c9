"""The recorder's sample, once a minute: the jobs in slots and in line, and what each tenant got of its fair share."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from django.db import transaction

from jobs.allocation.gates import Gate
from jobs.models import Sample
from jobs.reading import looking, waits
from jobs.reading.health.facts import starving
from jobs.reading.looking import Queue
from jobs.reading.shares import JUDGED, Work, entitled, jain
from jobs.reading.standing import StandingState, state_of
from jobs.reading.usage import day_of
from jobs.recording import statements
from jobs.recording.record import DAY
from jobs.recording.statements import LaneWork
from jobs.store.rows import rows
from tenants.models import TenantQueue

MINUTE = 60.0  # seconds
SHORT, LONG = 1 - 1 / 5, 1 - 1 / 60  # the part of a sum that stays after a minute: it covers about 5 minutes, an hour


@transaction.atomic
def record_sample() -> None:
    """Store a sample of the present, once in a minute."""
    upto, now = statements.begin_task("samples", DAY.total_seconds())
    minute = now.replace(second=0, microsecond=0)
    if upto >= minute:
        return
    queues, work = looking.look_queues(), statements.work()
    worked: list[tuple[int, int, float]] = rows("worked", seconds=MINUTE)  # tenant, queue, seconds of processes
    got: dict[int, float] = defaultdict(float)
    for tenant_id, _, seconds in worked:
        got[tenant_id] += seconds
    fair = fair_seconds(queues, work, {(tenant, queue): seconds for tenant, queue, seconds in worked})
    of_each = {pk: (got[pk], fair.get(pk, 0.0)) for pk in got.keys() | fair.keys()}
    shares = statements.record_shares(of_each, SHORT, LONG)
    hungry = {tenant.id for tenant in starving(queues, now)}
    cuts = waits.cuts([lane.in_line for lane in work], queues)
    tenants, standing = _tenants(work, fair), states(work, cuts, hungry)
    full = [pk for pk, row in tenants.items() if standing[pk] is StandingState.FULL and row["in_use"] >= row["slots"]]
    most = most_held({pk: row["in_use"] for pk, row in tenants.items()}, got)
    statements.record_peaks(day_of(now), most)
    statements.record_slots(minute.replace(minute=0), got, most)
    rows("record_full", hour=minute.replace(minute=0), tenants=full)
    sample = Sample(
        at=minute,
        tenants=_with_seconds(tenants, got),
        queues=_queues(work),
        pools=_pools(queues, work),
        states=Counter(state.value for state in standing.values()),
        fairness=fairness(shares),
    )
    Sample.objects.bulk_create([sample], ignore_conflicts=True)  # there is one already if the clock was set back
    statements.end_task("samples", minute)


def fair_seconds(
    queues: Mapping[int, Queue], work: Iterable[LaneWork], worked: Mapping[tuple[int, int], float]
) -> dict[int, float]:
    """Return the seconds of this minute that each tenant was entitled to, of those that the processes worked.

    worked: the seconds that the processes worked, by tenant and queue
    """
    capacity: dict[str, float] = defaultdict(float)
    for (_, queue_id), seconds in worked.items():
        if queue_id in queues:
            capacity[queues[queue_id].pool] += seconds
    wishes: dict[str, list[Work]] = defaultdict(list)
    for lane in work:
        queue = queues.get(lane.queue_id)
        if queue is not None:
            demand = lane.in_use + (0 if waits.closed(queue) else lane.in_line.passing)
            wishes[queue.pool].append(Work(lane.tenant_id, lane.queue_id, MINUTE * demand, lane.weight))
    weights = {pk: float(queue.weight) for pk, queue in queues.items()}
    limits = {pk: MINUTE * max(queue.concurrency, queue.in_use) for pk, queue in queues.items() if queue.concurrency}
    fair: dict[int, float] = defaultdict(float)
    for pool, lanes in wishes.items():
        for tenant_id, seconds in entitled(capacity[pool], lanes, weights, limits).items():
            fair[tenant_id] += seconds
    return fair


def most_held(in_use: Mapping[int, int], got: Mapping[int, float]) -> dict[int, int]:
    """Return the most slots in use of each tenant that had any in this minute.

    A look misses attempts of less than a minute, so a tenant held at least as many as its work of the minute needs.

    in_use: the slots in use now
    got: the seconds that processes worked in this minute
    """
    most = {pk: max(in_use.get(pk, 0), ceil(got.get(pk, 0.0) / MINUTE)) for pk in in_use.keys() | got.keys()}
    return {pk: slots for pk, slots in most.items() if slots}


def fairness(shares: Iterable[tuple[float, float]]) -> float | None:
    """Return Jain's index of the parts of their shares that tenants got; None if no share was large enough to judge.

    shares: the seconds that a tenant got, and those that it was entitled to
    """
    return jain([got / entitled for got, entitled in shares if entitled >= JUDGED])


def states(work: Iterable[LaneWork], cuts: Iterable[waits.Cut], hungry: Collection[int]) -> dict[int, StandingState]:
    """Return the state of each tenant with work.

    hungry: the tenants that are starved
    """
    gates: dict[int | None, set[Gate]] = defaultdict(set)
    in_use: Counter[int] = Counter()
    limits: dict[int, LaneWork] = {}
    for cut in cuts:
        gates[cut.tenant_id].add(cut.gate)
    for lane in work:
        in_use[lane.tenant_id] += lane.in_use
        limits[lane.tenant_id] = lane
    return {
        pk: state_of(paused=limit.paused, slots=limit.slots, in_use=in_use[pk], gates=gates[pk], starved=pk in hungry)
        for pk, limit in limits.items()
    }


def _tenants(work: Iterable[LaneWork], fair: Mapping[int, float]) -> dict[int, dict[str, Any]]:
    samples: dict[int, dict[str, Any]] = {}
    for lane in work:
        sample = samples.setdefault(lane.tenant_id, {"in_use": 0, "slots": lane.slots, "waiting": 0})
        sample["in_use"] += lane.in_use
        sample["waiting"] += lane.in_line.waiting
    for pk, sample in samples.items():
        sample["entitled"] = round(fair.get(pk, 0.0), 1)
    return samples


def _with_seconds(tenants: dict[int, dict[str, Any]], got: Mapping[int, float]) -> dict[int, dict[str, Any]]:
    """Return the samples of tenants with the seconds that processes worked for them, also of those without work now."""
    others: dict[int, dict[str, Any]] = {}
    if idle := got.keys() - tenants.keys():
        slots = dict(TenantQueue.objects.filter(tenant_id__in=idle).values_list("tenant_id", "num_slots"))
        others = {pk: {"in_use": 0, "slots": slots.get(pk, 0), "waiting": 0} for pk in idle}
    return {pk: row | {"seconds": round(got.get(pk, 0.0), 1)} for pk, row in (tenants | others).items()}


def _queues(work: Iterable[LaneWork]) -> dict[int, dict[str, int]]:
    samples: dict[int, dict[str, int]] = {}
    for lane in work:
        sample = samples.setdefault(lane.queue_id, {"in_use": 0, "waiting": 0})
        sample["in_use"] += lane.in_use
        sample["waiting"] += lane.in_line.waiting
    return samples


def _pools(queues: Mapping[int, Queue], work: Sequence[LaneWork]) -> dict[str, dict[str, int]]:
    pools = waits.pools([lane.in_line for lane in work], queues)
    return {pool.name: {"in_use": pool.in_use, "processes": pool.processes, "may_run": pool.may_run} for pool in pools}
