"""The jobs of a lane, and the processes that go from one to the next without a message, as a state."""

from collections.abc import Iterator
from typing import NamedTuple

from docs.model.job import IDLE, OFF

SENDS = ("start", "start again", "body", "settle again", "keeps")  # where the next thing a process does is a statement


class Left(NamedTuple):
    """How much may still happen.

    deaths: of processes. losses: of whole workers, killed or stalled. cuts: of a connection, with a statement on its
    way. opens: deaths that leave a transaction open, which has the job's row locked. strangers: who lock a row and
    never let it go. standbys: promoted without the last commits.
    """

    deaths: int = 0
    losses: int = 0
    cuts: int = 0
    doubles: int = 0
    retries: int = 0
    drains: int = 0
    opens: int = 0
    strangers: int = 0
    standbys: int = 0


class Job(NamedTuple):
    """A row, as committed. worker, life: the process that started it. owner: its tenant; a number may come again."""

    status: str = "created"
    attempt: int = 0
    worker: int = -1
    life: int = 0
    crashes: int = 0
    owner: int = 0

    def ended(self, status: str) -> "Job":
        return self._replace(status=status, worker=-1, life=0)


class Process(NamedTuple):
    """The process of a worker. at: what it does next. life: which process it is. message: what it was given.

    owner: the tenant of the body that runs. follows: the attempt that its last statement has started, or starts next.
    """

    at: str = IDLE
    job: int = -1
    attempt: int = 0
    life: int = 0
    message: tuple[int, int] | tuple[()] = ()
    gone: bool = False  # its worker was declared gone
    drains: bool = False
    owner: int = 0
    follows: tuple[int, int] | tuple[()] = ()

    def idle(self, at: str = IDLE) -> "Process":
        return Process(at, life=self.life, gone=self.gone, drains=self.drains)

    @property
    def serves(self) -> bool:
        """As the count of live workers sees it."""
        return not self.gone and not self.drains


class Session(NamedTuple):
    """What a process has left behind at the server. does: "start", "succeed", or "nothing", with the row locked."""

    worker: int
    life: int
    does: str
    job: int
    attempt: int


class Report(NamedTuple):
    """Of a process that died. at: end its sessions, look what it runs by the rows, take that back."""

    worker: int
    life: int
    at: str = "end"
    message: tuple[int, int] | tuple[()] = ()
    saw: tuple[tuple[int, int], ...] = ()


class State(NamedTuple):
    jobs: tuple[Job, ...]
    processes: tuple[Process, ...]
    wire: tuple[tuple[int, int], ...] = ()  # (job, attempt), a message each
    sessions: tuple[Session, ...] = ()
    reports: tuple[Report, ...] = ()
    strangers: tuple[int, ...] = ()  # whose rows they have locked
    waits: int = -1  # for whose row the clock is waiting
    started: tuple[tuple[int, int], ...] = ()  # the bodies
    standby: tuple[Job, ...] = ()  # what it knows, if it lags behind
    promoted: bool = False
    wrong: str = ""
    left: Left = Left()

    def put(self, me: int, process: Process) -> "State":
        return self._replace(processes=(*self.processes[:me], process, *self.processes[me + 1 :]))

    def row(self, number: int, job: Job) -> "State":
        return self._replace(jobs=(*self.jobs[:number], job, *self.jobs[number + 1 :]))

    def spend(self, *what: str) -> "State":
        return self._replace(left=self.left._replace(**{each: getattr(self.left, each) - 1 for each in what}))

    def locked(self, job: int) -> bool:
        return job in self.strangers or any(s.does == "nothing" and s.job == job for s in self.sessions)

    def sent(self, job: int) -> "State":
        return self._replace(wire=tuple(sorted((*self.wire, (job, self.jobs[job].attempt)))))

    def reports_of_others(self, worker: int) -> tuple[Report, ...]:
        return tuple(report for report in self.reports if report.worker != worker)

    def runs(self, worker: int, life: int) -> tuple[tuple[int, int], ...]:
        """By the rows."""
        ours = ("running", worker, life)
        return tuple((n, j.attempt) for n, j in enumerate(self.jobs) if (j.status, j.worker, j.life) == ours)

    @property
    def held(self) -> int:
        """How many slots."""
        return sum(job.status in {"queued", "running"} for job in self.jobs)


Outcomes = Iterator[tuple[str, State]]


def has_ended(job: Job) -> bool:
    return job.status in {"success", "dead"}


def is_there(process: Process) -> bool:
    return process.at != OFF and process.serves
