"""The end of a batch: members end, add others, are revived; sessions outside add and close it; readers of ends read.

A member's end is one commit: its status, and a letter (`job_ends`) with the change of the numbers. One reader at a time
adds the letters to the tally, and compares it with the row of the batch, which it locks unless another session has.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from docs.model.explorer import Step

WAITS, RUNS, GOOD, BAD = "waits", "runs", "good", "bad"
BLOCKED, MET, CREATED = "blocked", "met", "created"  # met: its edge is gone, but its row was locked
FREE, OUTSIDE, CLOSER, READER = -9, -1, -2, -3  # by whom the batch's row is locked; else the member that adds


class News(NamedTuple):
    """The number of letters, and their sums."""

    letters: int = 0
    good: int = 0
    bad: int = 0


class Look(NamedTuple):
    """A session that reads."""

    at: str = "idle"  # or heard (it is the reader), seen (its snapshot is taken), held, looks (again)
    news: News = News()  # committed when its snapshot was taken
    added: int = 0
    closed: bool = False
    skips: bool = False  # it skips the row of the batch
    noted: bool = False  # it has left a letter of its own, about locked rows


class State(NamedTuple):
    members: tuple[str, ...] = ()
    added: int = 0
    closed: bool = False
    locked: int = FREE
    news: News = News()
    good: int = 0  # of the tally
    bad: int = 0
    after: tuple[str, str] = (BLOCKED, BLOCKED)  # on_end, on_success
    starts: tuple[int, int] = (0, 0)
    looks: tuple[Look, ...] = (Look(), Look())
    calls: int = 0  # dispatches that are about to look
    stranger: bool = False  # it has locked the rows of both callbacks
    was: tuple[bool, bool] = (False, False)  # ended, all succeeded: in a committed state in which no session was adding
    deaths: int = 0
    revives: int = 0
    strangers: int = 0


@dataclass(frozen=True)
class Batch:
    """A batch, how much may happen to it, and the rules of the statements. A fault is a rule that is switched off."""

    members: int = 2  # at most
    deaths: int = 0  # how often a session or a member may die
    revives: int = 0  # how often a member may be revived
    strangers: int = 0  # how often a stranger may lock the callbacks
    net: bool = False  # the clock looks, too
    newest: bool = True  # the reader compares with `added` as it is under its lock
    of_snapshot: bool = True  # but takes from its snapshot, as the letters, whether the batch is closed
    notes_again: bool = True  # it leaves a letter about the rows that it found locked
    looks_again: bool = True  # after its commit, since sessions that found it reading have left
    alone: bool = True  # one session reads at a time
    close_tells: bool = True  # closing leaves a letter
    revival_tells: bool = True  # a revival leaves a letter
    counts_within: bool = True  # a session that adds counts in the transaction of the jobs, and not afterwards

    def start(self) -> State:
        return State(deaths=self.deaths, revives=self.revives, strangers=self.strangers)

    def key(self, state: State) -> Hashable:
        """Members are alike, except for one that adds; so are readers."""
        adds = state.locked >= 0
        members = [f"{one}, adds" if adds and place == state.locked else one for place, one in enumerate(state.members)]
        alike = {"members": tuple(sorted(members)), "looks": tuple(sorted(state.looks))}
        return state._replace(locked=0 if adds else state.locked, **alike)

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        looks = (self._look(state, number) for number in range(len(state.looks)))
        for step in chain(self._add(state), self._close(state), self._members(state), self._stranger(state), *looks):
            yield step._replace(state=_noted(step.state))

    def _add(self, state: State) -> Iterator[Step[State]]:
        """Begin and commit are two steps: between them the row of the batch is locked."""
        if state.locked == FREE and len(state.members) < self.members:
            begun = state if self.counts_within else state._replace(members=(*state.members, WAITS))
            if not state.closed:
                yield Step("outside", "begins to add", begun._replace(locked=OUTSIDE))
            for place, member in enumerate(state.members):
                if member == RUNS:
                    yield Step(f"member {place}", "begins to add", begun._replace(locked=place))
        elif state.locked == OUTSIDE or state.locked >= 0:
            who = "outside" if state.locked == OUTSIDE else f"member {state.locked}"
            members = (*state.members, WAITS) if self.counts_within else state.members
            added = state._replace(members=members, added=state.added + 1, locked=FREE, calls=state.calls + 1)
            yield Step(who, "has added, commits", added)
            if state.deaths:
                back = state.members
                if state.locked >= 0 and back[state.locked] == RUNS:
                    back = (*back[: state.locked], WAITS, *back[state.locked + 1 :])
                yield Step(who, "dies", state._replace(members=back, locked=FREE, deaths=state.deaths - 1))

    def _close(self, state: State) -> Iterator[Step[State]]:
        if not state.closed and state.locked == FREE:
            yield Step("closer", "locks the batch", state._replace(locked=CLOSER))
        elif state.locked == CLOSER:
            closed = state._replace(closed=True, locked=FREE)
            yield Step("closer", "has closed it, commits", _tell(closed) if self.close_tells else closed)

    def _members(self, state: State) -> Iterator[Step[State]]:
        for place, member in enumerate(state.members):
            who = f"member {place}"
            if place == state.locked:  # it is adding, and another session may believe that it is dead
                if state.deaths and member == RUNS:
                    given_up = _become(state, place, BAD)._replace(deaths=state.deaths - 1)
                    yield Step(who, "is given up, and adds", _tell(given_up, bad=1))
                continue
            if member == WAITS:
                yield Step(who, "starts", _become(state, place, RUNS))
            if member == RUNS:
                yield Step(who, "succeeds", _tell(_become(state, place, GOOD), good=1))
            if member in (WAITS, RUNS):
                yield Step(who, "fails", _tell(_become(state, place, BAD), bad=1))
            if member == BAD and state.revives:
                revived = _become(state, place, WAITS)._replace(revives=state.revives - 1)
                yield Step(who, "is revived", _tell(revived, bad=-1) if self.revival_tells else revived)

    def _stranger(self, state: State) -> Iterator[Step[State]]:
        if state.stranger:
            yield Step("stranger", "lets the callbacks go", state._replace(stranger=False, calls=state.calls + 1))
        elif state.strangers:
            yield Step("stranger", "locks them", state._replace(stranger=True, strangers=state.strangers - 1))

    # --- the reader ------------------------------------------------------------------------------------------

    def _look(self, state: State, number: int) -> Iterator[Step[State]]:
        who, look = f"session {number}", state.looks[number]
        match look.at:
            case "idle" | "looks":
                yield from self._hear(state, number)
            case "heard" if state.news.letters:
                seen = Look("seen", state.news, state.added, state.closed)
                yield Step(who, "snapshot", _now(state, number, seen))
            case "heard":
                yield Step(who, "finds no news", _now(state, number, Look()))
            case "seen" if state.locked == FREE or (state.locked not in (CLOSER, READER) and not self.counts_within):
                newest = look._replace(added=state.added) if self.newest else look
                newest = newest if self.of_snapshot else newest._replace(closed=state.closed)
                yield Step(who, "locks the batch", _now(state, number, newest._replace(at="held"), locked=READER))
            case "seen":
                yield Step(who, "passes over the batch", _now(state, number, look._replace(at="held", skips=True)))
            case "held":
                yield Step(who, "commits", self._read(state, look, number))
                if state.deaths:
                    freed = {"locked": state.locked if look.skips else FREE, "deaths": state.deaths - 1}
                    yield Step(who, "dies", _now(state, number, Look(), **freed))

    def _hear(self, state: State, number: int) -> Iterator[Step[State]]:
        """Become the reader; or leave, since the present reader looks again."""
        who, look = f"session {number}", state.looks[number]
        taken = self.alone and any(one.at in ("heard", "seen", "held") for one in state.looks)
        then = Look() if taken else Look("heard")
        if look.at == "looks":
            more = self.looks_again and state.news.letters > look.noted
            yield Step(who, "looks again" if more else "has read", _now(state, number, then if more else Look()))
        elif state.calls:
            told = "goes home" if taken else "hears"
            yield Step(who, told, _now(state, number, then, calls=state.calls - 1))
        elif self.net and state.news.letters and not taken:
            yield Step(who, "hears, as the clock", _now(state, number, then))

    def _read(self, state: State, look: Look, number: int) -> State:
        """Apply the writes of the reader's statement."""
        good, bad = state.good + look.news.good, state.bad + look.news.bad
        left = News(*(now - had for now, had in zip(state.news, look.news, strict=True)))
        over = not look.skips and look.closed and good + bad == look.added
        after, starts = list(state.after), list(state.starts)
        for place, ends in enumerate((over, over and good == look.added)):
            if after[place] == MET or (after[place] == BLOCKED and ends):
                after[place] = MET if state.stranger else CREATED
                starts[place] += not state.stranger
        again = self.notes_again and (look.skips or MET in after)
        return _now(
            state,
            number,
            Look("looks", noted=again),
            good=good,
            bad=bad,
            news=left._replace(letters=max(left.letters, 0) + again),
            after=(after[0], after[1]),
            starts=(starts[0], starts[1]),
            locked=state.locked if look.skips else FREE,
        )

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        over, well = _over(state)
        rests = not state.calls and not state.stranger and all(one.at == "idle" for one in state.looks)
        rests = rests and state.locked == FREE and not (self.net and state.news.letters)
        for place, (name, ends) in enumerate((("on_end", over), ("on_success", well))):
            if state.starts[place] > 1:
                return f"{name} became ready twice"
            if state.after[place] == CREATED and not state.was[place]:
                return f"{name} came too early"
            if rests and ends and state.after[place] != CREATED:
                return f"{name} was lost"
        return None

    def show(self, state: State) -> str:
        told = f"added {state.added}{', closed' if state.closed else ''}, tally {state.good}+{state.bad}"
        return f"{' '.join(state.members)}  {told}  letters {tuple(state.news)}  {'/'.join(state.after)}"


def _now(state: State, number: int, look: Look, **changes: Any) -> State:
    """Return the state after a step of that session."""
    return state._replace(looks=(*state.looks[:number], look, *state.looks[number + 1 :]), **changes)


def _become(state: State, place: int, status: str) -> State:
    return state._replace(members=(*state.members[:place], status, *state.members[place + 1 :]))


def _tell(state: State, good: int = 0, bad: int = 0) -> State:
    """Add a letter, in the same commit; its writer dispatches afterwards."""
    letters, goods, bads = state.news
    return state._replace(news=News(letters + 1, goods + good, bads + bad), calls=state.calls + 1)


def _over(state: State) -> tuple[bool, bool]:
    over = state.closed and all(one in (GOOD, BAD) for one in state.members)
    return over, over and BAD not in state.members


def _noted(state: State) -> State:
    over, well = _over(state)
    if state.locked >= 0:
        return state
    return state._replace(was=(state.was[0] or over, state.was[1] or well))
