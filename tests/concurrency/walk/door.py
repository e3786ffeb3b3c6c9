"""What must be true of the notes of the door: lanes, letters, books."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import Arrival, Attempt, FreedSlot, Lane, Queue, QueueTurn, SpentBudget, TenantBook
from tenants.models import TenantQueue
from tests.concurrency.walk import naive
from tests.concurrency.walk.naive import Picture

Pair = tuple[int, int]  # tenant, queue


@dataclass(frozen=True)
class Notes:
    """All rows that the door writes, and the letters to it that it has not taken."""

    lanes: dict[Pair, Lane]
    turns: dict[int, QueueTurn]
    books: dict[int, TenantBook]
    arrivals: dict[Pair, list[Arrival]]
    freed: list[FreedSlot]
    spent: set[tuple[int, str]]

    def tokens(self, limits: TenantQueue | Queue, now: datetime) -> float:
        """Those in the bucket of a tenant or queue. Under another limit it lacks as many as before, if it can."""
        if limits.rate_limit is None:
            return math.inf
        notes = self.books.get(limits.tenant_id) if isinstance(limits, TenantQueue) else self.turns.get(limits.pk)
        if notes is None or notes.full_at is None:
            return limits.rate_limit
        limit, window = notes.full_limit or limits.rate_limit, notes.full_window or limits.rate_window
        seconds = (notes.full_at - now).total_seconds()
        lacks = min(seconds * limit / window, limit, limits.rate_limit) if 0 < seconds < 2 * window else 0.0
        return limits.rate_limit - lacks - 1e-6


def look() -> Notes:
    arrivals = defaultdict(list)
    for letter in Arrival.objects.all():
        arrivals[letter.tenant_id, letter.queue_id].append(letter)
    lanes = list(Lane.objects.all())
    assert len(lanes) == len({(lane.tenant_id, lane.queue_id) for lane in lanes}), "a lane has two rows"
    return Notes(
        {(lane.tenant_id, lane.queue_id): lane for lane in lanes},
        {turn.queue_id: turn for turn in QueueTurn.objects.all()},
        {book.tenant_id: book for book in TenantBook.objects.all()},
        arrivals,
        list(FreedSlot.objects.all()),
        set(SpentBudget.objects.values_list("tenant_id", "unit")),
    )


def wrong(picture: Picture, notes: Notes) -> Iterator[str]:
    yield from _wrong_books(picture, notes)
    yield from _lost_jobs(picture, notes)
    yield from _closed_lanes(picture, notes)
    yield from _held_lines(picture, notes)
    yield from _wrong_counts(picture, notes)
    yield from _wrong_units(picture, notes)


def overspent(before: Picture, after: Picture, noted: Notes) -> Iterator[str]:
    """The rate limits of which a dispatch took more tokens than there were."""
    held = {(job.id, job.attempt) for job in before.held}
    claimed = [job for job in after.held if (job.id, job.attempt) not in held]
    spent = Counter(after.queues[job.queue_id] for job in claimed)
    spent.update(after.tenants[job.tenant_id] for job in claimed if job.tenant_id in after.tenants)
    for limits, n in spent.items():
        if n > noted.tokens(limits, after.now) + 1e-3:
            yield f"{limits} has let {n} jobs start with fewer tokens"


def _wrong_books(picture: Picture, notes: Notes) -> Iterator[str]:
    """The books say what the jobs hold, and what was given back and no dispatch has taken off yet (I1)."""
    held = [*picture.held, *(letter for letter in notes.freed if letter.slot is not None)]
    n, tickets = Counter[object](), Counter[object]()
    for job in held:
        for book in (_pair(job), job.queue_id):
            n[book] += 1
            tickets[book] += job.ticket
    for key, book in (notes.lanes | notes.turns).items():
        if (book.in_use, book.tickets) != (n[key], tickets[key]):
            yield f"the book of {book} says {book.in_use}, in use are {n[key]}"
    for tenant, book in notes.books.items():
        mine = [job for job in held if job.tenant_id == tenant]
        slots = {number for part in book.slots for number in range(part.lower, part.upper)}
        users = Counter(job.user_key for job in mine if job.user_key)
        forgets = any(
            not release.job_id or release.followed for release in notes.freed if release.tenant_id == tenant
        )  # the next fold
        wrong_users = book.users not in (None, users) and not forgets
        if slots != {job.slot for job in mine} or book.in_use != len(mine) or wrong_users:
            yield f"the book of {book} says {slots}, {book.users}; in use are {mine}"
    for job in picture.held:
        if job.tenant_id in picture.tenants and (_pair(job) not in notes.lanes or job.tenant_id not in notes.books):
            yield f"job {job.id} is in no book"


def _pair(job: Any) -> Pair:
    return job.tenant_id, job.queue_id


def _lost_jobs(picture: Picture, notes: Notes) -> Iterator[str]:
    """Every ready job lies behind the head of a lane that will be visited, or a letter brings it there (I2)."""
    for job in picture.ready:
        pair = job.tenant_id, job.queue_id
        own_place = (job.priority << 58) + job.id
        if any(letter.head is not None and letter.head <= own_place for letter in notes.arrivals[pair]):
            continue
        lane, turn = notes.lanes.get(pair), notes.turns.get(job.queue_id)
        if lane is None or lane.state == "empty":
            yield f"no dispatch looks for job {job.id}: its lane is {lane and lane.state}"
        elif lane.head > own_place and not notes.arrivals[pair]:
            yield f"job {job.id} waits before the head of its lane"
        elif lane.state == "ready" and turn and lane.position <= turn.head:
            yield f"the lane of job {job.id} lies behind the head of the circle"


def _closed_lanes(picture: Picture, notes: Notes) -> Iterator[str]:
    """A lane is closed only while its tenant or its users may start no job of it, or a letter will open it (I2)."""
    used = naive.uses(picture)
    announced = {release.tenant_id for release in notes.freed}
    for job in picture.ready:
        pair = job.tenant_id, job.queue_id
        lane = notes.lanes.get(pair)
        if lane is None or lane.state != "closed" or job.tenant_id in announced or notes.arrivals[pair]:
            continue
        if lane.opens_at is not None and lane.opens_at <= picture.now:
            continue
        if naive.borrows(picture, used, job.tenant_id, 1) and lane.opens_at is not None:
            continue  # it rests, until there is something to lend
        if naive.may_start_of_tenant(job, picture, used, lambda limits: notes.tokens(limits, picture.now)):
            yield f"the lane of job {job.id} is closed, although its tenant could start it"


def _held_lines(picture: Picture, notes: Notes) -> Iterator[str]:
    """A lane or a queue is held as long as there is a row that says so, or a letter will hold it."""
    lines = {(hold.tenant_id, hold.queue_id) for hold in picture.holds}
    told = {(tenant, letter.queue_id) for letter in notes.freed if letter.holds for tenant in (0, letter.tenant_id)}
    held = {pair for pair, lane in notes.lanes.items() if lane.state == "held"}
    held |= {(0, pk) for pk, turn in notes.turns.items() if turn.opened_at is not None and turn.opened_at > picture.now}
    known = notes.lanes.keys() | {(0, pk) for pk in notes.turns}
    for pair in (lines & known ^ held) - told:
        yield f"the lane or queue {pair} is {'not ' if pair in lines else ''}held"


def _wrong_units(picture: Picture, notes: Notes) -> Iterator[str]:
    """The books have what the log has, less what no fold has taken; and what is noted as used up is so by the books."""
    logged, told = defaultdict(Counter), defaultdict(Counter)
    for tenant, units in Attempt.objects.exclude(units=None).values_list("tenant_id", "units"):
        logged[tenant].update(units)
    for one in notes.freed:
        for units in (one.units or {}).values():
            told[one.tenant_id].update(units)
    unsettled = {one.tenant_id for one in notes.freed if one.job_id == 0 or one.units}
    for tenant, limits in picture.tenants.items():
        book = notes.books.get(tenant)
        used = Counter()
        for units in (book.used or {}).values() if book else ():
            used.update(units)
        if book and +used != logged[tenant] - told[tenant]:
            yield f"tenant {tenant}: its book has {used}, and the log {logged[tenant]} less {told[tenant]}"
        due = {unit for unit, amount in limits.budgets.items() if used[unit] >= amount}
        if book and tenant not in unsettled and due != {unit for of, unit in notes.spent if of == tenant}:
            yield f"tenant {tenant}: its budgets of {due} are used up, and not what was noted: {notes.spent}"


def overran(before: Picture, after: Picture, spent: set[tuple[int, str]]) -> Iterator[str]:
    """Jobs that have started though a budget that they spend was, and is, used up."""
    began = {(job.id, job.attempt) for job in before.jobs if job.status == "running"}
    for job in after.jobs:
        starts = job.status == "running" and (job.id, job.attempt) not in began
        if starts and {(job.tenant_id, unit) for unit in job.spends or ()} & spent:
            yield f"job {job.id} has started, and its budget is used up"


def _wrong_counts(picture: Picture, notes: Notes) -> Iterator[str]:
    """The lanes' numbers of waiting jobs, the letters, and what has followed in slots add up to the jobs that wait."""
    known: Counter[Pair] = Counter()
    for pair, lane in notes.lanes.items():
        known[pair] += lane.waiting
    for pair, letters in notes.arrivals.items():
        known[pair] += sum(letter.jobs for letter in letters)
    for freed in notes.freed:
        known[freed.tenant_id, freed.queue_id] -= freed.followed
    for job in picture.held:
        known[job.tenant_id, job.queue_id] -= job.followed
    for job in picture.jobs:
        known[job.tenant_id, job.queue_id] -= job.slot is None and job.end_time is None
    for (tenant, queue), n in known.items():
        if n and tenant in picture.tenants:
            yield f"the lane of tenant {tenant} in queue {queue} is counted {n:+d} wrong"
