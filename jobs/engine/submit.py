"""Submit: store new jobs inside the caller's transaction, or return the identical ones that are under way."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from jobs import store, telemetry
from jobs.engine import dispatch
from jobs.models import Queue
from jobs.request import InvalidRequest, JobRequest, TooManyWaiting
from tenants.models import TenantQueue


@dataclass(frozen=True)
class Submitted:
    """What became of a request: the id of its job, and whether that was there before."""

    id: int
    deduplicated: bool


def submit(request: JobRequest) -> Submitted:
    """Store one job. It exists if and only if the caller's transaction commits. Raises as `submit_all` does."""
    return submit_all([request])[0]


def submit_all(requests: Sequence[JobRequest]) -> list[Submitted]:
    """Store any number of jobs in one statement; what became of each, in order.

    Raises InvalidRequest, and TooManyWaiting when the tenant's backlog is full.
    """
    if not requests:
        return []
    _check_queues(requests)
    places = dict(enumerate(requests))
    _check_room(places)
    stored, identical = _place(places)
    for place in stored:
        telemetry.applied("submit", stored[place], queue=requests[place].queue)
    if any(requests[place].deferred for place in stored):
        store.wake_clock()
    dispatch.on_commit()
    return [
        Submitted(stored[place], False) if place in stored else Submitted(identical[place], True)
        for place in range(len(requests))
    ]


def _check_queues(requests: Sequence[JobRequest]) -> None:
    named = {request.queue for request in requests}
    there = set(Queue.objects.filter(name__in=named).values_list("name", flat=True))
    for place, request in enumerate(requests):
        if request.queue not in there:
            known = ", ".join(Queue.objects.order_by("name").values_list("name", flat=True))
            raise InvalidRequest("queue", f"{request.queue!r} is unknown; queues: {known}", place)


def _check_room(places: dict[int, JobRequest]) -> None:
    """Refuse what would make a tenant's backlog longer than it may be; who asks for a job that is there gets it still.

    Counted before the rows are stored: submits at the same moment may go over it together, by what they store.
    """
    tenants = {request.tenant_id for request in places.values()}
    limits = dict(TenantQueue.objects.filter(tenant__in=tenants).values_list("tenant_id", "max_waiting"))
    for tenant_id in tenants:
        own = limits.get(tenant_id)
        limit = settings.JOBS_MAX_WAITING if own is None else own
        asked = {place: request for place, request in places.items() if request.tenant_id == tenant_id}
        if store.count_waiting(tenant_id, limit + 1) + len(asked) <= limit:
            continue
        keyed = {place: request for place, request in asked.items() if request.dedup_key}
        if len(asked) > len(store.find_identical(keyed, settings.JOBS_DEDUP_WINDOW)):
            raise TooManyWaiting(limit)


def _place(waiting: dict[int, JobRequest]) -> tuple[dict[int, int], dict[int, int]]:
    """Store each request or find its identical job (I5).

    The unique index decides between two that arrive at once: the loser waits for the winner's transaction, and then
    either finds its job or, if that has ended or rolled back meanwhile, tries again.
    """
    stored: dict[int, int] = {}
    identical: dict[int, int] = {}
    while waiting:
        stored |= store.insert(waiting)
        waiting = {place: request for place, request in waiting.items() if place not in stored}
        if not waiting:
            break
        identical |= store.find_identical(waiting, settings.JOBS_DEDUP_WINDOW)
        waiting = {place: request for place, request in waiting.items() if place not in identical}
        if waiting:
            store.release_identical(waiting, settings.JOBS_DEDUP_WINDOW)
    return stored, identical
