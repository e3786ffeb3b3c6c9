"""Dispatch: the door, the waiting place, snapshots and row locks. I1 (strict limits) and I2 (no lost wake-up).

A pass is a list of steps, each of which PostgreSQL makes at one instant; between two steps of one session any other may
make some of its own. A faulty protocol is another list.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from docs.model.explorer import Step

# As claiming.py sends it. `snapshot` is the moment the claim's statement begins: all that it counts and ranks is what
# was committed then. `lock` acts on the rows as they are now. `commit` is seen by others before `leave` frees the lock.
PASS = ("knock", "enter", "give_place", "snapshot", "lock", "commit", "leave")
CLOCK_PASS = PASS[1:]  # waits without a place


class Session(NamedTuple):
    """A connection of a web process, worker or clock. todo: the steps before it; empty: at home."""

    todo: tuple[str, ...] = ()
    chosen: tuple[int, ...] = ()  # what its snapshot says it may take
    rows: tuple[int, ...] = ()  # what it has locked


class State(NamedTuple):
    """jobs: what is committed, a word for each."""

    jobs: tuple[str, ...]
    sessions: tuple[Session, ...]
    inside: int = -1  # who holds the door's lock
    place: int = -1  # who holds the waiting place
    deaths: int = 0  # how many sessions may still end at a bad moment


@dataclass(frozen=True)
class Door:
    """The protocol, and the world it is put in.

    owners: the tenant of each job. slots: of each tenant. capacity: of the pool. events: what people and workers do,
    besides submitting and finishing. batch: the most that a pass takes. net: check that the clock's pass heals whatever
    state the others were left in, instead of I2 without the clock.
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
    cancels_end: bool = True  # no transaction that locks a row of the line stays open

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
                after = STEPS[session.todo[0]](self, state, me)
                if after is not None:
                    yield Step(name, _words(state, after, me), after)
                if state.deaths:
                    yield Step(name, "dies: the server frees what it held", _died(state, me))
            elif not idle_seen:  # one idle session is like another
                idle_seen = True
                yield from self._events(state, me, name)

    def _events(self, state: State, me: int, name: str) -> Iterator[Step[State]]:
        for job, status in enumerate(state.jobs):
            title = self.title(job)
            if status == "to come" and (job == 0 or state.jobs[job - 1] != "to come"):
                yield Step(name, f"submits {title}, commits", _with(state, me, Session(self.dispatch), {job: "created"}))
            elif status == "held":
                yield Step(name, f"finishes {title}, commits", _with(state, me, Session(self.dispatch), {job: "done"}))
            elif status == "created" and job not in _locked(state, me):
                for event in self.events:
                    todo = EVENTS[event] + (self.dispatch if event == "cancel" else ())
                    yield Step(name, f"{event}: locks {title}", _with(state, me, Session(todo, rows=(job,))))

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
        if self.cancels_end and any(session.todo and session.todo[0] in ENDINGS for session in state.sessions):
            return None
        while self.pipelined and state.inside >= 0:
            state = self._next(state, state.inside)
        clock = len(state.sessions)
        state = state._replace(sessions=(*state.sessions, Session(self.clock)))
        while state.sessions[clock].todo:
            after = STEPS[state.sessions[clock].todo[0]](self, state, clock)
            if after is None:
                return "I2: all others stall, and the clock never gets in"
            state = after
        missed = [job for job in self.choose(state.jobs) if job not in _locked(state, clock)]
        missed = missed or [job for job in self.choose(self._without_locked(state)) if state.jobs[job] == "created"]
        return f"I2: all others stall, and the clock's pass leaves {self.title(missed[0])} waiting" if missed else None

    def _without_locked(self, state: State) -> tuple[str, ...]:
        locked = _locked(state, -1)
        return tuple("locked" if job in locked else status for job, status in enumerate(state.jobs))

    def _next(self, state: State, me: int) -> State:
        after = STEPS[state.sessions[me].todo[0]](self, state, me)
        return state if after is None else after

    def choose(self, jobs: tuple[str, ...]) -> tuple[int, ...]:
        """What the claim takes on this snapshot: of each tenant's line the head, the least busy tenant first."""
        held = [self.owners[job] for job, status in enumerate(jobs) if status == "held"]
        free = min(self.capacity - len(held), self.batch)
        line: dict[str, list[int]] = {}
        for job, status in enumerate(jobs):
            if status == "created":
                line.setdefault(self.owners[job], []).append(job)
        candidates = [
            (held.count(tenant) + rank, job)
            for tenant, waiting in line.items()
            for rank, job in enumerate(waiting[: max(self.slots - held.count(tenant), 0)])
        ]
        return tuple(job for _, job in sorted(candidates)[: max(free, 0)])

    def title(self, job: int) -> str:
        return f"{self.owners[job]}{job + 1}"

    def show(self, state: State) -> str:
        jobs = " ".join(f"{self.title(job)}:{status}" for job, status in enumerate(state.jobs) if status != "to come")
        who = [f"inside: {state.inside + 1}"] if state.inside >= 0 else []
        who += [f"in line: {state.place + 1}"] if state.place >= 0 else []
        return "  ".join([jobs or "no jobs", *who])


# --- the steps: the state afterwards, or None while it has to wait ---------------------------------------------


def _with(state: State, me: int, session: Session, changed: dict[int, str] | None = None) -> State:
    sessions = (*state.sessions[:me], session, *state.sessions[me + 1 :])
    if not changed:
        return state._replace(sessions=sessions)
    jobs = tuple(changed.get(job, status) for job, status in enumerate(state.jobs))
    return state._replace(sessions=sessions, jobs=jobs)


def _on(state: State, me: int) -> State:
    """One step further."""
    session = state.sessions[me]
    return _with(state, me, session._replace(todo=session.todo[1:]))


def _locked(state: State, me: int) -> set[int]:
    """The rows that others have locked."""
    return {row for i, session in enumerate(state.sessions) if i != me for row in session.rows}


def _died(state: State, me: int) -> State:
    state = _with(state, me, Session())
    return state._replace(
        inside=-1 if state.inside == me else state.inside,
        place=-1 if state.place == me else state.place,
        deaths=state.deaths - 1,
    )


def knock(_: Door, state: State, me: int) -> State:
    if state.place >= 0:
        return _with(state, me, Session())  # goes home
    return _on(state, me)._replace(place=me)


def enter(_: Door, state: State, me: int) -> State | None:
    return None if state.inside >= 0 else _on(state, me)._replace(inside=me)


def enter_or_go_home(_: Door, state: State, me: int) -> State:
    return _with(state, me, Session()) if state.inside >= 0 else _on(state, me)._replace(inside=me)


def give_place(_: Door, state: State, me: int) -> State:
    return _on(state, me)._replace(place=-1 if state.place == me else state.place)


def snapshot(model: Door, state: State, me: int) -> State:
    session = state.sessions[me]
    return _with(state, me, session._replace(todo=session.todo[1:], chosen=model.choose(state.jobs)))


def lock(_: Door, state: State, me: int) -> State:
    """FOR UPDATE SKIP LOCKED, and the guard once more on the row as it is now."""
    session, taken = state.sessions[me], _locked(state, me)
    rows = tuple(job for job in session.chosen if job not in taken and state.jobs[job] == "created")
    return _with(state, me, Session(session.todo[1:], rows=rows))


def commit(_: Door, state: State, me: int) -> State:
    session = state.sessions[me]
    return _with(state, me, Session(session.todo[1:]), dict.fromkeys(session.rows, "held"))


def leave(_: Door, state: State, me: int) -> State:
    return _on(state, me)._replace(inside=-1)


def end_cancel(_: Door, state: State, me: int) -> State:
    session = state.sessions[me]
    return _with(state, me, Session(session.todo[1:]), dict.fromkeys(session.rows, "done"))


def roll_back(_: Door, state: State, me: int) -> State:
    return _with(state, me, Session())


STEPS: dict[str, Callable[[Door, State, int], State | None]] = {
    function.__name__: function
    for function in (knock, enter, enter_or_go_home, give_place, snapshot, lock, commit, leave, end_cancel, roll_back)
}
# A row of the line is locked, and let go at the end of the transaction. Only after a cancel is a dispatch asked for.
EVENTS = {"cancel": ("end_cancel",), "cancel, rolled back": ("roll_back",), "pause its type": ("end_cancel",)}
ENDINGS = {"end_cancel", "roll_back"}


def _words(before: State, after: State, me: int) -> str:
    """What a step came to."""
    step, session = before.sessions[me].todo[0], after.sessions[me]
    if step in {"knock", "enter_or_go_home"} and not session.todo:
        return f"{step}: goes home"
    if step == "snapshot":
        return f"snapshot: may take {len(session.chosen)}"
    if step == "lock":
        return f"lock: got {len(session.rows)} of {len(before.sessions[me].chosen)}"
    return step.replace("_", " ")
