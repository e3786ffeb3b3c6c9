"""The jobs of a lane, and the processes that go from one to the next without a message, as a state."""

from collections.abc import Iterator
from typing import NamedTuple

from docs.model.job import IDLE, OFF

SENDS = ("start", "start again", "body", "settle again", "keeps")  # where the next step of a process is a statement


class Left(NamedTuple):
    """The number of events that may still happen."""

    deaths: int = 0  # of processes
    losses: int = 0  # of whole workers, killed or stalled
    cuts: int = 0  # of a connection, with a statement on its way
    doubles: int = 0  # of messages
    retries: int = 0
    drains: int = 0
    opens: int = 0  # deaths that leave a transaction open, which has the job's row locked
    strangers: int = 0  # sessions that lock a row and never let it go
    standbys: int = 0  # promoted without the last commits


class Job(NamedTuple):
    """A row, as committed."""

    status: str = "created"
    attempt: int = 0
    worker: int = -1  # the worker that started it
    life: int = 0  # the process of that worker
    crashes: int = 0
    owner: int = 0  # its tenant; a number may come again

    def ended(self, status: str) -> "Job":
        return self._replace(status=status, worker=-1, life=0)


class Process(NamedTuple):
    """The process of a worker."""

    at: str = IDLE  # its next step
    job: int = -1
    attempt: int = 0
    life: int = 0  # the number of the process in its worker
    message: tuple[int, int] | tuple[()] = ()  # the message that it was given
    gone: bool = False  # its worker was declared gone
    drains: bool = False
    owner: int = 0  # the tenant of the body that runs
    follows: tuple[int, int] | tuple[()] = ()  # the attempt that its last statement has started, or starts next

    def idle(self, at: str = IDLE) -> "Process":
        return Process(at, life=self.life, gone=self.gone, drains=self.drains)

    @property
    def serves(self) -> bool:
        """Return whether the count of live workers includes it."""
        return not self.gone and not self.drains


class Session(NamedTuple):
    """A session that a dead process, or a cut connection, has left behind at the server."""

    worker: int
    life: int
    does: str  # "start", "succeed", or "nothing", with the row locked
    job: int
    attempt: int


class Report(NamedTuple):
    """The report of a process that died."""

    worker: int
    life: int
    at: str = "end"  # its sessions; then "look" what it ran, by the rows; then "take" that back
    message: tuple[int, int] | tuple[()] = ()
    saw: tuple[tuple[int, int], ...] = ()


class State(NamedTuple):
    jobs: tuple[Job, ...]
    processes: tuple[Process, ...]
    wire: tuple[tuple[int, int], ...] = ()  # (job, attempt), a message each
    sessions: tuple[Session, ...] = ()
    reports: tuple[Report, ...] = ()
    strangers: tuple[int, ...] = ()  # the jobs whose rows strangers have locked
    waits: int = -1  # the job for whose row the clock is waiting
    started: tuple[tuple[int, int], ...] = ()  # the bodies
    standby: tuple[Job, ...] = ()  # the rows that it has, if it lags behind
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
        """Return the attempts that this process runs, by the rows."""
        ours = ("running", worker, life)
        return tuple((n, j.attempt) for n, j in enumerate(self.jobs) if (j.status, j.worker, j.life) == ours)

    @property
    def held(self) -> int:
        """The number of slots in use."""
        return sum(job.status in {"queued", "running"} for job in self.jobs)


Outcomes = Iterator[tuple[str, State]]


def has_ended(job: Job) -> bool:
    return job.status in {"success", "dead"}


def is_there(process: Process) -> bool:
    return process.at != OFF and process.serves
