"""Submit: store new jobs inside the caller's transaction, or return the identical ones that are under way."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from jobs import store, telemetry
from jobs.engine import dispatch
from jobs.models import Queue
from jobs.request import InvalidRequest, JobRequest


@dataclass(frozen=True)
class Submitted:
    """What became of a request: the id of its job, and whether that was there before."""

    id: int
    deduplicated: bool


def submit(request: JobRequest) -> Submitted:
    """Store one job. It exists if and only if the caller's transaction commits. Raises InvalidRequest."""
    return submit_all([request])[0]


def submit_all(requests: Sequence[JobRequest]) -> list[Submitted]:
    """Store any number of jobs in one statement; what became of each, in order. Raises InvalidRequest."""
    if not requests:
        return []
    _check_queues(requests)
    stored, identical = _place(dict(enumerate(requests)))
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
    if unknown := named - set(Queue.objects.filter(name__in=named).values_list("name", flat=True)):
        known = ", ".join(Queue.objects.order_by("name").values_list("name", flat=True))
        raise InvalidRequest("queue", f"{min(unknown)!r} is unknown; queues: {known}")


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
