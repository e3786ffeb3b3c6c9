"""The steps of a dispatch, one for each statement: the state afterwards, or None while it has to wait."""

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol


class Session(NamedTuple):
    """A connection of a web process, worker or clock. todo: the steps before it; empty: at home."""

    todo: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()  # its snapshot
    rows: tuple[int, ...] = ()  # what it has locked
    passed: tuple[int, ...] = ()  # what this dispatch chose, but others had locked


class State(NamedTuple):
    """jobs: what is committed, a word for each."""

    jobs: tuple[str, ...]
    sessions: tuple[Session, ...]
    inside: int = -1  # who holds the door's lock
    place: int = -1  # who holds the waiting place
    deaths: int = 0  # how many sessions may still end at a bad moment


class Claims(Protocol):
    """What a step has to know of the model."""

    def choose(self, jobs: tuple[str, ...]) -> tuple[int, ...]:
        """What the claim takes on this snapshot."""

    def again(self, me: int) -> tuple[str, ...]:
        """The pass that follows one which passed something over."""


def seat(state: State, me: int, session: Session, changed: dict[int, str] | None = None) -> State:
    session = session if session.todo else Session()
    sessions = (*state.sessions[:me], session, *state.sessions[me + 1 :])
    if not changed:
        return state._replace(sessions=sessions)
    jobs = tuple(changed.get(job, status) for job, status in enumerate(state.jobs))
    return state._replace(sessions=sessions, jobs=jobs)


def _on(state: State, me: int) -> State:
    """One step further."""
    session = state.sessions[me]
    return seat(state, me, session._replace(todo=session.todo[1:]))


def locked(state: State, me: int) -> set[int]:
    """The rows that others have locked."""
    return {row for i, session in enumerate(state.sessions) if i != me for row in session.rows}


def without_locked(state: State, me: int) -> tuple[str, ...]:
    """The jobs, but for those that others have locked."""
    return _without(state.jobs, locked(state, me))


def _without(jobs: tuple[str, ...], rows: Collection[int]) -> tuple[str, ...]:
    """Waiting ones, that is: what is held counts in any case."""
    return tuple("left out" if job in rows and was == "created" else was for job, was in enumerate(jobs))


def died(state: State, me: int) -> State:
    state = seat(state, me, Session())
    return state._replace(
        inside=-1 if state.inside == me else state.inside,
        place=-1 if state.place == me else state.place,
        deaths=state.deaths - 1,
    )


def knock(_: Claims, state: State, me: int) -> State:
    if state.place >= 0:
        return seat(state, me, Session())  # goes home
    return _on(state, me)._replace(place=me)


def enter(_: Claims, state: State, me: int) -> State | None:
    return None if state.inside >= 0 else _on(state, me)._replace(inside=me)


def enter_or_go_home(_: Claims, state: State, me: int) -> State:
    return seat(state, me, Session()) if state.inside >= 0 else _on(state, me)._replace(inside=me)


def give_place(_: Claims, state: State, me: int) -> State:
    return _on(state, me)._replace(place=-1 if state.place == me else state.place)


def snapshot(_: Claims, state: State, me: int) -> State:
    session = state.sessions[me]
    seen = _without(state.jobs, session.passed)
    return seat(state, me, session._replace(todo=session.todo[1:], seen=seen))


def lock(model: Claims, state: State, me: int) -> State:
    """FOR UPDATE SKIP LOCKED, and the guard once more on the row as it is now."""
    return _take(model, state, me, model.choose(state.sessions[me].seen))


def lock_past_locked(model: Claims, state: State, me: int) -> State:
    """Another claim: one that does not choose what is locked."""
    return _take(model, state, me, model.choose(_without(state.sessions[me].seen, locked(state, me))))


def _take(model: Claims, state: State, me: int, chosen: tuple[int, ...]) -> State:
    taken, session = locked(state, me), state.sessions[me]
    rows = tuple(job for job in chosen if job not in taken and state.jobs[job] == "created")
    missed = set(chosen) - set(rows)
    todo = session.todo[1:] + (model.again(me) if missed else ())
    return seat(state, me, Session(todo, rows=rows, passed=tuple(sorted(missed | set(session.passed)))))


def commit(_: Claims, state: State, me: int) -> State:
    session = state.sessions[me]
    done = Session(session.todo[1:], passed=session.passed)
    return seat(state, me, done, dict.fromkeys(session.rows, "held"))


def leave(_: Claims, state: State, me: int) -> State:
    return _on(state, me)._replace(inside=-1)


def end_change(_: Claims, state: State, me: int) -> State:
    session = state.sessions[me]
    return seat(state, me, Session(session.todo[1:]), dict.fromkeys(session.rows, "done"))


def let_go(_: Claims, state: State, me: int) -> State:
    """The transaction ends; the job waits as before."""
    return seat(state, me, Session(state.sessions[me].todo[1:]))


STEPS: dict[str, Callable[[Claims, State, int], State | None]] = {
    "knock": knock,
    "enter": enter,
    "enter_or_go_home": enter_or_go_home,
    "give_place": give_place,
    "snapshot": snapshot,
    "lock": lock,
    "lock_past_locked": lock_past_locked,
    "commit": commit,
    "leave": leave,
    "end_change": end_change,
    "let_go": let_go,
}


def step(model: Claims, state: State, me: int) -> State | None:
    """What a session does next."""
    return STEPS[state.sessions[me].todo[0]](model, state, me)


def words(model: Claims, before: State, after: State, me: int) -> str:
    """What a step came to."""
    step, session = before.sessions[me].todo[0], after.sessions[me]
    if step in {"knock", "enter_or_go_home"} and not session.todo:
        return f"{step}: goes home"
    if step == "snapshot":
        return f"snapshot: may take {len(model.choose(session.seen))}"
    if step.startswith("lock"):
        new = len(session.passed) - len(before.sessions[me].passed)
        return f"{step.replace('_', ' ')}: gets {len(session.rows)} row(s)" + (f", passes over {new}" if new else "")
    return step.replace("_", " ")
