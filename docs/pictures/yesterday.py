"""Write a day of statistics, as the recorder would have, so that the charts of the pictures are not empty."""

from datetime import UTC, datetime, timedelta
from math import pi, sin
from random import Random

from jobs.models import JobMinute, Queue, Sample, TenantHour
from jobs.models.statistics import TenantShare
from jobs.reading.statistics import BUCKETS
from tenants.models import Tenant

CALL = {"source_type": "reports.datareport", "source_method": "execute"}
MINUTES = 24 * 60
FAST, SLOW = 8, 14  # buckets: 0.1 and 1.5 seconds
MINUTE = timedelta(minutes=1)


def write(queue: Queue, tenants: dict[Tenant, int]) -> None:
    """Write the day of these tenants, in this queue.

    tenants: the slots of each
    """
    chance = Random(4)  # noqa: S311 - a picture, no secret
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    load = [_load(minute, chance) for minute in range(MINUTES)]
    JobMinute.objects.bulk_create(
        JobMinute(minute=now - (minute + 1) * MINUTE, **_tally(queue, outcome, count, minute))
        for minute in range(MINUTES)
        for outcome, count in (("success", round(90 * load[minute])), ("error", _failed(minute, chance)))
        if count
    )
    hour = now.replace(minute=0)
    TenantHour.objects.bulk_create(
        TenantHour(tenant_id=tenant.pk, hour=hour - back * 60 * MINUTE, **_tally(queue, outcome, count, back * 60))
        for tenant, slots in tenants.items()
        for back in range(1, 24)
        for outcome, count in (("success", round(400 * slots * load[back * 60])), ("error", chance.randrange(9)))
        if count
    )
    hour_of_work = {
        "got": 180.0,
        "entitled": 180.0,
        "got_hour": 2000.0,
        "entitled_hour": 2000.0,
    }  # all were served alike
    TenantShare.objects.bulk_create(TenantShare(tenant_id=tenant.pk, **hour_of_work) for tenant in tenants)
    Sample.objects.bulk_create(_sample(now, minute, load[minute], queue, tenants) for minute in range(MINUTES))


def _load(minute: int, chance: Random) -> float:
    """From a tenth to one, more or less, in waves of some 40 minutes."""
    return max(0.1, 0.55 + 0.35 * sin(minute * 2 * pi / 43) + chance.uniform(-0.12, 0.12))


def _failed(minute: int, chance: Random) -> int:
    """Some failures all the time, more of them in three bad minutes."""
    return chance.randrange(3) + (14 if minute in (24, 25, 26) else 0)


def _tally(queue: Queue, outcome: str, count: int, minute: int) -> dict[str, object]:
    run, wait = [0] * BUCKETS, [0] * BUCKETS
    run[FAST], run[SLOW] = count - count // 5, count // 5
    busy = round(4 * (1 + sin(minute * 2 * pi / 43)))
    wait[4 + busy], wait[9 + busy] = count - count // 8, count // 8
    seconds = {"run_seconds": 0.4 * count, "wait_seconds": 0.8 * count, "process_wait_seconds": 0.3 * count}
    times = {"run_buckets": run, "wait_buckets": wait, "process_wait_buckets": wait}
    return {**CALL, **seconds, **times, "queue_id": queue.pk, "outcome": outcome, "attempts": count}


def _sample(now: datetime, minute: int, load: float, queue: Queue, tenants: dict[Tenant, int]) -> Sample:
    held = {tenant: min(slots, round(slots * load * 1.3)) for tenant, slots in tenants.items()}
    waiting = {tenant: round(60 * load * load) if held[tenant] == slots else 0 for tenant, slots in tenants.items()}
    return Sample(
        at=now - minute * MINUTE,
        tenants={one.pk: {"in_use": held[one], "slots": tenants[one], "waiting": waiting[one]} for one in tenants},
        queues={queue.pk: {"in_use": sum(held.values()), "waiting": sum(waiting.values())}},
        pools={"default": {"in_use": sum(held.values()), "processes": sum(tenants.values())}},
    )
