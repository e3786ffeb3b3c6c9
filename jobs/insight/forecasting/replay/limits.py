"""Bring the limits of a record into the books: those in force, as they changed, and those of a hypothesis."""

from collections.abc import Iterator
from typing import Any

from jobs.allocation.books import Books
from jobs.allocation.state import Queue, Tenant
from jobs.insight.forecasting.replay.record import POOL, QUEUE, TENANT, Change, Hypothesis, Limits, Record

NO_PROCESSES: Limits = {"processes": 0, "leaving": 0, "seats": None}
GONE: dict[str, Limits] = {POOL: NO_PROCESSES, QUEUE: {"paused": True}, TENANT: {"num_slots": None}}


def books_of(record: Record, hypothesis: Hypothesis) -> tuple[Books, list[Change]]:
    """Return the books at the beginning of the warm-up, and the later changes, in order.

    The first recorded limits of a tenant, queue or pool also apply to the time before them.
    """
    first: dict[tuple[str, int | str], Limits] = {}
    later: list[Change] = []
    for change in record.changes:
        key = change.kind, change.subject
        if key not in first:
            first[key] = _present(change)
        else:
            later.append(change)
    books = Books()
    for (kind, subject), limits in first.items():
        if kind == POOL:
            _staff(books, subject, limits)
    for (kind, subject), limits in first.items():
        if kind == QUEUE:
            pool = books.pool(limits.get("pool", "default"))
            books.add_queue(Queue(id=int(subject), **_known(Queue, limits) | {"pool": pool}))
        elif kind == TENANT:
            books.add_tenant(Tenant(id=int(subject), **_known(Tenant, limits)))
    would_be = [
        Change(0.0, kind, subject, {**_then(record, subject), **limits} if kind == POOL else limits)
        for (kind, subject), limits in hypothesis.items()
    ]
    return books, sorted([*_as_it_was(later, hypothesis), *would_be], key=lambda change: change.at)


def apply(change: Change, books: Books) -> None:
    """Apply a change to the books. A tenant or queue that they lack has no replayed jobs; its change is ignored."""
    limits = _present(change)
    if change.kind == POOL:
        _staff(books, change.subject, limits)
    elif change.kind == QUEUE and int(change.subject) in books.queues:
        books.limit_queue(books.queues[int(change.subject)], **_known(Queue, limits))
    elif change.kind == TENANT and int(change.subject) in books.tenants:
        books.limit_tenant(books.tenants[int(change.subject)], **_known(Tenant, limits))


def _staff(books: Books, pool: int | str, limits: Limits) -> None:
    """Give a pool its processes, each with its seats; a job that still runs elsewhere takes none of them."""
    known = {**NO_PROCESSES, **limits}
    capacity = known["processes"] * (known["seats"] or 1) + known["leaving"]
    books.pool(str(pool), capacity, light=known["seats"] is not None)


def _then(record: Record, pool: int | str) -> Limits:
    """Return the processes and seats of a pool at the beginning of the window; the first that are known."""
    noted = [change for change in record.changes if change.kind == POOL and change.subject == pool]
    before = [change for change in noted if change.at <= 0] or noted[:1]
    return _present(before[-1]) if before else NO_PROCESSES


def _present(change: Change) -> Limits:
    """Return the limits of the change; those of GONE if the pool, queue or tenant was deleted."""
    return change.limits or GONE[change.kind]


def _as_it_was(later: list[Change], hypothesis: Hypothesis) -> Iterator[Change]:
    for change in later:
        would_be = hypothesis.get((change.kind, change.subject))
        if would_be is None or change.limits is None or change.at < 0:
            yield change
        else:
            yield Change(change.at, change.kind, change.subject, {**change.limits, **would_be})


def _known(kind: type[Queue | Tenant], limits: Limits) -> dict[str, Any]:
    """Return the limits that the books have."""
    return {name: value for name, value in limits.items() if name in kind.__dataclass_fields__}
