"""Dispatch: door, waiting place, mailboxes, lanes, snapshots, row locks. I1 (strict limits) and I2 (no lost wake-up).

A pass is a list of steps, each of which PostgreSQL makes at one instant. Between two steps of one session any other may
make some of its own. A faulty protocol is another list, or a rule that is off.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from docs.model import passes, sessions
from docs.model.explorer import Step
from docs.model.lanes import FREED, UNSAID, Books, can_start, held_by, tenant_of
from docs.model.sessions import CHANGES, Session, State

# As claiming.py sends it. `fold` and `snapshot` (the claim) are the moments at which those statements begin: what they
# read is what was committed then. `lock` acts on the rows as they are now. `commit` is seen by others before `leave`
# frees the lock.
PASS = ("knock", "enter", "give_place", "fold", "snapshot", "lock", "commit", "leave")
CLOCK_PASS = PASS[1:]  # waits without a place

# What may happen to a waiting job, whose row is locked until the transaction ends: the change, the end, and whether a
# dispatch is asked for then.
EVENTS = {
    "cancel": ("cancels", "ends", True),
    "pause, asks for nothing": ("holds", "ends", False),
    "cancel, rolled back": ("cancels", "rolls_back", False),
    "identical submitted": ("gives up its key", "ends", True),
}


@dataclass(frozen=True)
class Door:
    """The protocol, and the world it is put in. A pass without `fold` keeps no lanes: it looks at all tenants."""

    owners: str = "AAB"  # the lane of each job; A and a are lanes of the tenant A
    slots: int = 1  # of each tenant
    capacity: int = 1  # of the pool
    sessions: int = 3
    moves: tuple[str, ...] = ("submits", "finishes")  # the acts of people and workers, each in one step
    events: tuple[str, ...] = ()  # changes of waiting jobs, so that other sessions meet a locked row
    deaths: int = 0  # how many sessions may die at a bad moment
    looks: tuple[str, ...] = ()  # the steps by which a submit finds out whether a dispatch is worth while
    dispatch: tuple[str, ...] = PASS
    batch: int = 99  # the most jobs that a pass takes
    spare: int = 8  # how many more of a lane's jobs a pass looks at than the lane may start
    visits: int = 99  # the most lanes that a pass visits
    cuts: bool = True  # a pass minds the jobs that it takes from other lanes of the tenant
    takes: int = 99  # the most letters that a fold takes
    remembers_always: bool = False  # the fold remembers its snapshot although it left some letters
    numbers: bool = False  # a move has two steps: a transaction may get its number early and commit late
    by_highest: bool = False  # the fold remembers the highest number that it took, not its snapshot
    tells: str = "with it"  # the letter comes in the same transaction, "afterwards", or the session writes the "lanes"
    untold: tuple[str, ...] = ()  # the moves that write no letter
    books: Books | None = None  # the books at first, if they are wrong
    held: int = 0  # how many jobs run at first
    opens_own: bool = False  # a freed slot opens its own lane only
    takes_off: tuple[str, ...] = (FREED,)  # the letters that the fold takes off the books
    adds: bool = True  # the claim adds to the books what it takes
    apart: bool = False  # the fold commits the books by itself
    index: bool = False  # the unique index on (tenant, slot) is there
    counting: tuple[str, ...] = ()  # the steps of a session that counts the books anew, at any time
    counts_letters: bool = True  # a recount includes the letters that no fold has taken
    tells_wrong: bool = True  # a recount tells the next fold whose books were wrong
    mends: bool = True  # a dispatch recounts if its pass met wrong books, or letters that do not name their slot
    mends_once: bool = False  # but it recounts only once
    exact: bool = True  # check the books
    limits: bool = True  # check I1
    net: bool = False  # check that the clock's dispatch heals any state of the others, instead of I2 without the clock
    clock: tuple[str, ...] = CLOCK_PASS
    pipelined: bool = True  # no client can stall inside the door
    goes_on: bool = True  # a dispatch makes further passes
    again_in_line: bool = False  # further passes wait in line also when they pass lanes over

    @property
    def keeps_lanes(self) -> bool:
        return "fold" in self.dispatch

    def start(self) -> State:
        jobs = ("held",) * self.held + ("to come",) * (len(self.owners) - self.held)
        right = held_by(self.owners, jobs)
        books = right if self.books is None else self.books
        doubt = "any" if books != right else ""
        return State(jobs, (Session(),) * self.sessions, books=books, doubt=doubt, deaths=self.deaths)

    def key(self, state: State) -> Hashable:
        if self.numbers:
            state = sessions.renumbered(state)
        alive = state.sessions if state.deaths else map(sessions.past_death, state.sessions)
        marked = ((s, i == state.inside, i == state.place) for i, s in enumerate(alive))
        kept = (state.lanes, state.books, state.doubt, state.mail, state.memory)
        return (*state[:1], tuple(sorted(marked)), *kept, state.ended, state.deaths)

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        idle_seen = False
        for me, session in enumerate(state.sessions):
            name = f"session {me + 1}"
            if session.todo:
                after = passes.step(self, state, me)
                if after is not None:
                    yield Step(name, passes.words(state, after, me), after)
                if state.deaths:
                    yield Step(name, "dies: the server frees what it held", sessions.died(state, me))
            elif not idle_seen:  # one idle session is like another
                idle_seen = True
                yield from self._begins(state, me, name)
                if self.counting:
                    yield Step(name, "wants the books counted anew", sessions.seat(state, me, Session(self.counting)))

    def _begins(self, state: State, me: int, name: str) -> Iterator[Step[State]]:
        theirs = sessions.locked(state, me)
        for job, status in enumerate(state.jobs):
            if job in theirs:
                continue
            if status == "to come" and job and job - 1 not in theirs and state.jobs[job - 1] == status:
                continue  # they come in order, but may be committed in another
            for move in self.moves:
                if status == CHANGES[move][0] and not self._waits_for_a_lane(state, job):
                    if move.startswith("follows"):
                        yield from self._follows(state, me, name, move, job)
                        continue
                    looks = self.looks if move == "submits" else ()
                    after = sessions.begun(self, state, me, move, job, todo=("ends", *looks, *self.dispatch))
                    if self.numbers:
                        yield Step(name, f"{move} {self.title(job)}", after)
                    else:
                        yield Step(name, f"{move} {self.title(job)}, commits", sessions.ends(self, after, me))
            for event in self.events if status == "created" else ():
                change, end, asks = EVENTS[event]
                todo = (end, *(self.dispatch if asks else ()))
                after = sessions.begun(self, state, me, change, job, todo=todo)
                yield Step(name, f"{event}: locks {self.title(job)}", after)

    def _follows(self, state: State, me: int, name: str, move: str, job: int) -> Iterator[Step[State]]:
        """Begin without a dispatch: the slice goes on, and the end of the next job asks for one."""
        following = sessions.next_of_lane(self, state, job, me)
        if following is not None:
            after = sessions.begun(self, state, me, move, job, following, todo=("ends",))
            yield Step(name, f"{move}: ends {self.title(job)}, locks {self.title(following)}", after)

    def _waits_for_a_lane(self, state: State, job: int) -> bool:
        return self.tells == "lanes" and any(self.owners[job] in session.wrote for session in state.sessions)

    def go_on(self, me: int, passed: str) -> tuple[str, ...]:
        if not self.goes_on:
            return ()
        if me == self.sessions:
            return self.clock
        in_line = self.again_in_line or not passed
        return self.dispatch if in_line else tuple(step for step in self.dispatch if step != "knock")

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        held = held_by(self.owners, state.jobs).tenants
        if self.limits and (len(held) > self.capacity or any(held.count(t) > self.slots for t in set(held))):
            return f"I1: {len(held)} held of {self.capacity}, by tenants {', '.join(held)}"
        wrong = self._wrong(state, held) if self.exact and self.keeps_lanes else None
        if wrong is not None:
            return wrong
        waiting = can_start(self, state.jobs)
        if waiting is None:
            return None
        if self.net:
            return self._missed_by_the_clock(state)
        if any(session.todo for session in state.sessions) or (state.doubt == "any" and self.counting):
            return None
        return f"I2: no session is about to dispatch, but {self.title(waiting)} could start"

    def _wrong(self, state: State, held: str) -> str | None:
        """Return how the books differ from what jobs hold, plus what letters free that no fold has taken."""
        letters = sessions.untaken(state)
        least = sorted([*held, *(letter.tenant for letter in letters if letter.kind == FREED)])
        books = state.books
        if books.tenants == "".join(least) and books.pool == len(least):
            return None
        said = f"books: {books.words()} in use, but {''.join(least) or 'none'} by jobs and letters"
        most = [*least, *(letter.tenant for letter in letters if letter.kind == UNSAID)]
        tenants = set(map(tenant_of, self.owners))
        low = books.pool < len(least) or any(books.tenants.count(t) < least.count(t) for t in tenants)
        high = books.pool > len(most) or any(books.tenants.count(t) > most.count(t) for t in tenants)
        doubt = state.doubt
        if doubt == "high" and not self.net and not any(session.todo for session in state.sessions):
            doubt = ""  # no session is about to recount
        return said if (low and doubt != "any") or (high and not doubt) else None

    def _missed_by_the_clock(self, state: State) -> str | None:
        """Let all sessions stall, except the pass inside the door, which the server carries out; then run the clock."""
        while self.pipelined and state.inside >= 0:
            state = passes.step(self, state, state.inside) or state
        clock = len(state.sessions)
        state = state._replace(sessions=(*state.sessions, Session(self.clock)))
        while state.sessions[clock].todo:
            after = passes.step(self, state, clock)
            if after is None:
                return "I2: all others stall, and the clock never gets in"
            state = after
        if state.doubt:
            return "books: all others stall, and the clock counts them not anew"
        missed = can_start(self, sessions.without(state.jobs, sessions.locked(state, clock)))
        if missed is None:
            return None
        return f"I2: all others stall, and the clock's pass leaves {self.title(missed)} waiting"

    def title(self, job: int) -> str:
        return f"{self.owners[job]}{job + 1}"

    def show(self, state: State) -> str:
        jobs = " ".join(f"{self.title(job)}:{status}" for job, status in enumerate(state.jobs) if status != "to come")
        parts = [jobs or "no jobs", *(f"{letter.kind} {letter.lane}" for letter in state.mail)]
        if self.keeps_lanes:
            parts += [f"{name}: {lanes}" for name, lanes in state.lanes._asdict().items() if lanes]
            parts += [f"books: {state.books.words()}"] if state.books != Books() else []
        parts += [f"inside: {state.inside + 1}"] if state.inside >= 0 else []
        parts += [f"in line: {state.place + 1}"] if state.place >= 0 else []
        return "  ".join(parts)
