"""A body that ends its job in its own transaction: `ending()`.

There is one job, workers with a process each, parents and the clock. In each committed state the effect of the body is
there once if the job has succeeded, and not at all otherwise, whatever dies, and whatever answer is lost.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from docs.model.explorer import Step

IDLE = "idle"


@dataclass(frozen=True)
class Rules:
    """The guards and the order of steps. The defaults are the protocol's."""

    one_commit: bool = True  # the effect and the end of the job; else the effect first
    end_fenced: bool = True  # the statement at the end of the block: ... AND attempt, AND holder, AND running
    failure_fenced: bool = True  # the statement that settles a failure, in the same way
    rolls_back: bool = True  # a block whose end has found nothing
    asks: bool = True  # after a lost answer to the commit; else the body has failed
    asks_with_lock: bool = True  # FOR SHARE: it waits while the server is still at the commit
    guesses: bool = False  # instead of asking it takes the job for ended, and settles it as a success


class Left(NamedTuple):
    """The number of events that may still happen."""

    deaths: int = 0  # of processes, which may leave a commit on its way
    cuts: int = 0  # of the connection of a body, at any step
    losses: int = 0  # of workers that are declared gone, and go on
    errors: int = 0  # blocks that raise


PROTOCOL, QUIET = Rules(), Left()


class Row(NamedTuple):
    """The job, as committed; and how often the effect of its body is there."""

    status: str = "waits"
    attempt: int = 0
    worker: int = -1
    effects: int = 0

    def fits(self, worker: int, attempt: int) -> bool:
        return (self.status, self.worker, self.attempt) == ("running", worker, attempt)


class Process(NamedTuple):
    at: str = IDLE  # its next step
    attempt: int = 0


class Session(NamedTuple):
    """A transaction that has ended the job, and has its row locked, at the server, while its client is there no longer.

    commits: whether its commit is on its way; else it never comes.
    """

    worker: int
    attempt: int
    commits: bool


class State(NamedTuple):
    row: Row
    processes: tuple[Process, ...]
    sessions: tuple[Session, ...] = ()
    left: Left = QUIET

    def put(self, me: int, at: str, attempt: int) -> "State":
        return self._replace(processes=(*self.processes[:me], Process(at, attempt), *self.processes[me + 1 :]))

    def spend(self, what: str) -> "State":
        return self._replace(left=self.left._replace(**{what: getattr(self.left, what) - 1}))

    @property
    def is_locked(self) -> bool:
        return bool(self.sessions) or any(process.at == "commit" for process in self.processes)


def _committed(state: State) -> State:
    """Commit the block, and with it the end of the job."""
    return state._replace(row=state.row._replace(status="success", effects=state.row.effects + 1))


@dataclass(frozen=True)
class Ending:
    """The protocol, and how much may go wrong with it."""

    rules: Rules = PROTOCOL
    left: Left = QUIET
    workers: int = 2

    def start(self) -> State:
        return State(Row(), (Process(),) * self.workers, left=self.left)

    def key(self, state: State) -> Hashable:
        return state

    def steps(self, state: State) -> Iterator[Step[State]]:
        for me, process in enumerate(state.processes):
            for what, after in (*self._process(state, me, process), *self._mishaps(state, me, process)):
                yield Step(f"worker {me + 1}", what, after)
        for session in state.sessions:
            rest = state._replace(sessions=tuple(one for one in state.sessions if one != session))
            if session.commits:
                yield Step("server", "carries the commit out", _committed(rest))
            yield Step("server", "rolls back what no client holds", rest)
        yield from self._taken_back(state)

    def _process(self, state: State, me: int, process: Process) -> Iterator[tuple[str, State]]:
        row, attempt, at = state.row, process.attempt, process.at
        if at == IDLE and row.status == "waits":
            running = row._replace(status="running", attempt=row.attempt + 1, worker=me)
            yield "starts", state._replace(row=running).put(me, "block", running.attempt)
        elif at == "block" and not self.rules.one_commit:
            effect = state._replace(row=row._replace(effects=row.effects + 1))
            yield "commits the effect alone", effect.put(me, "success", attempt)
        elif at == "block" and not state.is_locked:
            if row.fits(me, attempt) or not self.rules.end_fenced:
                yield "ends the job, uncommitted", state.put(me, "commit", attempt)
            elif self.rules.rolls_back:
                yield "finds nothing to end, rolls back", state.put(me, "failure", attempt)
            else:
                effect = state._replace(row=row._replace(effects=row.effects + 1))
                yield "finds nothing to end, commits", effect.put(me, IDLE, 0)
        elif at == "commit":
            yield "commits", _committed(state).put(me, IDLE, 0)
        elif at == "asks" and not (state.is_locked and self.rules.asks_with_lock):
            has_ended = (row.status, row.worker, row.attempt) == ("success", me, attempt)
            yield "asks the row", state.put(me, IDLE if has_ended else "failure", attempt)
        elif at in {"failure", "success"} and not state.is_locked:
            yield f"settles a {at}", self._settled(state, me, attempt, at).put(me, IDLE, 0)

    def _settled(self, state: State, me: int, attempt: int, what: str) -> State:
        row = state.row
        if not row.fits(me, attempt) and (self.rules.failure_fenced or what == "success"):
            return state
        status, worker = ("success", me) if what == "success" else ("waits", -1)
        return state._replace(row=row._replace(status=status, worker=worker))

    def _mishaps(self, state: State, me: int, process: Process) -> Iterator[tuple[str, State]]:
        attempt, at = process.attempt, process.at
        if at == "block" and state.left.errors:
            yield "raises in the block", state.spend("errors").put(me, "failure", attempt)
        if at not in {IDLE, "commit"} and state.left.deaths:  # an open block is rolled back, and has locked nothing
            yield f"dies before: {at}", state.spend("deaths").put(me, IDLE, 0)
        if at == "block" and state.left.cuts:
            yield "loses its connection in the block", state.spend("cuts").put(me, "failure", attempt)
        for commits in (False, True) if at == "commit" else ():
            left = state._replace(sessions=tuple(sorted({*state.sessions, Session(me, attempt, commits)})))
            way = "its commit on its way" if commits else "no commit"
            if state.left.cuts:
                then = "success" if self.rules.guesses else "asks" if self.rules.asks else "failure"
                yield f"loses its connection with {way}", left.spend("cuts").put(me, then, attempt)
            if state.left.deaths:
                yield f"dies with {way}", left.spend("deaths").put(me, IDLE, 0)

    def _taken_back(self, state: State) -> Iterator[Step[State]]:
        row = state.row
        if row.status != "running" or state.is_locked:  # it skips locked rows
            return
        back = state._replace(row=row._replace(status="waits", worker=-1))
        if state.processes[row.worker].attempt != row.attempt:
            yield Step("parent", f"takes back what worker {row.worker + 1} had", back)
        elif state.left.losses:
            yield Step("clock", f"declares worker {row.worker + 1} gone, takes back", back.spend("losses"))

    def fault(self, state: State) -> str | None:
        row = state.row
        expected = int(row.status == "success")
        if row.effects != expected:
            return f"the effect is there {row.effects} times, and the job is: {row.status}"
        if row.status != "success" and next(self.steps(state), None) is None:
            return f"I4: nothing goes on with the job: {row.status}"
        return None

    def show(self, state: State) -> str:
        row = state.row
        shown = f"{row.status} attempt {row.attempt}, effects: {row.effects}"
        return shown + (", at the server: a transaction without its client" if state.sessions else "")
