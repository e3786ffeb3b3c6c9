"""The statements that move a job, as functions from state to state; a rule that is off is a guard that is missing."""

from collections.abc import Iterator

from docs.model.job import FINAL, MAX_CRASHES, OFF, TWICE, Process, Report, Row, Rules, State


def without_message(state: State, attempt: int) -> State:
    wire = list(state.wire)
    wire.remove(attempt)
    return state._replace(wire=tuple(wire))


# --- the worker ------------------------------------------------------------------------------------------------


def go_on(rules: Rules, state: State, me: int) -> Iterator[tuple[str, State]]:
    """Yield the next steps of a process that is not idle."""
    process = state.processes[me]
    if process.at == "start":
        row = started(rules, state, process.attempt, me, process.life)
        if row is None:
            yield "start: no row, leaves it", state.put(me, process.idle())
        else:
            yield "starts, enters the body", _enter(state._replace(row=row), me)
    elif process.at == "body":
        yield from _body(rules, state, me)
    else:
        yield _settle(rules, state, me, process.at)


def started(rules: Rules, state: State, attempt: int, worker: int, life: int) -> Row | None:
    """start.sql"""
    row, process = state.row, state.processes[worker]
    refused = (
        (rules.start_guards_attempt and row.attempt != attempt)
        or (rules.start_guards_status and row.status != "queued")
        or (rules.start_minds_gone and process.gone)
    )
    return None if refused else row._replace(status="running", holder=worker, life=life)


def _enter(state: State, me: int) -> State:
    process = state.processes[me]
    starts = list(state.starts) + [0] * (process.attempt - len(state.starts))
    starts[process.attempt - 1] = min(starts[process.attempt - 1] + 1, TWICE)
    return state._replace(starts=tuple(starts)).put(me, process._replace(at="body"))


def _body(rules: Rules, state: State, me: int) -> Iterator[tuple[str, State]]:
    """End the body in each possible way, and try the first statement that settles it."""
    process = state.processes[me]
    yield _settle(rules, state, me, "succeed")
    yield _settle(rules, state, me, "fail")
    if state.left.retries:
        yield _settle(rules, state.spend("retries"), me, "retry")
        yield _settle(rules, state.spend("retries"), me, "snooze")
        yield _settle(rules, state.spend("retries"), me, "hand_back")  # it was asked to, at a checkpoint
        yield _settle(rules, state.spend("retries"), me, "wait_for")  # an event
    if state.row.cancel and state.row.status == "running" and state.row.attempt == process.attempt:
        yield _settle(rules, state, me, "stop")  # it has seen that it is to stop


ENDS = {"succeed": "success", "stop": "cancelled", "fail": "error", "hand_back": "created", "wait_for": "blocked"}
ENDS |= dict.fromkeys(("retry", "snooze"), "scheduled")
REFUSED = {
    **dict.fromkeys(("retry", "snooze", "hand_back", "wait_for"), "stop"),
    "stop": "fail",
}  # what settle.py tries next


def _settle(rules: Rules, state: State, me: int, verb: str) -> tuple[str, State]:
    """Try one of the statements that end an attempt."""
    process, row = state.processes[me], state.row
    fits = not rules.settle_fenced or (row.status == "running" and row.attempt == process.attempt)
    minds = {"hand_back": rules.hand_back_minds_cancel, "wait_for": rules.wait_minds_cancel}
    if REFUSED.get(verb) == "stop" and minds.get(verb, rules.retry_minds_cancel):
        fits = fits and not row.cancel
    if verb == "stop":
        fits = fits and row.cancel
    if not fits:
        then = REFUSED.get(verb)
        return f"{verb}: no row", state.put(me, process._replace(at=then) if then else process.idle())
    if (row.status, row.attempt, row.holder) != ("running", process.attempt, me):
        wrong = f"I3: worker {me + 1} settled attempt {process.attempt}, when it was not its own any more"
        state = state._replace(wrong=wrong)
    ended = row._replace(status=ENDS[verb], holder=-1)
    if verb == "snooze" and not rules.attempt_only_grows:
        ended = ended._replace(attempt=row.attempt - 1)
    return f"settles: {verb}", state._replace(row=ended).put(me, process.idle())


# --- deaths ----------------------------------------------------------------------------------------------------


def process_dies(state: State, me: int) -> Iterator[tuple[str, State]]:
    """Let a process die, killed or unable to go on. Its parent will report it, and has another process by then."""
    process = state.processes[me]
    report = Report(process.attempt, me, process.life)
    after = state._replace(reports=(*state.reports, report)).put(me, process.idle()._replace(life=process.life + 1))
    yield f"its process dies before: {process.at}", after
    if process.at == "start":
        yield "its process dies when it has sent its start", after._replace(late=(*state.late, report))


def late_start(rules: Rules, state: State, sent: Report) -> State:
    """Let the server finish a statement although its client is dead."""
    row = started(rules, state, sent.attempt, sent.worker, sent.life)
    late = tuple(one for one in state.late if one != sent)
    return state._replace(late=late, row=state.row if row is None else row)


def worker_dies(state: State, me: int) -> State:
    """Let a worker die with its parent, and with the reports of that."""
    reports = tuple(report for report in state.reports if report.worker != me)
    return state._replace(reports=reports).put(me, state.processes[me].off())


def gone(state: State, me: int) -> State:
    """declare_gone.sql"""
    return state.put(me, state.processes[me]._replace(registered=True, gone=True))


def registers(process: Process) -> Process:
    """beat.sql, the first time"""
    return process._replace(registered=True, overdue=False)


def is_orphan(rules: Rules, row: Row, processes: tuple[Process, ...]) -> bool:
    """Return whether the worker of a running job is gone: orphans.sql.

    A worker that lives and does not stall registers in time.
    """
    if row.status != "running" or row.holder < 0:
        return False
    holder = processes[row.holder]
    if holder.registered:
        return holder.gone
    return holder.overdue or holder.at == OFF or not rules.orphans_are_patient


def take_back(rules: Rules, state: State, report: Report) -> State:
    """take_back.sql"""
    reports = list(state.reports)
    reports.remove(report)
    state, row = state._replace(reports=tuple(reports)), state.row
    fits = row.status == "running" or (row.status == "queued" and rules.take_back_minds_queued)
    fits = fits and (row.attempt == report.attempt or not rules.take_back_fenced)
    if rules.report_names_process and row.status == "running" and report.worker >= 0:
        fits = fits and (row.holder, row.life) == (report.worker, report.life)
    if not fits:
        return state
    crashes = row.crashes + (row.status == "running")  # what had not started has not crashed
    status = "cancelled" if row.cancel else "scheduled" if crashes < MAX_CRASHES else "dead"
    return state._replace(row=row._replace(status=status, holder=-1, crashes=crashes))


# --- cancel ----------------------------------------------------------------------------------------------------


def cancel(rules: Rules, state: State) -> tuple[str, State]:
    """cancel.sql, request_cancel.sql, unfinished.sql, and again: one statement after another, as in cancel.py."""
    row, statement = state.row, state.cancelling or "cancel"
    if not state.cancelling:
        state = state.spend("cancels")
    frees = {"blocked", "created", "scheduled", "queued"} | (set() if rules.cancel_waits else {"running"})
    if statement in {"cancel", "cancel again"} and row.status in frees:
        return f"{statement}: cancelled", _told(state, row._replace(status="cancelled", holder=-1))
    if statement == "request" and row.status == "running":
        return "request: requested", _told(state, row._replace(cancel=True))
    if statement == "cancel":
        return "cancel: no row", state._replace(cancelling="request")
    if statement == "request":
        then = "has it ended" if rules.cancel_repeats else "cancel again"
        return "request: no row", state._replace(cancelling=then)
    if statement == "has it ended" and row.status not in FINAL:
        return "has it ended: no", state._replace(cancelling="cancel")
    if row.status not in FINAL:
        state = state._replace(wrong=f"cancel answered 'too late', but the job is {row.status}")
    return f"{statement}: too late", _told(state, row)


def _told(state: State, row: Row) -> State:
    return state._replace(row=row, cancelling="")
