"""Take the arrivals and releases since the last dispatch into the books (jobs/sql/claiming/fold.sql)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from math import inf
from operator import attrgetter

from jobs.allocation.books import Books
from jobs.allocation.state import CLOSED, FULL, HELD, READY, Freed, Lane, Queue

SHORTEST_CHARGE = 0.001  # seconds
PRICE_OF_A_PROCESS = 1.1  # seconds that an attempt is charged if it ended its process
LANES_TO_OPEN = 100  # the most that one fold opens because of tokens, or to lend to them
FORGOTTEN = 0.9  # the part of the former mean that stays after a further attempt


def fold(books: Books, now: float, *, borrow: bool) -> bool:
    """Take the arrivals and releases into the books; return whether lanes with a token may be left to the next pass.

    borrow: also open lanes that rest, or still wait for a token
    """
    for queue in books.limited:
        queue.spend(0, now)
    books.limited.clear()
    freed, arrivals = books.freed, books.arrivals
    books.freed, books.arrivals = [], []
    of_lane, of_queue = _charges(freed, now)
    let_go = _hold(books, now)
    opened, more = _opened(books, freed, inf if borrow else now)
    for lane, seconds in of_lane.items():
        lane.virtual_time += seconds / lane.tenant.weight
    _wake(books, arrivals, opened + let_go)
    for queue, each in of_queue.items():
        total, attempts = sum(each), len(each)
        queue.virtual_time += total / queue.weight
        queue.mean_seconds += (total / attempts - queue.mean_seconds) * (1 - FORGOTTEN**attempts)
    _give_back(books, freed)
    books.changed.clear()
    books.resized.clear()
    return more


def _charges(freed: Iterable[Freed], now: float) -> tuple[Mapping[Lane, float], Mapping[Queue, Sequence[float]]]:
    """Return the seconds to charge: to each lane in all, and to each queue for each attempt.

    A lane is charged at least the price of a token for each attempt.
    """
    of_lane: defaultdict[Lane, float] = defaultdict(float)
    of_queue: defaultdict[Queue, list[float]] = defaultdict(list)
    for release in freed:
        lane, queue = release.lane, release.lane.queue
        took = (PRICE_OF_A_PROCESS if release.lost else 0.0) + min(
            max(release.seconds, SHORTEST_CHARGE), release.at_most
        )
        of_lane[lane] += max(took, _price_of_token(queue, now))
        of_queue[queue].append(took)
    return of_lane, of_queue


def _price_of_token(queue: Queue, now: float) -> float:
    """Return the price of a token in seconds: what the processes could work until it comes again.

    It is 0 without a rate limit or processes, and while more than half of the tokens are left.
    """
    if queue.rate_limit is None or queue.rate_window is None or not queue.pool.processes:
        return 0.0
    if queue.tokens(now) > (queue.rate_limit + 1) / 2:
        return 0.0
    processes = queue.pool.processes if queue.concurrency is None else min(queue.pool.processes, queue.concurrency)
    return processes * queue.rate_window / queue.rate_limit


def _hold(books: Books, now: float) -> list[Lane]:
    """Close the lanes and queues that jobs hold; open the queues, and return the lanes, whose last hold is over."""
    let_go = [line for line in _let_go(books, now) if not line.holds]
    for line in let_go:
        if isinstance(line, Queue):
            line.held = False
    for line in books.lines_held:
        if line.holds and isinstance(line, Queue):
            line.held = True
        elif line.holds and isinstance(line, Lane) and line.state is not HELD:
            if line.state is READY:
                _out_of(line.queue.circle, line)
            line.state = HELD
            books.opens(line, None)
    books.lines_held.clear()
    return [line for line in let_go if isinstance(line, Lane) and line.state is HELD]


def _let_go(books: Books, now: float) -> list[Lane | Queue]:
    """Take off the holds that are over; return their lanes and queues."""
    over = []
    while books.holding and books.holding[0][0] <= now:
        over.append(heappop(books.holding))
    for entry in over:
        _, _, hold, line = entry
        if hold.in_line:
            line.holds.remove(hold)
        else:
            heappush(books.holding, entry)
    return list({line: None for _, _, hold, line in over if hold.in_line})


def _opened(books: Books, freed: Iterable[Freed], upto: float) -> tuple[list[Lane], bool]:
    """Return the closed lanes that may open, and whether lanes with a token may be left to the next pass.

    A full lane opens when a slot of its own is free, or its limit has changed: its tenant's or its queue's.

    upto: open the lanes whose tokens come by this moment; at infinity also those that rest
    """
    tenants = {release.lane.tenant for release in freed} | {books.tenants[number] for number in books.changed}
    lanes = [lane for tenant in tenants for lane in tenant.lanes.values() if lane.state is CLOSED]
    lanes += {lane: None for lane in _may_be_resized(books, freed) if lane.state is FULL}
    opening: list[Lane] = []
    while books.opening and books.opening[0][0] <= upto and len(opening) < LANES_TO_OPEN:
        moment, _, lane = heappop(books.opening)
        if lane.opens_at == moment:
            lane.opens_at = None
            opening.append(lane)
    if upto == inf:
        opening += islice(books.resting, LANES_TO_OPEN - len(opening))
    lanes += [lane for lane in opening if lane.state is CLOSED and lane.tenant not in tenants]
    return lanes, upto < inf and len(opening) == LANES_TO_OPEN


def _may_be_resized(books: Books, freed: Iterable[Freed]) -> Iterator[Lane]:
    """Yield the lanes that gave a slot back, and those whose limits may have changed."""
    yield from (release.lane for release in freed)
    yield from (
        lane for number, limits in books.changed.items() if limits for lane in books.tenants[number].lanes.values()
    )
    for queue in books.resized:
        yield from (tenant.lanes[queue.id] for tenant in books.tenants.values() if queue.id in tenant.lanes)


def _wake(books: Books, arrivals: list[Lane], opened: list[Lane]) -> None:
    """Return lanes to the end of their circles, in the order in which they left them, or let them be visited next.

    A lane is visited next if it has used less than its share. A lane in which work arrived may have used one attempt
    more. New lanes come first. A lane in the circle moves only if no job waits in it before the first that arrived, as
    when its last jobs had followed in slots.
    """
    begun, woken = [], []
    for lane in arrivals:
        head, lane.news = lane.news or 0, None
        for job in lane.arrived:
            lane.line.add(job)
        lane.arrived.clear()
        if lane.position is None:
            lane.head = head
            begun.append(lane)
        else:
            lane.head = min(lane.head, head)
            if lane.state is HELD and lane.holds:
                continue
            if lane.state is not READY or (least := lane.line.least) is None or least >= head:
                woken.append(lane)
    came = set(woken)
    begun.sort(key=attrgetter("head"))
    woken += [lane for lane in opened if lane not in came]
    woken.sort(key=_position)
    for lane in begun + woken:
        queue = lane.queue
        spared = queue.mean_seconds / lane.tenant.weight if lane.position is None or lane in came else 0.0
        is_next = lane.virtual_time < queue.lane_time + spared
        if lane.state is not READY:
            lane.position = books.place(queue.head if is_next else None)
        elif is_next:
            lane.position = min(_out_of(queue.circle, lane), books.place(queue.head))
        else:
            continue
        lane.state = READY
        queue.ready = True
        books.opens(lane, None)
        heappush(queue.circle, (lane.position, lane))


def _out_of(circle: list[tuple[int, Lane]], lane: Lane) -> int:
    """Take a lane out of the circle; return its position there."""
    position = _position(lane)
    circle.remove((position, lane))
    heapify(circle)
    return position


def _give_back(books: Books, freed: Iterable[Freed]) -> None:
    """Take the freed slots off the books.

    A tenant's users must be counted anew after its limits changed, and after a slot in which jobs followed.
    """
    for release in freed:
        lane, tenant = release.lane, release.lane.tenant
        for book in (lane, lane.queue):
            book.in_use -= 1
            book.tickets -= release.ticket
        lane.queue.pool.in_use -= 1
        tenant.in_use -= 1
        tenant.uses(release.user, -1)
        tenant.counted = tenant.counted and not release.followed
    for number, limits in books.changed.items():
        if limits:
            books.tenants[number].counted = False


def _position(lane: Lane) -> int:
    return lane.position or 0
