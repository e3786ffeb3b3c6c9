"""The statements that move a job, as functions from state to state; a rule that is off is a guard that is missing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

FINAL = frozenset({"success", "error", "dead", "cancelled"})
OFF, IDLE = "off", "idle"
# Where a process is that has started an attempt: about to enter its body, in it, or about to settle.
ACTIVE = frozenset({"enter", "body", "succeed", "retry", "snooze", "stop", "fail"})
MAX_CRASHES = 2
TWICE = 2


@dataclass(frozen=True)
class Rules:
    """What the statements guard. The defaults are the protocol's."""

    settle_fenced: bool = True  # ... AND attempt = %(attempt)s AND status = 'running', in whatever settles
    start_guards_status: bool = True  # ... AND status = 'queued'
    start_guards_attempt: bool = True  # ... AND attempt = %(attempt)s
    attempt_only_grows: bool = True  # a snooze does not give its number back
    cancel_waits: bool = True  # the slot of a running job is kept until its code has stopped
    retry_minds_cancel: bool = True  # ... AND cancel_requested_at IS NULL, in retry and snooze
    take_back_fenced: bool = True  # ... AND attempt = %(attempt)s
    # What the code relies on, or is proposed for it: see README.md
    duplicates_survive: bool = True  # no process dies, or loses the database, between a message and its start
    report_names_process: bool = False  # a parent's take_back says whose death it reports
    registers_first: bool = True  # a worker is in the table before it starts anything
    start_checks_worker: bool = False  # start only for a worker that is registered, and not gone
    start_ends_first: bool = True  # a start that was sent is over when the death of its sender is reported
    parents_compare: bool = False  # a parent looks for rows of its own that none of its processes runs
    cancel_at_once: bool = False  # cancel and request_cancel are one statement


class Left(NamedTuple):
    """How much may still happen. deaths: of processes; losses: of whole workers, killed or stalled."""

    deaths: int = 1
    losses: int = 1
    doubles: int = 1
    retries: int = 1
    cancels: int = 1
    revives: int = 1


class Row(NamedTuple):
    """The job, as committed. holder: the worker that started it."""

    status: str = "created"
    attempt: int = 0
    holder: int = -1
    cancel: bool = False  # asked to stop
    crashes: int = 0


class Process(NamedTuple):
    """The process of a worker. at: what it does next. gone: its worker was declared gone."""

    at: str = IDLE
    attempt: int = 0
    gone: bool = False
    registered: bool = True

    def holds(self, attempt: int) -> bool:
        return self.at in ACTIVE and self.attempt == attempt

    def idle(self) -> "Process":
        return self._replace(at=IDLE, attempt=0)

    def off(self) -> "Process":
        return self._replace(at=OFF, attempt=0)


class Report(NamedTuple):
    """A take_back under way. worker: whose parent reports it; -1: the clock, which saw that the worker is gone."""

    attempt: int
    worker: int


class State(NamedTuple):
    row: Row
    processes: tuple[Process, ...]
    wire: tuple[int, ...] = ()  # attempts, a message each
    starts: tuple[int, ...] = ()  # how often the body of each attempt started
    reports: tuple[Report, ...] = ()
    late: tuple[tuple[int, int], ...] = ()  # starts (attempt, worker) at the server, whose sender is dead
    cancelling: str = ""  # the next statement of a cancel under way
    answer: str = ""  # what the canceller was told last
    stale: str = ""  # what a stale holder did change
    left: Left = Left()

    def put(self, me: int, process: Process) -> "State":
        return self._replace(processes=(*self.processes[:me], process, *self.processes[me + 1 :]))

    def spend(self, what: str) -> "State":
        return self._replace(left=self.left._replace(**{what: getattr(self.left, what) - 1}))


def without_message(state: State, attempt: int) -> State:
    wire = list(state.wire)
    wire.remove(attempt)
    return state._replace(wire=tuple(wire))


# --- the worker ------------------------------------------------------------------------------------------------


def go_on(rules: Rules, state: State, me: int) -> Iterator[tuple[str, State]]:
    """The next step of a process that has something to do."""
    process = state.processes[me]
    if process.at == "start":
        row = started(rules, state, process.attempt, me)
        if row is None:
            yield "start: no row, leaves it", state.put(me, process.idle())
        else:
            yield "starts", state._replace(row=row).put(me, process._replace(at="enter"))
    elif process.at == "enter":
        yield f"enters the body of attempt {process.attempt}", _enter(state, me)
    elif process.at == "body":
        yield from _body(state, me)
    else:
        yield _settle(rules, state, me)


def started(rules: Rules, state: State, attempt: int, worker: int) -> Row | None:
    """start.sql"""
    row, process = state.row, state.processes[worker]
    refused = (
        (rules.start_guards_attempt and row.attempt != attempt)
        or (rules.start_guards_status and row.status != "queued")
        or (rules.start_checks_worker and (process.gone or not process.registered))
    )
    return None if refused else row._replace(status="running", holder=worker)


def _enter(state: State, me: int) -> State:
    process = state.processes[me]
    starts = list(state.starts) + [0] * (process.attempt - len(state.starts))
    starts[process.attempt - 1] = min(starts[process.attempt - 1] + 1, TWICE)
    return state._replace(starts=tuple(starts)).put(me, process._replace(at="body"))


def _body(state: State, me: int) -> Iterator[tuple[str, State]]:
    process = state.processes[me]
    yield "body ends well", state.put(me, process._replace(at="succeed"))
    yield "body fails for good", state.put(me, process._replace(at="fail"))
    if state.left.retries:
        spent = state.spend("retries")
        yield "body fails, to be retried", spent.put(me, process._replace(at="retry"))
        yield "body asks to be run later", spent.put(me, process._replace(at="snooze"))
    if state.row.cancel and state.row.status == "running" and state.row.attempt == process.attempt:
        yield "body sees that it is to stop", state.put(me, process._replace(at="stop"))


ENDS = {"succeed": "success", "retry": "scheduled", "snooze": "scheduled", "stop": "cancelled", "fail": "error"}
REFUSED = {"retry": "stop", "snooze": "stop", "stop": "fail"}  # what settle.py tries next


def _settle(rules: Rules, state: State, me: int) -> tuple[str, State]:
    """One of the statements that end an attempt."""
    process, row = state.processes[me], state.row
    verb = process.at
    fits = not rules.settle_fenced or (row.status == "running" and row.attempt == process.attempt)
    if verb in {"retry", "snooze"} and rules.retry_minds_cancel:
        fits = fits and not row.cancel
    if verb == "stop":
        fits = fits and row.cancel
    if not fits:
        then = REFUSED.get(verb)
        return f"{verb}: no row", state.put(me, process._replace(at=then) if then else process.idle())
    if (row.status, row.attempt, row.holder) != ("running", process.attempt, me):
        stale = f"worker {me + 1} settled attempt {process.attempt}, when it was not its own any more"
        state = state._replace(stale=stale)
    ended = row._replace(status=ENDS[verb], holder=-1)
    if verb == "snooze" and not rules.attempt_only_grows:
        ended = ended._replace(attempt=row.attempt - 1)
    return f"settles: {verb}", state._replace(row=ended).put(me, process.idle())


# --- deaths ----------------------------------------------------------------------------------------------------


def process_dies(rules: Rules, state: State, me: int) -> Iterator[tuple[str, State]]:
    """Killed, or unable to go on. Its parent is going to report it, and has another process by then."""
    process = state.processes[me]
    if process.at == IDLE or (process.at == "start" and rules.duplicates_survive and rules.start_ends_first):
        return
    report = Report(process.attempt, me)
    reported = state._replace(reports=(*state.reports, report)).put(me, process.idle())
    if process.at != "start" or not rules.duplicates_survive:
        yield f"its process dies before: {process.at}", reported
    if process.at == "start" and not rules.start_ends_first:
        yield "its process dies when it has sent its start", reported._replace(late=((process.attempt, me),))


def late_start(rules: Rules, state: State, attempt: int, worker: int) -> State:
    """The server ends a statement although its client is dead."""
    row = started(rules, state, attempt, worker)
    late = tuple(one for one in state.late if one != (attempt, worker))
    return state._replace(late=late, row=state.row if row is None else row)


def worker_dies(state: State, me: int) -> State:
    """With its parent, and what that was going to report."""
    reports = tuple(report for report in state.reports if report.worker != me)
    return state._replace(reports=reports).put(me, state.processes[me].off())


def gone(state: State, me: int) -> State:
    """declare_gone.sql"""
    return state.put(me, state.processes[me]._replace(gone=True))


def is_orphan(row: Row, processes: tuple[Process, ...]) -> bool:
    """orphans.sql"""
    if row.status != "running" or row.holder < 0:
        return False
    return processes[row.holder].gone or not processes[row.holder].registered


def take_back(rules: Rules, state: State, report: Report) -> State:
    """take_back.sql"""
    reports = list(state.reports)
    reports.remove(report)
    state, row = state._replace(reports=tuple(reports)), state.row
    fits = row.status == "running" and (row.attempt == report.attempt or not rules.take_back_fenced)
    if rules.report_names_process and report.worker >= 0:
        fits = fits and row.holder == report.worker
    if not fits:
        return state
    crashes = row.crashes + 1
    status = "cancelled" if row.cancel else "created" if crashes < MAX_CRASHES else "dead"
    return state._replace(row=row._replace(status=status, holder=-1, crashes=crashes))


# --- cancel ----------------------------------------------------------------------------------------------------


def cancel(rules: Rules, state: State) -> tuple[str, State]:
    """cancel.sql, then request_cancel.sql, then cancel.sql once more: a statement at a time, as cancel.py sends them."""
    row, statement = state.row, state.cancelling or "cancel"
    if not state.cancelling:
        state = state.spend("cancels")
    may_cancel = statement != "request" or rules.cancel_at_once
    may_request = statement == "request" or rules.cancel_at_once or not rules.cancel_waits
    if may_cancel and row.status in {"created", "scheduled", "queued"}:
        return f"{statement}: cancelled", _told(state, "cancelled", row._replace(status="cancelled", holder=-1))
    if may_request and row.status == "running":
        if not rules.cancel_waits:
            return f"{statement}: cancelled", _told(state, "cancelled", row._replace(status="cancelled", holder=-1))
        return f"{statement}: requested", _told(state, "requested", row._replace(cancel=True))
    then = {"cancel": "request", "request": "again"}.get(statement)
    if then and not rules.cancel_at_once:
        return f"{statement}: no row", state._replace(cancelling=then)
    return f"{statement}: no row, too late", _told(state, "too late", row)


def _told(state: State, answer: str, row: Row) -> State:
    return state._replace(row=row, cancelling="", answer=answer)
