"""Dispatch: the door, the waiting place, snapshots and row locks. I1 (strict limits) and I2 (no lost wake-up).

A pass is a list of steps, each of which PostgreSQL makes at one instant; between two steps of one session any other may
make some of its own. A faulty protocol is another list.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from docs.model import passes
from docs.model.explorer import Step
from docs.model.passes import Session, State

# As claiming.py sends it. `snapshot` is the moment the claim's statement begins: all that it counts and ranks is what
# was committed then. `lock` acts on the rows as they are now. `commit` is seen by others before `leave` frees the lock.
PASS = ("knock", "enter", "give_place", "snapshot", "lock", "commit", "leave")
CLOCK_PASS = PASS[1:]  # waits without a place

# What may happen to a waiting job: its row is locked by a statement, and let go at the end of the transaction: then it
# waits no more (cancel, also a pause of its type), or as before (an old identical gives up its key). Not all ask.
EVENTS = {
    "cancel": "end_change",
    "pause, asks for nothing": "end_change",
    "cancel, rolled back": "let_go",
    "identical submitted": "let_go",
}
ASK = {"cancel", "identical submitted"}


@dataclass(frozen=True)
class Door:
    """The protocol, and the world it is put in.

    owners: the tenant of each job. slots: of each tenant. capacity: of the pool. events: what people and workers do,
    besides submitting and finishing. batch: the most that a pass takes. passes_over: a dispatch whose pass chose what
    others had locked, or changed, makes another one without those; again_in_line: that one waits in line, too.
    net: check that the clock's dispatch heals whatever state the others were left in, instead of I2 without the clock.
    """

    owners: str = "AAB"
    slots: int = 1
    capacity: int = 1
    sessions: int = 3
    events: tuple[str, ...] = ()
    deaths: int = 0
    dispatch: tuple[str, ...] = PASS
    batch: int = 99
    limits: bool = True  # check I1
    net: bool = False
    clock: tuple[str, ...] = CLOCK_PASS
    pipelined: bool = True  # no client can stall inside the door
    passes_over: bool = True
    again_in_line: bool = False
    revives: bool = False  # what has ended may wait again

    def start(self) -> State:
        return State(("to come",) * len(self.owners), (Session(),) * self.sessions, deaths=self.deaths)

    def key(self, state: State) -> Hashable:
        marked = ((s, i == state.inside, i == state.place) for i, s in enumerate(state.sessions))
        return (state.jobs, tuple(sorted(marked)), state.deaths)

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        idle_seen = False
        for me, session in enumerate(state.sessions):
            name = f"session {me + 1}"
            if session.todo:
                after = passes.step(self, state, me)
                if after is not None:
                    yield Step(name, passes.words(self, state, after, me), after)
                if state.deaths:
                    yield Step(name, "dies: the server frees what it held", passes.died(state, me))
            elif not idle_seen:  # one idle session is like another
                idle_seen = True
                yield from self._events(state, me, name)

    def _events(self, state: State, me: int, name: str) -> Iterator[Step[State]]:
        asks = Session(self.dispatch)
        for job, status in enumerate(state.jobs):
            title = self.title(job)
            if status == "to come" and (job == 0 or state.jobs[job - 1] != "to come"):
                yield Step(name, f"submits {title}, commits", passes.seat(state, me, asks, {job: "created"}))
            elif status == "held":
                yield Step(name, f"finishes {title}, commits", passes.seat(state, me, asks, {job: "done"}))
            elif status == "done" and self.revives:
                yield Step(name, f"revives {title}, commits", passes.seat(state, me, asks, {job: "created"}))
            elif status == "created" and job not in passes.locked(state, me):
                for event in self.events:
                    todo = (EVENTS[event], *(self.dispatch if event in ASK else ()))
                    yield Step(name, f"{event}: locks {title}", passes.seat(state, me, Session(todo, rows=(job,))))

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        held = [self.owners[job] for job, status in enumerate(state.jobs) if status == "held"]
        if self.limits and (len(held) > self.capacity or any(held.count(t) > self.slots for t in set(held))):
            return f"I1: {len(held)} held of {self.capacity}, by tenants {', '.join(held)}"
        waiting = self.choose(state.jobs)
        if not waiting:
            return None
        if self.net:
            return self._missed_by_the_clock(state)
        if any(session.todo for session in state.sessions):
            return None
        return f"I2: nobody is about to dispatch, but {self.title(waiting[0])} could be"

    def _missed_by_the_clock(self, state: State) -> str | None:
        """Everybody else stalls where they are; but who is inside the door is carried on by the server alone."""
        while self.pipelined and state.inside >= 0:
            state = passes.step(self, state, state.inside) or state
        clock = len(state.sessions)
        state = state._replace(sessions=(*state.sessions, Session(self.clock)))
        while state.sessions[clock].todo:
            after = passes.step(self, state, clock)
            if after is None:
                return "I2: all others stall, and the clock never gets in"
            state = after
        missed = self.choose(passes.without_locked(state, clock))
        return f"I2: all others stall, and the clock's pass leaves {self.title(missed[0])} waiting" if missed else None

    def again(self, me: int) -> tuple[str, ...]:
        if not self.passes_over:
            return ()
        if me == self.sessions:
            return self.clock
        return self.dispatch if self.again_in_line else tuple(step for step in self.dispatch if step != "knock")

    def choose(self, jobs: tuple[str, ...]) -> tuple[int, ...]:
        """What the claim takes on this snapshot: the head of each line, the least busy tenant first.

        Between equals the later tenant goes first: so a job that came later may be served earlier.
        """
        held = [self.owners[job] for job, status in enumerate(jobs) if status == "held"]
        free = min(self.capacity - len(held), self.batch)
        candidates = []
        for tenant in set(self.owners):
            line = [job for job, status in enumerate(jobs) if status == "created" and self.owners[job] == tenant]
            busy = held.count(tenant)
            candidates += [
                (busy + rank, -ord(tenant), job) for rank, job in enumerate(line[: max(self.slots - busy, 0)])
            ]
        return tuple(job for _, _, job in sorted(candidates)[: max(free, 0)])

    def title(self, job: int) -> str:
        return f"{self.owners[job]}{job + 1}"

    def show(self, state: State) -> str:
        jobs = " ".join(f"{self.title(job)}:{status}" for job, status in enumerate(state.jobs) if status != "to come")
        who = [f"inside: {state.inside + 1}"] if state.inside >= 0 else []
        who += [f"in line: {state.place + 1}"] if state.place >= 0 else []
        return "  ".join([jobs or "no jobs", *who])
