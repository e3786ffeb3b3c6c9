"""Jobs that wait for an event: attempts begin to wait, a transaction tells it, patience ends, readers read.

Who begins to wait and who tells the event write first and commit later; each commit leaves a letter (`job_ends`). One
reader at a time looks at the jobs of the letters in its snapshot, and lets those go whose event is there.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from docs.model.explorer import Step

RUNS, WRITES, BLOCKED, GOES, OVER = "runs", "writes", "blocked", "goes", "over"
NOT_YET, UNDER_WAY, TOLD = "not yet", "under way", "told"
EVENT = -1  # a letter about the event; the others are about a job, by its place
Letters = tuple[int, ...]


class Look(NamedTuple):
    """A session that reads."""

    at: str = "idle"  # or heard (it is the reader), seen (its snapshot is taken), held, looks (again)
    news: Letters = ()  # committed when its snapshot was taken
    opens: Letters = ()  # the jobs that it lets go, by its snapshot
    held: Letters = ()  # those that it has locked
    noted: bool = False  # it has left letters of its own, about locked rows


class State(NamedTuple):
    jobs: tuple[str, ...]
    event: str = NOT_YET
    sees: Letters = ()  # the jobs that wait in the snapshot of its teller
    knows: Letters = ()  # the jobs in whose snapshot it had come when they began to wait
    news: Letters = ()
    looks: tuple[Look, ...] = (Look(), Look())
    calls: int = 0  # dispatches that are about to look
    stranger: bool = False  # it has locked all rows that are blocked
    wrong: str = ""
    deaths: int = 0
    rollbacks: int = 0
    strangers: int = 0


@dataclass(frozen=True)
class Waits:
    """Jobs that wait for one event, what may happen to them, and the rules. A fault is a rule that is switched off."""

    jobs: int = 2
    deaths: int = 0  # how often a reader may die
    rollbacks: int = 0  # of the teller
    strangers: int = 0  # how often a stranger may lock the rows
    net: bool = False  # the clock looks, too
    wait_tells: bool = True  # who begins to wait leaves a letter
    looks_itself: bool = False  # instead, it leaves one if its own snapshot has the event
    event_tells: bool = True  # who tells the event leaves a letter about it
    names_jobs: bool = False  # instead, about the jobs that wait in its own snapshot
    sees_event: bool = True  # the reader looks whether the event is there
    notes_again: bool = True  # it leaves a letter about the rows that it found locked
    looks_again: bool = True  # after its commit, since sessions that found it reading have left
    lapse_minds_event: bool = True  # no patience ends once the event has come

    def start(self) -> State:
        counted = {"deaths": self.deaths, "rollbacks": self.rollbacks, "strangers": self.strangers}
        return State((RUNS,) * self.jobs, **counted)

    def key(self, state: State) -> Hashable:
        return state._replace(looks=tuple(sorted(state.looks, key=repr)))

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        looks = (self._look(state, number) for number in range(len(state.looks)))
        yield from chain(self._jobs(state), self._event(state), self._stranger(state), *looks)

    def _jobs(self, state: State) -> Iterator[Step[State]]:
        locked = {place for look in state.looks for place in look.held}
        for place, job in enumerate(state.jobs):
            who = f"job {place}"
            if job == RUNS:
                knows = (*state.knows, place) if state.event == TOLD else state.knows
                yield Step(who, "begins to wait", _become(state, place, WRITES)._replace(knows=knows))
            if job == WRITES:
                letter = self.wait_tells and (place in state.knows or not self.looks_itself)
                yield Step(who, "commits", _tell(_become(state, place, BLOCKED), (place,) if letter else ()))
            if job == BLOCKED and place not in locked and not state.stranger:
                has_come = state.event == TOLD
                if not (has_come and self.lapse_minds_event):
                    wrong = "its patience has ended, and its event had come" if has_come else ""
                    yield Step(
                        "clock", f"ends the patience of {who}", _become(state, place, OVER)._replace(wrong=wrong)
                    )

    def _event(self, state: State) -> Iterator[Step[State]]:
        waiting = tuple(place for place, job in enumerate(state.jobs) if job == BLOCKED)
        if state.event == NOT_YET:
            yield Step("teller", "writes the event", state._replace(event=UNDER_WAY, sees=waiting))
        if state.event == UNDER_WAY:
            about = state.sees if self.names_jobs else (EVENT,) if self.event_tells else ()
            yield Step("teller", "commits", _tell(state._replace(event=TOLD), about))
            if state.rollbacks:
                yield Step("teller", "rolls back", state._replace(event=NOT_YET, rollbacks=state.rollbacks - 1))

    def _stranger(self, state: State) -> Iterator[Step[State]]:
        if state.stranger:
            yield Step("stranger", "lets the rows go", state._replace(stranger=False, calls=state.calls + 1))
        elif state.strangers and not any(look.held for look in state.looks):
            yield Step("stranger", "locks them", state._replace(stranger=True, strangers=state.strangers - 1))

    # --- the reader ------------------------------------------------------------------------------------------

    def _look(self, state: State, number: int) -> Iterator[Step[State]]:
        who, look = f"session {number}", state.looks[number]
        match look.at:
            case "idle" | "looks":
                yield from self._hear(state, number)
            case "heard" if state.news:
                yield Step(who, "snapshot", _now(state, number, Look("seen", state.news, self._opens(state))))
            case "heard":
                yield Step(who, "finds no news", _now(state, number, Look()))
            case "seen":
                free = () if state.stranger else look.opens
                held = tuple(place for place in free if state.jobs[place] == BLOCKED)
                yield Step(who, f"locks {len(held)}", _now(state, number, look._replace(at="held", held=held)))
            case "held":
                yield Step(who, "commits", self._read(state, look, number))
                if state.deaths:
                    yield Step(who, "dies", _now(state, number, Look(), deaths=state.deaths - 1))

    def _opens(self, state: State) -> Letters:
        """Return the jobs of the letters that wait in this snapshot, if it has their event."""
        if self.sees_event and state.event != TOLD:
            return ()
        return tuple(
            place
            for place, job in enumerate(state.jobs)
            if job == BLOCKED and (EVENT in state.news or place in state.news)
        )

    def _hear(self, state: State, number: int) -> Iterator[Step[State]]:
        """Become the reader; or leave, since the present reader looks again."""
        who, look = f"session {number}", state.looks[number]
        taken = any(one.at in ("heard", "seen", "held") for one in state.looks)
        then = Look() if taken else Look("heard")
        if look.at == "looks":
            more = self.looks_again and state.news and not look.noted
            yield Step(who, "looks again" if more else "has read", _now(state, number, then if more else Look()))
        elif state.calls:
            yield Step(who, "goes home" if taken else "hears", _now(state, number, then, calls=state.calls - 1))
        elif self.net and state.news and not taken:
            yield Step(who, "hears, as the clock", _now(state, number, then))

    def _read(self, state: State, look: Look, number: int) -> State:
        """Apply the writes of the reader's statement."""
        jobs = tuple(GOES if place in look.held else job for place, job in enumerate(state.jobs))
        early = look.held and state.event != TOLD
        again = tuple(place for place in look.opens if place not in look.held and state.jobs[place] == BLOCKED)
        again = again if self.notes_again else ()
        left = tuple(sorted({*state.news} - {*look.news} | {*again}))
        wrong = "a job goes on without its event" if early else state.wrong
        return _now(state, number, Look("looks", noted=bool(again)), jobs=jobs, news=left, wrong=wrong)

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        if state.wrong:
            return state.wrong
        rests = not state.calls and not state.stranger and all(one.at == "idle" for one in state.looks)
        if rests and not (self.net and state.news) and state.event == TOLD and BLOCKED in state.jobs:
            return "an event was lost"
        return None

    def show(self, state: State) -> str:
        return f"{' '.join(state.jobs)}  event {state.event}  letters {len(state.news)}"


def _become(state: State, place: int, status: str) -> State:
    return state._replace(jobs=(*state.jobs[:place], status, *state.jobs[place + 1 :]))


def _tell(state: State, letters: Letters) -> State:
    """Leave letters in the commit; who did it dispatches afterwards."""
    return state._replace(news=tuple(sorted({*state.news, *letters})), calls=state.calls + 1)


def _now(state: State, number: int, look: Look, **changes: Any) -> State:
    """Return the state after a step of that session."""
    return state._replace(looks=(*state.looks[:number], look, *state.looks[number + 1 :]), **changes)
