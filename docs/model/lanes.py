"""What the door keeps, and what is decided by it: mailboxes and lanes, fold.sql and the chapters of claim.sql."""

from collections.abc import Collection
from typing import NamedTuple, Protocol

ARRIVAL, FREED = "arrival", "freed"
OLDER = "created, but changed since"  # in a snapshot: the row has a newer version, and waits all the same
UNSEEN = "held unseen"  # by a ticket that the door does not look for


class Letter(NamedTuple):
    """A row of `arrivals` or `freed_slots`. number: of the transaction that wrote it; 0 where numbers do not matter."""

    kind: str
    tenant: str
    number: int = 0


class Memory(NamedTuple):
    """Up to which snapshot letters were taken: its end, and the transactions that were under way then."""

    since: int = 0
    unseen: tuple[int, ...] = ()

    def is_new(self, letter: Letter) -> bool:
        return letter.number >= self.since or letter.number in self.unseen


class Lanes(NamedTuple):
    """One for each tenant. ready: the circle, in its order; closed: the tenant may start none now; others are empty."""

    ready: str = ""
    closed: str = ""

    def woken(self, letters: Collection[Letter]) -> str:
        """Whom those bring back: an arrival, a lane that is not ready; a freed slot, one that is closed."""
        told = {letter.tenant for letter in letters if letter.kind == ARRIVAL or letter.tenant in self.closed}
        return "".join(sorted(told - set(self.ready)))

    def moved(self, to: dict[str, str]) -> "Lanes":
        """Those leave the circle; who is ready then stands at its end, in this order."""
        ready = [tenant for tenant in self.ready if tenant not in to]
        ready += [tenant for tenant, state in to.items() if state == "ready"]
        closed = {tenant for tenant in self.closed if tenant not in to}
        closed |= {tenant for tenant, state in to.items() if state == "closed"}
        return Lanes("".join(ready), "".join(sorted(closed)))

    def written(self, by: "Lanes", wrote: str) -> "Lanes":
        """After a transaction that wrote those."""
        ready = {tenant: "ready" for tenant in by.ready if tenant in wrote}
        closed = {tenant: "closed" for tenant in by.closed if tenant in wrote}
        return self.moved(dict.fromkeys(wrote, "empty") | ready | closed)


class World(Protocol):
    """The limits. spare: how many more of a lane's jobs are looked at than are needed. visits: the most of a pass."""

    owners: str
    slots: int
    capacity: int
    batch: int
    spare: int
    visits: int


class Visit(NamedTuple):
    """front: the first jobs of a lane; wanted: how many of them its tenant may start."""

    tenant: str
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


def choose(world: World, jobs: tuple[str, ...], circle: str, passed: str) -> Choice:
    """Round the circle until there are as many lanes to serve as there is room for; then the least busy tenant first.

    Between equals the later tenant goes first: so a job that came later may be served earlier.
    """
    held = [world.owners[job] for job, status in enumerate(jobs) if status == "held"]
    free = world.capacity - len(held)
    room = max(min(free, world.batch), 0)
    visits: list[Visit] = []
    found = 0
    for tenant in circle if room else "":
        if found == room or len(visits) == world.visits:
            break
        busy = held.count(tenant)
        wanted = 0 if tenant in passed else min(max(world.slots - busy, 0), room)
        line = [j for j, was in enumerate(jobs) if was in {"created", OLDER} and world.owners[j] == tenant]
        visits.append(Visit(tenant, busy, wanted, tuple(line[: wanted + world.spare]) if wanted else ()))
        found += bool(visits[-1].front)
    ranked = sorted(
        (visit.busy + rank, -ord(visit.tenant), visit.tenant)
        for visit in visits
        for rank in range(min(visit.wanted, len(visit.front)))
    )
    chosen = [tenant for *_, tenant in ranked[:room]]
    serve = {tenant: chosen.count(tenant) for tenant in chosen}
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
        mine = sum(job in taken for job in visit.front)
        rest = len(visit.front) - mine
        if visit.tenant in passed:
            states[visit.tenant] = "ready"
        elif world.slots - visit.busy <= mine:
            states[visit.tenant] = "closed"
        elif not rest and len(visit.front) < visit.wanted + world.spare:
            states[visit.tenant] = "empty"
        else:
            states[visit.tenant] = "ready"
    return lanes.moved(states)


def can_start(world: World, jobs: tuple[str, ...]) -> int | None:
    """A job that waits although its tenant has a slot and the pool a place for it; whatever the lanes say."""
    held = [world.owners[job] for job, status in enumerate(jobs) if status in {"held", UNSEEN}]
    if len(held) < world.capacity:
        for job, status in enumerate(jobs):
            if status == "created" and held.count(world.owners[job]) < world.slots:
                return job
    return None
