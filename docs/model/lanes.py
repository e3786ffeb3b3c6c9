"""The door's memory and its decisions: letters, lanes, books; fold.sql and claim.sql."""

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

ARRIVAL, FREED = "arrival", "freed"
OPENS = "opens"  # a row of `freed_slots` that freed no slot: changed limits, a cancelled waiting job, a recount
UNSAID = "freed unsaid"  # a row of `freed_slots` that does not name the slot that it freed: an older release wrote it
OLDER = "created, but changed since"  # in a snapshot: the row has a newer version, and waits all the same


def tenant_of(lane: str) -> str:
    """Return the tenant of a lane: A and a are lanes of the tenant A."""
    return lane.upper()


class Letter(NamedTuple):
    """A row of `arrivals` or `freed_slots`."""

    kind: str
    lane: str
    number: int = 0  # the number of the transaction that wrote it; 0 where numbers do not matter

    @property
    def tenant(self) -> str:
        return tenant_of(self.lane)


class Memory(NamedTuple):
    """The snapshot up to which letters were taken: its end, and the transactions that were under way then."""

    since: int = 0
    unseen: tuple[int, ...] = ()

    def is_new(self, letter: Letter) -> bool:
        return letter.number >= self.since or letter.number in self.unseen


class Lanes(NamedTuple):
    """The states of lanes. A lane that is neither ready nor closed is empty."""

    ready: str = ""  # the circle, in its order
    closed: str = ""  # lanes whose tenant may start no job now

    def woken(self, letters: Collection[Letter], *, own: bool = False) -> str:
        """Return the lanes that these letters bring back to the circle.

        An arrival brings back its lane if that is not ready; a freed slot brings back the closed lanes of its tenant.
        """
        told = {letter.lane for letter in letters if letter.kind == ARRIVAL}
        freed = {letter.lane if own else letter.tenant for letter in letters if letter.kind != ARRIVAL}
        told |= {lane for lane in self.closed if (lane if own else tenant_of(lane)) in freed}
        return "".join(sorted(told - set(self.ready)))

    def moved(self, to: dict[str, str]) -> "Lanes":
        """Let these lanes leave the circle; those that are ready then stand at its end, in this order."""
        ready = [lane for lane in self.ready if lane not in to]
        ready += [lane for lane, state in to.items() if state == "ready"]
        closed = {lane for lane in self.closed if lane not in to}
        closed |= {lane for lane, state in to.items() if state == "closed"}
        return Lanes("".join(ready), "".join(sorted(closed)))

    def written(self, by: "Lanes", wrote: str) -> "Lanes":
        """Return the lanes after a transaction that wrote some of them."""
        ready = {lane: "ready" for lane in by.ready if lane in wrote}
        closed = {lane: "closed" for lane in by.closed if lane in wrote}
        return self.moved(dict.fromkeys(wrote, "empty") | ready | closed)


class Books(NamedTuple):
    """The slots in use."""

    tenants: str = ""  # the letter of a tenant for each slot that it uses
    pool: int = 0  # how many processes of the pool are in use

    def less(self, tenants: Iterable[str]) -> "Books | None":
        """Return the books after these gave a slot back; None if they had fewer: in_use is never below 0."""
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
    """Count the slots that the jobs hold."""
    return Books().more(tenant_of(owners[job]) for job, status in enumerate(jobs) if status == "held")


class World(Protocol):
    """The limits of the world: see Door."""

    owners: str
    slots: int
    capacity: int
    batch: int
    spare: int
    visits: int
    cuts: bool


class Visit(NamedTuple):
    """A pass's visit of a lane."""

    lane: str
    busy: int  # the slots that its tenant uses
    wanted: int  # how many jobs its tenant may start
    front: tuple[int, ...]  # the first jobs of the lane


class Choice(NamedTuple):
    """The decision of a claim on its snapshot."""

    visits: tuple[Visit, ...]
    serve: dict[str, int]  # how many jobs of each lane
    free: int  # free processes of the pool
    candidates: int  # how many jobs could have been chosen
    whole: bool  # the pass has seen all of the circle


def choose(world: World, books: Books, jobs: tuple[str, ...], circle: str, passed: str) -> Choice:
    """Go round the circle until there are as many lanes to serve as there is room for; serve the least busy first.

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
    """Return the verdict: whether another pass may find a place for a further job."""
    full = len(taken) >= choice.free
    cut = choice.candidates > len(taken) or not choice.whole or (taken and choice.free > world.batch)
    return not full and bool(cut)


def moved_on(world: World, lanes: Lanes, choice: Choice, taken: Collection[int], passed: str) -> Lanes:
    """Move each visited lane to the end of the circle, those that got no job first, or out of it."""
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
    """Return a job that waits although its tenant has a slot and the pool a place for it, in any state of the lanes."""
    held = held_by(world.owners, jobs).tenants
    if len(held) < world.capacity:
        for job, status in enumerate(jobs):
            if status == "created" and held.count(tenant_of(world.owners[job])) < world.slots:
                return job
    return None
