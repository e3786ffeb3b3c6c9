"""The turns in a sequence: jobs are stored blocked, go one at a time, end, stop the others, are revived; readers read.

A session that stores, ends, discards or revives a job leaves a letter (`job_ends`) in the same commit. One reader
at a time looks at the sequence, lets its first job go if no other has the turn, and takes the letters that it saw.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from docs.model.explorer import Step

NEW, BLOCKED, GOES, OVER, STOPS = "new", "blocked", "goes", "over", "stops"  # stops: it is dead, and no other passes it
TELL = ("is stored", "ends", "is discarded", "is revived")  # who leaves a letter


class Look(NamedTuple):
    """A session that reads."""

    at: str = "idle"  # or heard (it is the reader), seen (its snapshot is taken), held, looks (again)
    news: int = 0  # letters, committed when its snapshot was taken
    first: int | None = None  # the job that it lets go, by its snapshot
    has: bool = False  # it has locked that
    noted: bool = False  # it has left a letter of its own, about a locked row


class State(NamedTuple):
    jobs: tuple[str, ...]
    news: int = 0
    looks: tuple[Look, ...] = (Look(), Look())
    calls: int = 0  # dispatches that are about to look
    stranger: bool = False  # it has locked all rows that are blocked
    deaths: int = 0
    revives: int = 0
    strangers: int = 0


@dataclass(frozen=True)
class Turns:
    """A sequence, what may happen to it, and the rules of the statements. A fault is a rule that is switched off."""

    jobs: int = 3
    deaths: int = 0  # how often a session may die
    revives: int = 0
    strangers: int = 0  # how often a stranger may lock the rows
    net: bool = False  # the clock looks, too
    sees_turn: bool = True  # the reader looks whether another job goes
    sees_dead: bool = True  # or is dead and stops the others
    notes_again: bool = True  # it leaves a letter about the row that it found locked
    looks_again: bool = True  # after its commit, since sessions that found it reading have left
    alone: bool = True  # one session reads at a time
    tells: tuple[str, ...] = TELL

    def start(self) -> State:
        return State((NEW,) * self.jobs, deaths=self.deaths, revives=self.revives, strangers=self.strangers)

    def key(self, state: State) -> Hashable:
        """Readers are alike."""
        return state._replace(looks=tuple(sorted(state.looks, key=repr)))

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        looks = (self._look(state, number) for number in range(len(state.looks)))
        yield from chain(self._jobs(state), self._stranger(state), *looks)

    def _jobs(self, state: State) -> Iterator[Step[State]]:
        held = {look.first for look in state.looks if look.has}
        for place, job in enumerate(state.jobs):
            who = f"job {place}"
            if job == NEW:
                yield Step(who, "is stored", self._become(state, place, BLOCKED, "is stored"))
            if job == GOES:
                yield Step(who, "ends", self._become(state, place, OVER, "ends"))
                yield Step(who, "dies, and stops the others", self._become(state, place, STOPS, "ends"))
            if job == BLOCKED and place not in held and not state.stranger:
                yield Step(who, "is cancelled", self._become(state, place, OVER, "ends"))
            if job == STOPS:
                yield Step(who, "is discarded", self._become(state, place, OVER, "is discarded"))
            if job in (OVER, STOPS) and state.revives:
                revived = self._become(state, place, BLOCKED, "is revived")
                yield Step(who, "is revived", revived._replace(revives=state.revives - 1))

    def _become(self, state: State, place: int, status: str, told: str) -> State:
        """Change a job and leave a letter, in one commit; who did it dispatches afterwards."""
        jobs = (*state.jobs[:place], status, *state.jobs[place + 1 :])
        return state._replace(jobs=jobs, news=state.news + (told in self.tells), calls=state.calls + 1)

    def _stranger(self, state: State) -> Iterator[Step[State]]:
        if state.stranger:
            yield Step("stranger", "lets the rows go", state._replace(stranger=False, calls=state.calls + 1))
        elif state.strangers and not any(look.has for look in state.looks):
            yield Step("stranger", "locks them", state._replace(stranger=True, strangers=state.strangers - 1))

    # --- the reader ------------------------------------------------------------------------------------------

    def _look(self, state: State, number: int) -> Iterator[Step[State]]:
        who, look = f"session {number}", state.looks[number]
        match look.at:
            case "idle" | "looks":
                yield from self._hear(state, number)
            case "heard" if state.news:
                yield Step(who, "snapshot", _now(state, number, Look("seen", state.news, self._first(state))))
            case "heard":
                yield Step(who, "finds no news", _now(state, number, Look()))
            case "seen":
                taken = {other.first for other in state.looks if other.has}
                has = look.first is not None and state.jobs[look.first] == BLOCKED and look.first not in taken
                held = look._replace(at="held", has=has and not state.stranger)
                yield Step(who, "locks the first" if held.has else "locks none", _now(state, number, held))
            case "held":
                yield Step(who, "commits", self._read(state, look, number))
                if state.deaths:
                    yield Step(who, "dies", _now(state, number, Look(), deaths=state.deaths - 1))

    def _first(self, state: State) -> int | None:
        """Return the first job that waits, if nothing of the snapshot stands in its way."""
        stand = {GOES} if self.sees_turn else set()
        stand |= {STOPS} if self.sees_dead else set()
        waiting = [place for place, job in enumerate(state.jobs) if job == BLOCKED]
        return waiting[0] if waiting and not stand.intersection(state.jobs) else None

    def _hear(self, state: State, number: int) -> Iterator[Step[State]]:
        """Become the reader; or leave, since the present reader looks again."""
        who, look = f"session {number}", state.looks[number]
        taken = self.alone and any(one.at in ("heard", "seen", "held") for one in state.looks)
        then = Look() if taken else Look("heard")
        if look.at == "looks":
            more = self.looks_again and state.news > look.noted
            yield Step(who, "looks again" if more else "has read", _now(state, number, then if more else Look()))
        elif state.calls:
            told = "goes home" if taken else "hears"
            yield Step(who, told, _now(state, number, then, calls=state.calls - 1))
        elif self.net and state.news and not taken:
            yield Step(who, "hears, as the clock", _now(state, number, then))

    def _read(self, state: State, look: Look, number: int) -> State:
        """Apply the writes of the reader's statement."""
        jobs, again = state.jobs, self.notes_again and look.first is not None and not look.has
        if look.first is not None and look.has:
            jobs = (*jobs[: look.first], GOES, *jobs[look.first + 1 :])
        left = max(state.news - look.news, 0) + again
        return _now(state, number, Look("looks", noted=again), jobs=jobs, news=left)

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        if state.jobs.count(GOES) > 1:
            return "two go at once"
        if {GOES, STOPS} <= {*state.jobs} or state.jobs.count(STOPS) > 1:
            return "one passed a dead job"
        rests = not state.calls and not state.stranger and all(one.at == "idle" for one in state.looks)
        rests = rests and not (self.net and state.news)
        if rests and BLOCKED in state.jobs and not {GOES, STOPS}.intersection(state.jobs):
            return "a turn was lost"
        return None

    def show(self, state: State) -> str:
        return f"{' '.join(state.jobs)}  letters {state.news}"


def _now(state: State, number: int, look: Look, **changes: Any) -> State:
    """Return the state after a step of that session."""
    return state._replace(looks=(*state.looks[:number], look, *state.looks[number + 1 :]), **changes)
