"""Light pools as a state: the rows, the feeders with what their seats hold, and the trips at the server."""

from dataclasses import dataclass
from typing import NamedTuple

Key = tuple[int, int]  # a job and its attempt


@dataclass(frozen=True)
class Rules:
    """The guards of the statements and of the feeder. The defaults are the protocol's."""

    settle_names_process: bool = True  # ... AND worker_pid = before.pid, in succeed_many
    settle_fenced: bool = True  # ... AND attempt = before.attempt AND status = 'running', and the worker
    start_guards_status: bool = True  # ... AND status = 'queued', in start_many
    keeps_ends: bool = True  # ends stay in hand until the trip is answered
    settles_first: bool = True  # what has arrived of a process is settled before its attempts are taken back
    looks: bool = True  # each second, at the rows that say `running` in its worker
    looks_between_trips: bool = True  # not while one is under way
    begins_unknown_only: bool = True  # not what a seat holds
    minds_in_hand: bool = True  # it takes back nothing that is settled one by one
    takes_back_dead: bool = True  # a look reports processes that are gone while rows still name them
    takes_back_all: bool = True  # a death takes back all attempts of the process, not one
    report_names_process: bool = True  # and only those


class Left(NamedTuple):
    """The number of events that may still happen."""

    deaths: int = 0  # of processes
    losses: int = 0  # of whole workers, killed or stalled
    cuts: int = 0  # of the feeder's connection
    refusals: int = 0  # of a batch, because PostgreSQL cannot store one of its ends
    retries: int = 0  # by a process, which settles its failure itself
    standbys: int = 0  # promoted without the last commits


class Row(NamedTuple):
    """A job, as committed."""

    status: str = "created"
    attempt: int = 0
    worker: int = -1
    place: int = -1  # the process, in its worker
    life: int = 0  # the number of the process in its place: its pid


class Process(NamedTuple):
    """A process and the bodies in its seats."""

    life: int = 0
    bodies: tuple[Key, ...] = ()


class End(NamedTuple):
    """A success that is to be settled."""

    job: int
    attempt: int
    place: int
    life: int

    @property
    def key(self) -> Key:
        return self.job, self.attempt


class Trip(NamedTuple):
    """A trip: what the server has yet to do of it, and what it will answer."""

    worker: int
    todo: tuple[str, ...] = ()  # of settle, claim, start
    ends: tuple[End, ...] = ()
    follows: bool = False
    called: tuple[Key, ...] = ()
    free: tuple[tuple[int, int], ...] = ()  # the process of each free seat: place and life
    kept: tuple[Key, ...] = ()  # by its claim
    begun: tuple[End, ...] = ()  # followed and started


class Feeder(NamedTuple):
    """The parent of a worker, and its processes.

    known: the latest attempt of each job that it knows to have started here.
    """

    processes: tuple[Process, ...]
    held: tuple[End, ...] = ()
    ends: tuple[End, ...] = ()  # in hand
    alone: tuple[End, ...] = ()  # settled one by one
    dying: tuple[tuple[int, int], ...] = ()  # processes whose end is to be reported
    called: tuple[Key, ...] = ()
    known: tuple[int, ...] = ()
    trip: tuple[Trip, ...] = ()  # under way
    lost: bool = False  # the answer to one was lost
    gone: bool = False  # declared gone
    off: bool = False

    def is_alive(self, place: int, life: int) -> bool:
        return not self.off and self.processes[place].life == life


class State(NamedTuple):
    jobs: tuple[Row, ...]
    feeders: tuple[Feeder, ...]
    late: tuple[Trip, ...] = ()  # at the server, whose feeder has no connection to it any more
    starts: tuple[Key, ...] = ()  # of bodies, each once
    standby: tuple[Row, ...] = ()
    promoted: bool = False
    wrong: str = ""
    left: Left = Left()

    def row(self, job: int, row: Row) -> "State":
        return self._replace(jobs=(*self.jobs[:job], row, *self.jobs[job + 1 :]))

    def put(self, me: int, **changes: object) -> "State":
        feeder = self.feeders[me]._replace(**changes)
        return self._replace(feeders=(*self.feeders[:me], feeder, *self.feeders[me + 1 :]))

    def spend(self, what: str) -> "State":
        return self._replace(left=self.left._replace(**{what: getattr(self.left, what) - 1}))

    def running(self, me: int) -> list[End]:
        """Return the attempts that run in a worker, by the rows."""
        return [
            End(job, row.attempt, row.place, row.life)
            for job, row in enumerate(self.jobs)
            if row.status == "running" and row.worker == me
        ]


def less(these: tuple[End, ...], *others: End) -> tuple[End, ...]:
    return tuple(end for end in these if end not in others)


def more(these: tuple[End, ...], *others: End) -> tuple[End, ...]:
    return tuple(sorted({*these, *others}))


def begin(state: State, me: int, begun: tuple[End, ...]) -> State:
    """Give attempts to their seats. Those of a process that has died since begin nowhere."""
    for end in begun:
        feeder = state.feeders[me]
        known = tuple(max(had, end.attempt) if job == end.job else had for job, had in enumerate(feeder.known))
        state = state.put(me, known=known)
        if not feeder.is_alive(end.place, end.life):
            continue
        process = feeder.processes[end.place]
        bodies = process._replace(bodies=tuple(sorted((*process.bodies, end.key))))
        processes = (*feeder.processes[: end.place], bodies, *feeder.processes[end.place + 1 :])
        if end.key in state.starts and not state.promoted:
            wrong = f"I3: the body of {end.job + 1}, attempt {end.attempt}, started twice"
            state = state._replace(wrong=state.wrong or wrong)
        state = state._replace(starts=tuple(sorted({*state.starts, end.key})))
        state = state.put(me, processes=processes, held=more(feeder.held, end))
    return state


def take_back(state: State, job: int) -> State:
    return state.row(job, Row(attempt=state.jobs[job].attempt))
