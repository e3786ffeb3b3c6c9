"""The statements of time slices, and of the processes that take jobs back, as functions from state to state."""

from dataclasses import dataclass

from docs.model.crew import Job, Process, Report, Session, State
from docs.model.job import IDLE, MAX_CRASHES, OFF


@dataclass(frozen=True)
class Rules:
    """The guards of the statements, and the order of steps. The defaults are the protocol's."""

    follow_locks: bool = True  # FOR NO KEY UPDATE SKIP LOCKED
    follow_needs_settled: bool = True  # FROM settled
    follow_minds_gone: bool = True  # ... AND gone_at IS NULL
    settle_names_process: bool = True  # ... AND worker = ... AND worker_pid = ...
    asks_what_it_holds: bool = True  # after a lost answer of a settling
    asks_after_dispatch: bool = True  # after a lost answer of the pass that starts what the process keeps
    starts_before_it_asks: bool = True  # after a lost answer of a start: a late one has come by then, or finds no row
    gives_up_and_ends: bool = True  # a process ends that could not settle for a minute; it still holds the job
    report_by_process: bool = True  # a parent reads what a dead process ran from its rows, not from its message
    sessions_first: bool = True  # before a take_back the sessions of the dead process are ended, and seen to have ended
    take_back_skips: bool = True  # SKIP LOCKED, and again at the next tick
    compares: bool = True  # a parent compares the rows with what its processes hold; it takes back what none holds
    compares_patiently: bool = True  # a statement that is under way may have started it
    writes_name_process: bool = True  # results, memory, progress
    draining_is_free: bool = True  # jobs that run on a draining worker do not count against the capacity
    headroom: int = 0  # how many more jobs than processes a pool gets


# --- the process -----------------------------------------------------------------------------------------------


def start(state: State, process: Process, me: int, job: int, attempt: int) -> State | None:
    """start.sql"""
    row = state.jobs[job]
    if row.status != "queued" or row.attempt != attempt or process.gone:
        return None
    return state.row(job, row._replace(status="running", worker=me, life=process.life))


def succeed(rules: Rules, state: State, sent: Session, follow: bool) -> tuple[State, tuple[int, int] | None]:
    """settling/succeed.sql and settling/follow.sql"""
    row, worker = state.jobs[sent.job], state.processes[sent.worker]
    ours = (row.worker, row.life) == (sent.worker, sent.life)
    fits = row.status == "running" and row.attempt == sent.attempt and (ours or not rules.settle_names_process)
    if fits and (not ours or (worker.at == "body" and worker.life == sent.life and worker.owner != row.owner)):
        state = state._replace(wrong=f"I3: worker {sent.worker + 1} settled what another process runs")
    follow = follow and (fits or not rules.follow_needs_settled) and not worker.drains
    follow = follow and not (worker.gone and rules.follow_minds_gone)
    if fits:
        state = state.row(sent.job, row.ended("success"))
    found = next_of_lane(state) if follow else None
    return (state, None) if found is None else followed(state, sent.worker, sent.life, found)


def next_of_lane(state: State) -> int | None:
    waiting = (n for n, job in enumerate(state.jobs) if job.status == "created" and not state.locked(n))
    return next(waiting, None)


def followed(state: State, worker: int, life: int, job: int) -> tuple[State, tuple[int, int]]:
    row = state.jobs[job]
    if state.processes[worker].gone:
        state = state._replace(wrong=f"I3: worker {worker + 1} was declared gone, and goes on with {job + 1}")
    row = row._replace(status="running", attempt=row.attempt + 1, worker=worker, life=life)
    return state.row(job, row), (job, row.attempt)


def enter(state: State, me: int, job: int, attempt: int, forget: bool = True) -> State:
    """Begin the body."""
    process = state.processes[me]
    if (job, attempt) in state.started and not state.promoted:
        state = state._replace(wrong=f"I3: the body of {job + 1}, attempt {attempt}, started twice")
    message = () if forget else process.message
    state = state._replace(started=tuple(sorted({*state.started, (job, attempt)})))
    owner = state.jobs[job].owner
    return state.put(me, process._replace(at="body", job=job, attempt=attempt, message=message, owner=owner))


def carried_out(rules: Rules, state: State, sent: Session) -> State:
    """Let the server carry out a statement, also if its sender is dead."""
    sessions = tuple(one for one in state.sessions if one != sent)
    state = state._replace(sessions=sessions)
    if sent.does == "succeed":
        return succeed(rules, state, sent, follow=True)[0]
    sender = state.processes[sent.worker]._replace(life=sent.life)
    return start(state, sender, sent.worker, sent.job, sent.attempt) or state


# --- the door --------------------------------------------------------------------------------------------------


def claimed(rules: Rules, state: State, slots: int) -> tuple[State, int] | None:
    """Claim one job, if there is a slot and a place: claim.sql."""
    job = next_of_lane(state)
    if job is None or state.held >= slots or in_use(rules, state) >= capacity(rules, state):
        return None
    row = state.jobs[job]
    return state.row(job, row.ended("queued")._replace(attempt=row.attempt + 1)), job


def capacity(rules: Rules, state: State) -> int:
    processes = sum(process.serves for process in state.processes)
    return processes + rules.headroom if processes else 0


def in_use(rules: Rules, state: State) -> int:
    return running(rules, state) + sum(job.status == "queued" for job in state.jobs)


def running(rules: Rules, state: State) -> int:
    rows = (job for job in state.jobs if job.status == "running")
    return sum(not rules.draining_is_free or state.processes[job.worker].serves for job in rows)


def idle_by_count(rules: Rules, state: State) -> bool:
    return sum(process.serves for process in state.processes) > running(rules, state)


def lost(state: State, job: int) -> bool:
    """Return whether the job is queued, and its message is nowhere."""
    row = state.jobs[job]
    mine = (job, row.attempt)
    in_hands = any(mine in {(p.job, p.attempt), p.follows} for p in state.processes)
    return row.status == "queued" and mine not in state.wire and not in_hands


# --- the parents and the clock ---------------------------------------------------------------------------------------


def crashed(job: Job) -> Job:
    """Take a job back: it waits for a moment, or is dead; if it had not started, it is ready, without a crash.

    This is take_back.sql.
    """
    if job.status == "queued":
        return job.ended("created")
    crashes = job.crashes + 1
    return job.ended("scheduled" if crashes < MAX_CRASHES else "dead")._replace(crashes=crashes)


def report_goes_on(rules: Rules, state: State, report: Report) -> tuple[str, State] | None:
    """Make the next step of the parent of a process that died: one statement after another."""
    name = f"process {report.life + 1} of it"
    rest = tuple(one for one in state.reports if one != report)
    if report.at == "end":
        if rules.sessions_first:
            dead = (report.worker, report.life)
            state = state._replace(sessions=tuple(s for s in state.sessions if (s.worker, s.life) != dead))
        return f"ends the sessions of {name}", _reported(state, rest, report._replace(at="look"))
    if report.at == "look":
        saw = state.runs(report.worker, report.life) if rules.report_by_process else ()
        saw = tuple(sorted({*saw, *((report.message,) if report.message else ())}))
        return f"looks what {name} ran", _reported(state, rest, report._replace(at="take", saw=saw))
    held = tuple((job, attempt) for job, attempt in report.saw if state.locked(job) and _theirs(state, report, job))
    after = _reported(state, rest, report._replace(saw=held)) if held else state._replace(reports=rest)
    for job, attempt in report.saw:
        if (job, attempt) not in held and state.jobs[job].attempt == attempt and _theirs(state, report, job):
            after = after.row(job, crashed(state.jobs[job]))
    return None if after == state else (f"takes back what {name} ran", after)


def _theirs(state: State, report: Report, job: int) -> bool:
    row = state.jobs[job]
    return row.status == "queued" or (row.status, row.worker, row.life) == ("running", report.worker, report.life)


def _reported(state: State, rest: tuple[Report, ...], report: Report) -> State:
    return state._replace(reports=tuple(sorted((*rest, report))))


def unheld_taken(rules: Rules, state: State, job: int) -> tuple[str, State] | None:
    """Let a parent take back a row that is `running` in one of its processes, which does not hold it: reconcile.py."""
    row, process = state.jobs[job], state.processes[state.jobs[job].worker]
    if not rules.compares or process.at == OFF or process.gone or state.locked(job):
        return None
    if row.life != process.life:  # its process is gone: its death is being reported, or PostgreSQL has lost the report
        again = Report(row.worker, row.life)
        told = any((r.worker, r.life) == (row.worker, row.life) for r in state.reports)
        return None if told else ("misses a process", _reported(state, state.reports, again))
    holds = (process.job, process.attempt) == (job, row.attempt)
    under_way = process.at not in {IDLE, "dispatch", "body"}
    if holds or (under_way and rules.compares_patiently):
        return None
    return f"takes back {job + 1}, which its process does not hold", state.row(job, crashed(row))


def orphan_taken(rules: Rules, state: State, job: int) -> tuple[str, State] | None:
    """Make the clock's next step with a running job whose worker is gone; None while it must leave the job alone."""
    worker = state.jobs[job].worker
    if rules.sessions_first and any(session.worker == worker for session in state.sessions):
        sessions = tuple(session for session in state.sessions if session.worker != worker)
        return f"ends the sessions of worker {worker + 1}", state._replace(sessions=sessions)
    if not state.locked(job):
        return f"takes back {job + 1}", state.row(job, crashed(state.jobs[job]))
    return None if rules.take_back_skips else (f"waits for the row of {job + 1}", state._replace(waits=job))
