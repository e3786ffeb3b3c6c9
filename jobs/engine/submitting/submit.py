"""Submit: store new jobs in the caller's transaction, or return the identical jobs that are under way."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from jobs import store
from jobs.authoring.current import caller
from jobs.calls.gathering import GatheredRequests
from jobs.calls.refusals import InvalidRequest, Passed, TenantMoves, TooManyWaiting, Undecided
from jobs.calls.request import GATHER, JobRequest
from jobs.engine.door import dispatch
from jobs.engine.submitting.identical_calls import IdenticalCalls
from jobs.engine.verbs.audit import note_job
from jobs.models import Pool, Queue
from jobs.store import Answer, Edge
from plumbing.bounds import MAX_SECONDS
from tenants.models import TenantQueue
from tenants.moving import address_of, in_words

MOST_TRIES = 10  # each waits for another transaction that decides about an identical job


class Submitted(NamedTuple):
    """The answer to a request: the id and status of its job, and whether that job existed before.

    created_at, due_at, expires_at: moments of a new job; None for a job that existed.
    """

    id: int
    deduplicated: bool
    status: str
    created_at: datetime | None = None
    due_at: datetime | None = None
    expires_at: datetime | None = None


def submit(request: JobRequest) -> Submitted:
    """Store one job. It exists if and only if the caller's transaction commits. Raises as `submit_all` does."""
    return submit_all([request])[0]


def submit_for(moment: datetime | None, request: Callable[..., JobRequest]) -> Submitted:
    """Submit `request(at=moment)`; or `request()` if there is no moment, or it has passed by the database's clock.

    For callers of other job systems: a moment without a time zone is in the project's zone, as in those systems. Raises
    as `submit_all` does.
    """
    if moment is not None:
        aware = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
        try:
            return submit(request(at=aware))
        except Passed:
            pass  # nothing was stored
    return submit(request())


def submit_by_hand(request: JobRequest) -> Submitted:
    """Store one job in a transaction of its own, and note it in the audit log if it is new.

    Raises as `submit_all` does.
    """
    with transaction.atomic():
        submitted = submit(request)
        if not submitted.deduplicated:
            note_job("submitted", submitted.id, request.tenant_id)
    return submitted


def submit_all(requests: Sequence[JobRequest]) -> list[Submitted]:
    """Store any number of jobs in one statement; return an answer for each, in order.

    Raises InvalidRequest (TenantMoves if a tenant moves elsewhere), TooManyWaiting if the tenant's backlog is full, and
    Undecided.
    """
    if not any(request.identical == GATHER for request in requests):
        return _submit_each(requests)
    gathered = GatheredRequests(requests)
    try:
        submitted = _submit_each(gathered.requests)
    except InvalidRequest as refused:
        refused.index = None if refused.index is None else gathered.firsts[refused.index]
        raise
    return [
        submitted[place] if gathered.firsts[place] == index else submitted[place]._replace(deduplicated=True)
        for index, place in enumerate(gathered.places)
    ]


def _submit_each(requests: Sequence[JobRequest]) -> list[Submitted]:
    identical = IdenticalCalls(requests)
    if not identical and not any(request.predecessors or request.sequence for request in requests):
        return _submit_all(requests, identical)
    with transaction.atomic():
        _refuse_unknown_predecessors(requests)
        identical.lock_identities()
        submitted = _submit_all(requests, identical)
        _note_edges(requests, submitted)
        if sequences := {(request.tenant_id, request.sequence) for request in requests if request.sequence}:
            store.note_sequences(sequences)
        identical.replace({index: job.id for index, job in enumerate(submitted)})
    return submitted


def _refuse_unknown_predecessors(requests: Sequence[JobRequest]) -> None:
    """Raise InvalidRequest for a predecessor that does not exist, or that is another tenant's.

    So predecessors make no circle, and a tenant learns nothing of another's jobs.
    """
    looked: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for index, request in enumerate(requests):
        edges = request.tenant_id, request.predecessors
        if edges[1] and edges not in looked:
            looked[edges] = store.unknown(request.predecessors, tenant_id=request.tenant_id)
        if unknown := looked.get(edges):
            field = "after" if unknown[0] in request.after else "after_end"
            raise InvalidRequest(field, f"there is no job {unknown[0]}", index)


def _note_edges(requests: Sequence[JobRequest], submitted: Sequence[Submitted]) -> None:
    edges = [
        Edge(predecessor, job.id, predecessor not in request.after, request.after_patience)
        for request, job in zip(requests, submitted, strict=True)
        if not job.deduplicated
        for predecessor in request.predecessors
    ]
    if edges:
        store.note_edges(edges)


def _submit_all(requests: Sequence[JobRequest], identical: IdenticalCalls) -> list[Submitted]:
    placed = {
        index: Submitted(job.id, True, job.status, due_at=job.due_at) for index, job in identical.gather().items()
    }
    left = [index for index in range(len(requests)) if index not in placed and identical.last(index) == index]
    for _ in range(MOST_TRIES):
        if not left:
            break
        placed |= _place(requests, left, identical)
        left = [index for index in left if index not in placed]
    if left:
        raise Undecided
    submitted = [
        placed[index] if index in placed else placed[identical.last(index)]._replace(deduplicated=True)
        for index in range(len(requests))
    ]
    if not all(job.deduplicated for job in submitted):
        dispatch.on_commit()
    return submitted


def _place(requests: Sequence[JobRequest], left: Sequence[int], identical: IdenticalCalls) -> dict[int, Submitted]:
    """Store these requests or find their identical jobs (I5), in one statement.

    Three kinds of requests get no answer yet; the next statement can answer them. In the first, the identical job is no
    valid answer and gives up its key now. In the second, a concurrent transaction stored or ended the identical job:
    the statement waited for that transaction, but its own snapshot is older. In the third, the identical job would have
    expired before the new call does, and it ended before it could be prolonged.
    """
    inserted = [requests[index] for index in left]
    behind = {nth: identical.behind[index] for nth, index in enumerate(left) if index in identical.behind}
    answers = store.insert(inserted, caller=caller().id, behind=behind)
    if answers[0].refused:
        raise _refusal(answers[0], requests, left)
    now = next(a.created_at for a in answers if a.nth == 0)
    untils = [(a.id, a.until) for a in answers if a.id and a.until]
    prolonged = _prolong(untils) if untils else set()
    placed = {
        left[a.nth]: Submitted(a.id, a.deduplicated, a.status, now, a.due_at, a.expires_at)
        for a in answers
        if a.id and (not a.until or a.id in prolonged)
    }
    hastened = [(a.id, requests[left[a.nth]]) for a in answers if a.id and a.hastens and left[a.nth] in placed]
    if holders := [(left[a.nth], a.holder) for a in answers if a.holder]:
        going_on = identical.take(holders)
        placed |= {index: Submitted(job.id, True, job.status, due_at=job.due_at) for index, job in going_on.items()}
    if len(placed) < len(left):
        # If two requests are identical, the first one stores the job.
        first = {requests[index].identity: index for index in placed if not placed[index].deduplicated}
        for index in left:
            if index not in placed and (twin := first.get(requests[index].identity)) is not None:
                placed[index] = placed[twin]._replace(deduplicated=True)
                if requests[index].priority < requests[twin].priority:
                    hastened.append((placed[twin].id, requests[index]))
    if hastened:
        dispatch.on_commit()  # a claim may have skipped the rows while they were locked
        store.hasten(hastened)
    return placed


def _prolong(untils: list[tuple[int, str]]) -> set[int]:
    """Let these jobs expire no earlier than the calls that join them; return those that have not ended."""
    dispatch.on_commit()  # a claim may have skipped the rows while they were locked
    return store.prolong(untils)


def _refusal(answer: Answer, requests: Sequence[JobRequest], left: Sequence[int]) -> Exception:
    if answer.bound is not None:
        moves = answer.bound < 0
        return _moves({requests[index].tenant_id for index in left}) if moves else TooManyWaiting(answer.bound)
    index = left[answer.nth]
    if answer.refused == "tenant":
        return InvalidRequest("tenant", "does not exist", index)
    if answer.refused in ("queue", "light"):
        request = requests[index]
        return _not_async(request, index) if answer.refused == "light" else _unknown_queue(request.queue, index)
    if answer.refused == "expired":
        return InvalidRequest("expires", "must be later than now, and than the moment at which the job is due", index)
    at = requests[index].at
    if at is not None and answer.refused == "past":
        return Passed("at", f"must be in the future; {at.isoformat()} is past", index)
    return InvalidRequest("at", f"must be within {MAX_SECONDS / 86400:.0f} days", index)


def _moves(tenant_ids: Collection[int]) -> TenantMoves:
    moving = TenantQueue.objects.filter(tenant_id__in=tenant_ids).exclude(moving="").order_by("tenant_id").first()
    if moving is None:  # it was opened meanwhile
        return TenantMoves("was moving: submit again")
    return TenantMoves(in_words(moving.moving, address_of(moving.tenant_id)))


def check_queue(request: JobRequest) -> None:
    """Refuse a queue that a submit would refuse: an unknown one, or of a light pool without threads for a `def`.

    Raises InvalidRequest.
    """
    queue = Queue.objects.filter(name=request.queue).first()
    if queue is None:
        raise _unknown_queue(request.queue)
    refuses = Pool.objects.filter(name=queue.pool, kind=Pool.Kind.LIGHT, threads=False)
    if not request.is_async and refuses.exists():
        raise _not_async(request)


def _not_async(request: JobRequest, index: int | None = None) -> InvalidRequest:
    pool = Queue.objects.values_list("pool", flat=True).filter(name=request.queue).first()
    job_type = f"{request.source_type}.{request.source_method}"
    why = f"{request.queue!r} is in the light pool {pool}, which runs only `async def`"
    remedy = f"make {job_type} `async def`, or let it use a queue of an ordinary pool, or of a light one with threads"
    return InvalidRequest("queue", f"{why}: {remedy}", index)


def _unknown_queue(name: str, index: int | None = None) -> InvalidRequest:
    known = ", ".join(Queue.objects.order_by("name").values_list("name", flat=True))
    return InvalidRequest("queue", f"{name!r} is unknown; known: {known}", index)
