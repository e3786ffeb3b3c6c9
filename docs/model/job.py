"""A job, its messages and its workers as a state; the guards; how much may go wrong."""

from dataclasses import dataclass
from typing import NamedTuple

FINAL = frozenset({"success", "error", "dead", "cancelled"})
OFF, IDLE = "off", "idle"
# The steps of a process that has started an attempt: its body runs, or it tries the next way of settling.
ACTIVE = frozenset({"body", "stop", "fail"})
MAX_CRASHES = 2
TWICE = 2


@dataclass(frozen=True)
class Rules:
    """The guards of the statements. The defaults are the protocol's."""

    settle_fenced: bool = True  # ... AND attempt = %(attempt)s AND status = 'running', in whatever settles
    start_guards_status: bool = True  # ... AND status = 'queued'
    start_guards_attempt: bool = True  # ... AND attempt = %(attempt)s
    attempt_only_grows: bool = True  # a snooze does not give its number back
    cancel_waits: bool = True  # the slot of a running job is kept until its code has stopped
    retry_minds_cancel: bool = True  # ... AND cancel_requested_at IS NULL, in retry and snooze
    hand_back_minds_cancel: bool = True  # the same, in hand_back
    wait_minds_cancel: bool = True  # the same, in wait_for
    take_back_fenced: bool = True  # ... AND attempt = %(attempt)s
    take_back_minds_queued: bool = True  # ... AND status IN ('queued', 'running')
    report_names_process: bool = True  # start keeps the process; a parent's take_back names it
    start_minds_gone: bool = True  # a worker that was declared gone starts nothing
    orphans_are_patient: bool = True  # a worker that is not known may be about to register
    strangers_are_gone: bool = True  # recover declares a worker gone whose job it takes back, even an unregistered one
    cancel_repeats: bool = True  # until one of its statements applies, or the job has ended


class Left(NamedTuple):
    """The number of events that may still happen.

    If messages may be doubled, recover has no patience either: it sends a message again that is only slow.
    """

    deaths: int = 1  # of processes
    losses: int = 1  # of whole workers, killed or stalled
    doubles: int = 1  # of messages, by the broker
    retries: int = 1
    cancels: int = 1
    revives: int = 1


class Row(NamedTuple):
    """The job, as committed."""

    status: str = "created"
    attempt: int = 0
    holder: int = -1  # the worker that started it
    life: int = 0  # of the process that started it
    cancel: bool = False  # asked to stop
    crashes: int = 0


class Process(NamedTuple):
    """The process of a worker."""

    at: str = IDLE  # its next step
    attempt: int = 0
    gone: bool = False  # its worker was declared gone
    registered: bool = True  # its worker is in the table
    overdue: bool = False  # its worker is not in the table, and recover waits for it no longer
    life: int = 0  # the number of the process in its worker

    def holds(self, attempt: int) -> bool:
        return self.at in ACTIVE and self.attempt == attempt

    def idle(self) -> "Process":
        return self._replace(at=IDLE, attempt=0)

    def off(self) -> "Process":
        return self._replace(at=OFF, attempt=0)


class Report(NamedTuple):
    """A take_back under way."""

    attempt: int
    worker: int  # the worker whose parent reports it; -1: the clock, which saw that the worker is gone
    life: int = 0  # which of its processes died; two may have been given the same message


class State(NamedTuple):
    row: Row
    processes: tuple[Process, ...]
    wire: tuple[int, ...] = ()  # attempts, a message each
    starts: tuple[int, ...] = ()  # how often the body of each attempt started
    reports: tuple[Report, ...] = ()
    late: tuple[Report, ...] = ()  # starts at the server, whose sender is dead
    cancelling: str = ""  # the next statement of a cancel under way
    wrong: str = ""  # an act of a process, or an answer to a user, that must not be
    left: Left = Left()

    def put(self, me: int, process: Process) -> "State":
        return self._replace(processes=(*self.processes[:me], process, *self.processes[me + 1 :]))

    def spend(self, what: str) -> "State":
        return self._replace(left=self.left._replace(**{what: getattr(self.left, what) - 1}))
