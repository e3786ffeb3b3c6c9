"""What the door keeps, and what is decided by it: mailboxes, lanes, books; fold.sql and claim.sql."""

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

ARRIVAL, FREED = "arrival", "freed"
OPENS = "opens"  # a row of `freed_slots` that freed no slot: of other limits, a cancelled waiting job, a recount
UNSAID = "freed unsaid"  # a row of `freed_slots` that does not say which slot it freed: of an older release
OLDER = "created, but changed since"  # in a snapshot: the row has a newer version, and waits all the same


def tenant_of(lane: str) -> str:
    """A and a are lanes of the tenant A."""
    return lane.upper()


class Letter(NamedTuple):
    """A row of `arrivals` or `freed_slots`. number: of the transaction that wrote it; 0 where numbers do not matter."""

    kind: str
    lane: str
    number: int = 0

    @property
    def tenant(self) -> str:
        return tenant_of(self.lane)


class Memory(NamedTuple):
    """Up to which snapshot letters were taken: its end, and the transactions that were under way then."""

    since: int = 0
    unseen: tuple[int, ...] = ()

    def is_new(self, letter: Letter) -> bool:
        return letter.number >= self.since or letter.number in self.unseen


class Lanes(NamedTuple):
    """ready: the circle, in its order; closed: the tenant may start none now; others are empty."""

    ready: str = ""
    closed: str = ""

    def woken(self, letters: Collection[Letter], *, own: bool = False) -> str:
        """What those bring back: an arrival, a lane that is not ready; a freed slot, the closed ones of its tenant."""
        told = {letter.lane for letter in letters if letter.kind == ARRIVAL}
        freed = {letter.lane if own else letter.tenant for letter in letters if letter.kind != ARRIVAL}
        told |= {lane for lane in self.closed if (lane if own else tenant_of(lane)) in freed}
        return "".join(sorted(told - set(self.ready)))

    def moved(self, to: dict[str, str]) -> "Lanes":
        """Those leave the circle; who is ready then stands at its end, in this order."""
        ready = [lane for lane in self.ready if lane not in to]
        ready += [lane for lane, state in to.items() if state == "ready"]
        closed = {lane for lane in self.closed if lane not in to}
        closed |= {lane for lane, state in to.items() if state == "closed"}
        return Lanes("".join(ready), "".join(sorted(closed)))

    def written(self, by: "Lanes", wrote: str) -> "Lanes":
        """After a transaction that wrote those."""
        ready = {lane: "ready" for lane in by.ready if lane in wrote}
        closed = {lane: "closed" for lane in by.closed if lane in wrote}
        return self.moved(dict.fromkeys(wrote, "empty") | ready | closed)


class Books(NamedTuple):
    """What is in use. tenants: one letter for each slot of theirs. pool: how many of its processes."""

    tenants: str = ""
    pool: int = 0

    def less(self, tenants: Iterable[str]) -> "Books | None":
        """After those gave a slot back; None if they had not so many: in_use is never below 0."""
        left, gone = list(self.tenants), [*tenants]
        for tenant in gone:
            if tenant not in left:
                return None
            left.remove(tenant)
        return Books("".join(left), self.pool - len(gone)) if self.pool >= len(gone) else None

    def more(self, tenants: Iterable[str]) -> "Books":
        added = [*tenants]
        return Books("".join(sorted([*self.tenants, *added])), self.pool + len(added))

    def words(self) -> str:
        pool = "" if self.pool == len(self.tenants) else f", {self.pool} of the pool"
        return (self.tenants or "none") + pool


def held_by(owners: str, jobs: tuple[str, ...]) -> Books:
    """What the jobs hold, counted."""
    return Books().more(tenant_of(owners[job]) for job, status in enumerate(jobs) if status == "held")


class World(Protocol):
    """The limits. spare: how many more of a lane's jobs are looked at than are needed. visits: the most of a pass."""

    owners: str
    slots: int
    capacity: int
    batch: int
    spare: int
    visits: int
    cuts: bool


class Visit(NamedTuple):
    """front: the first jobs of a lane; wanted: how many of them its tenant may start."""

    lane: str
    busy: int
    wanted: int
    front: tuple[int, ...]


class Choice(NamedTuple):
    """What a claim decides on its snapshot. serve: how many jobs of each lane. whole: all of the circle was seen."""

    visits: tuple[Visit, ...]
    serve: dict[str, int]
    free: int
    candidates: int
    whole: bool


def choose(world: World, books: Books, jobs: tuple[str, ...], circle: str, passed: str) -> Choice:
    """Round the circle until there are as many lanes to serve as there is room for; then the least busy tenant first.

    Between equals the later tenant goes first: so a job that came later may be served earlier.
    """
    free = world.capacity - books.pool
    room = max(min(free, world.batch), 0)
    visits: list[Visit] = []
    found = 0
    for lane in circle if room else "":
        if found == room or len(visits) == world.visits:
            break
        busy = books.tenants.count(tenant_of(lane))
        wanted = 0 if lane in passed else min(max(world.slots - busy, 0), room)
        line = [j for j, was in enumerate(jobs) if was in {"created", OLDER} and world.owners[j] == lane]
        visits.append(Visit(lane, busy, wanted, tuple(line[: wanted + world.spare]) if wanted else ()))
        found += bool(visits[-1].front)
    ranked = sorted(
        (visit.busy + rank, -ord(visit.lane), visit.lane)
        for visit in visits
        for rank in range(min(visit.wanted, len(visit.front)))
    )
    chosen: list[str] = []
    for *_, lane in ranked:
        of_tenant = books.tenants.count(tenant_of(lane)) + sum(tenant_of(lane) == tenant_of(other) for other in chosen)
        if len(chosen) < room and (of_tenant < world.slots or not world.cuts):
            chosen.append(lane)
    serve = {lane: chosen.count(lane) for lane in chosen}
    return Choice(tuple(visits), serve, free, len(ranked), found < room and len(visits) < world.visits)


def more(world: World, choice: Choice, taken: Collection[int]) -> bool:
    """The verdict: whether another pass may find a place for a further job."""
    full = len(taken) >= choice.free
    cut = choice.candidates > len(taken) or not choice.whole or (taken and choice.free > world.batch)
    return not full and bool(cut)


def moved_on(world: World, lanes: Lanes, choice: Choice, taken: Collection[int], passed: str) -> Lanes:
    """Who was visited goes to the end of the circle, those who got nothing first, or leaves it."""
    states: dict[str, str] = {}
    for visit in sorted(choice.visits, key=lambda visit: any(job in taken for job in visit.front)):
        rest = sum(job not in taken for job in visit.front)
        of_tenant = sum(tenant_of(world.owners[job]) == tenant_of(visit.lane) for job in taken)
        if visit.lane in passed:
            states[visit.lane] = "ready"
        elif world.slots - visit.busy <= of_tenant:
            states[visit.lane] = "closed"
        elif not rest and len(visit.front) < visit.wanted + world.spare:
            states[visit.lane] = "empty"
        else:
            states[visit.lane] = "ready"
    return lanes.moved(states)


def can_start(world: World, jobs: tuple[str, ...]) -> int | None:
    """A job that waits although its tenant has a slot and the pool a place for it; whatever the lanes say."""
    held = held_by(world.owners, jobs).tenants
    if len(held) < world.capacity:
        for job, status in enumerate(jobs):
            if status == "created" and held.count(tenant_of(world.owners[job])) < world.slots:
                return job
    return None
