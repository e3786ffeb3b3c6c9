"""What `THOROUGH=1` adds to the rows of light pools: retries, three queues in two pools, limits of users, and rates.

A tenant's jobs are numbered by turns. What a job is follows from its turn, so that each queue, each user and the
failures have their part of every tenant's jobs. What a tenant is follows from its place.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchmarks import POOL

if TYPE_CHECKING:
    from tenants.models import Tenant

SECOND, OTHER = "bench-second", "bench-other"  # queues
QUEUES = ("default", OTHER, SECOND, OTHER)  # by turns, so that each pool gets half of the jobs
POOLS = {POOL: ("default", SECOND), OTHER: (OTHER,)}
FAILING = 19  # one of so many jobs fails at its first attempt; no factor of the other numbers, so in all queues
BACKOFF = 0.05  # seconds until it runs again
USERS = 5  # of each tenant
KINDS = 5  # of tenants: one limits its users, one has a rate, the others have neither
RATE, QUEUE_RATE = 500, 5_000  # jobs a second: counted, and more than such a tenant or queue starts in most rows


def user_slots(slots: int) -> int:
    """The slots of each user of a tenant that limits them: all of its slots are used only if each user's are."""
    return -(-slots // USERS)


def limits_users(place: int) -> bool:
    return place % KINDS == 0


def has_rate(place: int) -> bool:
    return place % KINDS == 1


def user(turn: int) -> int:
    return turn % USERS


def pool(turn: int) -> str:
    return OTHER if QUEUES[turn % len(QUEUES)] == OTHER else POOL


def fails(turn: int) -> bool:
    return turn % FAILING == USERS


def prepare(tenants: Sequence["Tenant"], slots: int) -> None:
    """Make the queues, and give the tenants their limits."""
    from jobs.models import Queue  # here, since Celery's worker, which is without Django, imports this module
    from tenants.models import TenantQueue

    for name, queues in POOLS.items():
        for queue in queues:
            Queue.objects.update_or_create(name=queue, defaults={"pool": name, "default_backoff": BACKOFF})
    Queue.objects.filter(name=SECOND).update(rate_limit=QUEUE_RATE, rate_window=1.0)
    for place, tenant in enumerate(tenants):
        limits: dict[str, Any] = {"user_slots": user_slots(slots)} if limits_users(place) else {}
        limits |= {"rate_limit": RATE, "rate_window": 1.0} if has_rate(place) else {}
        if limits:
            TenantQueue.objects.filter(tenant=tenant).update(**limits)


def options(turn: int) -> dict[str, Any]:
    """The options of the call."""
    retries = {"max_retries": 1} if fails(turn) else {}
    return {"queue": QUEUES[turn % len(QUEUES)], "user": f"user{user(turn)}", **retries}


def arguments(turn: int) -> dict[str, bool]:
    """Further arguments of the body."""
    return {"fails": True} if fails(turn) else {}
