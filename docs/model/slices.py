"""Time slices: a process settles a job and starts the next one of its lane in the same slot, by one statement.

There are several jobs of one tenant, workers with one process each, parents and the clock. I1 (slots), I3, I4: after
all mishaps a process goes on with every job, and no job waits for the row of another. I8: no body writes into another
tenant's job, although numbers come again after a failover.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain

from docs.model import mishaps, slicing
from docs.model.crew import SENDS, Job, Left, Outcomes, Process, Session, State, has_ended, is_there
from docs.model.explorer import Step
from docs.model.job import IDLE, OFF
from docs.model.slicing import Rules

PROTOCOL, QUIET = Rules(), Left()


@dataclass(frozen=True)
class Slices:
    """The statements of several jobs, and how much may go wrong with them."""

    rules: Rules = PROTOCOL  # the guards of the statements, and their order
    left: Left = QUIET  # how much may go wrong
    jobs: int = 2
    slots: int = 1
    workers: int = 2

    def start(self) -> State:
        return State((Job(),) * self.jobs, (Process(),) * self.workers, left=self.left)

    def key(self, state: State) -> Hashable:
        """Return the key of a state. Workers may change places; of processes only matters which are the same."""

        def seen_from(me: int) -> Hashable:
            process = state.processes[me]
            runs = [(n, process.life - j.life) for n, j in enumerate(state.jobs) if j.worker == me]
            sessions = sorted((process.life - s.life, *s[2:]) for s in state.sessions if s.worker == me)
            reports = sorted((process.life - r.life, *r[2:]) for r in state.reports if r.worker == me)
            knew = [(n, process.life - j.life) for n, j in enumerate(state.standby) if j.worker == me]
            return (process._replace(life=0), *map(tuple, (runs, sessions, reports, knew)))

        workers = tuple(sorted(seen_from(me) for me in range(self.workers)))  # type: ignore[type-var]
        jobs, standby = (tuple((*j[:2], *j[4:]) for j in rows) for rows in (state.jobs, state.standby))
        return (jobs, standby, workers, state.wire, *state[5:8], state.promoted, state.wrong, state.left)

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        return chain(self._good(state), mishaps.mishaps(self.rules, state))

    def _good(self, state: State, drain_lasts: bool = False) -> Iterator[Step[State]]:
        """Yield the steps that need no mishap.

        drain_lasts: bodies on a worker that drains do not end
        """
        for me, process in enumerate(state.processes):
            if not (drain_lasts and process.drains and process.at == "body"):
                for what, after in self._process(state, me):
                    yield Step(f"worker {me + 1}", what, after)
            if process.gone and process.at != OFF:
                stopped = state._replace(reports=state.reports_of_others(me)).put(me, process.idle(OFF))
                yield Step(f"worker {me + 1}", "finds itself declared gone, stops", stopped)
        yield from self._parents(state)
        if state.waits < 0:
            for what, after in self._clock(state):
                yield Step("clock", what, after)
        elif not state.locked(state.waits):
            yield Step("clock", "has waited", state._replace(waits=-1))

    def _parents(self, state: State) -> Iterator[Step[State]]:
        for report in state.reports:
            told = slicing.report_goes_on(self.rules, state, report)
            if told is not None:
                yield Step(f"parent of worker {report.worker + 1}", *told)
        for job, row in enumerate(state.jobs):
            taken = slicing.unheld_taken(self.rules, state, job) if row.status == "running" else None
            if taken is not None:
                yield Step(f"parent of worker {row.worker + 1}", *taken)

    def _process(self, state: State, me: int) -> Outcomes:
        process = state.processes[me]
        if process.at == IDLE and not process.drains:
            for job, attempt in sorted(set(state.wire)):
                wire = list(state.wire)
                wire.remove((job, attempt))
                given = process._replace(at="start", job=job, attempt=attempt, message=(job, attempt))
                yield f"receives {job + 1}", state._replace(wire=tuple(wire)).put(me, given)
        elif process.at == "dispatch":
            yield "waits for a message", state.put(me, process.idle())
            kept = None if process.drains else slicing.claimed(self.rules, state, self.slots)
            if kept is not None:
                after, job = kept
                keeps = process.idle("keeps")._replace(follows=(job, after.jobs[job].attempt))
                yield f"claims {job + 1}, and keeps it", after.put(me, keeps)
        elif process.at == "keeps":
            yield from self._keeps(state, me)
        elif process.at not in {IDLE, OFF} and not (process.at in SENDS and state.locked(process.job)):
            yield from self._statement(state, me)

    def _statement(self, state: State, me: int) -> Outcomes:
        process = state.processes[me]
        job, attempt = process.job, process.attempt
        if process.at in {"start", "start again", "start at last"}:
            after = slicing.start(state, process, me, job, attempt)
            if after is not None:
                yield f"starts {job + 1}", self._enter(after, me, job, attempt)
            elif process.at == "start again":
                yield f"starts {job + 1}: no row", state.put(me, process._replace(at="asks"))
            else:
                yield f"starts {job + 1}: no row", state.put(me, process.idle())
        elif process.at in {"asks", "asks first"}:
            if (job, attempt) in state.runs(me, process.life):
                yield f"asks: it runs {job + 1}", self._enter(state, me, job, attempt)
            else:
                then = process._replace(at="start at last") if process.at == "asks first" else process.idle()
                yield f"asks: it does not run {job + 1}", state.put(me, then)
        elif process.at == "asks what it holds":
            runs = state.runs(me, process.life)
            after = self._enter(state, me, *runs[0]) if runs else state.put(me, process.idle("dispatch"))
            yield f"asks what it holds: {runs[0][0] + 1 if runs else 'nothing'}", after
        elif process.at == "hears":
            then = state.put(me, process._replace(at="start", follows=()))
            yield f"hears that it runs {process.follows[0] + 1}", self._enter(then, me, *process.follows)
        elif process.at == "follows":  # without a lock: another process may have the chosen job by now
            after, found = slicing.followed(state, me, process.life, job)
            yield f"goes on with {job + 1}", self._enter(after, me, *found)
        else:
            yield from self._settles(state, me)

    def _keeps(self, state: State, me: int) -> Outcomes:
        """Start the kept job in the pipeline of the dispatch: the process does not know the job yet."""
        process = state.processes[me]
        kept, attempt = process.follows
        after = None if state.locked(kept) else slicing.start(state, process, me, kept, attempt)
        if after is not None:
            yield f"starts {kept + 1}", after.put(me, process._replace(at="hears"))
        else:
            closer = process.idle("start")._replace(job=kept, attempt=attempt)
            yield f"could not start {kept + 1}", state.put(me, closer)

    def _settles(self, state: State, me: int) -> Outcomes:
        process = state.processes[me]
        again, row = process.at == "settle again", state.jobs[process.job]
        sent = Session(me, process.life, "succeed", process.job, process.attempt)
        for follow in (True,) if again else (True, False):
            after, found = slicing.succeed(self.rules, state, sent, follow)
            if found is not None and self.rules.follow_locks:
                hears = process._replace(at="hears", follows=found)  # the answer: its parent does not know of it yet
                yield f"settles {sent.job + 1}, goes on with {found[0] + 1}", after.put(me, hears)
            elif found is not None:
                after, _ = slicing.succeed(self.rules, state, sent, follow=False)
                yield f"settles {sent.job + 1}", after.put(me, process._replace(at="follows", job=found[0]))
            else:
                then = "asks what it holds" if again and self.rules.asks_what_it_holds else "dispatch"
                yield f"settles {sent.job + 1}", after.put(me, process.idle(then))
        runs = (process.job, process.attempt) in state.runs(me, process.life)
        if state.left.retries and not again and runs:
            retried = state.spend("retries").row(process.job, row.ended("scheduled")._replace(crashes=0))
            yield f"settles {sent.job + 1}: retry", retried.put(me, process.idle("dispatch"))

    def _enter(self, state: State, me: int, job: int, attempt: int) -> State:
        return slicing.enter(state, me, job, attempt, forget=self.rules.report_by_process)

    def _clock(self, state: State) -> Outcomes:
        for me, process in enumerate(state.processes):
            if process.at == OFF and not process.gone:
                yield f"declares worker {me + 1} gone", state.put(me, process._replace(gone=True))
        for job, row in enumerate(state.jobs):
            if row.status == "scheduled" and not state.locked(job):
                yield f"promotes {job + 1}", state.row(job, row.ended("created"))
            elif row.status == "running" and state.processes[row.worker].gone:
                taken = slicing.orphan_taken(self.rules, state, job)
                yield from (taken,) if taken else ()
            elif slicing.lost(state, job) and slicing.idle_by_count(self.rules, state) and not state.locked(job):
                yield f"hands {job + 1} over again", state.sent(job)
        claimed = slicing.claimed(self.rules, state, self.slots)
        if claimed is not None:
            yield f"claims {claimed[1] + 1}, hands it over", claimed[0].sent(claimed[1])

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        if state.wrong:
            return state.wrong
        if state.held > self.slots:
            return f"I1: {state.held} slots are held of {self.slots}"
        robbed = None if state.promoted else self._robbed(state)
        return robbed or self._mixed(state) or self._unsent(state) or self._stuck(state)

    def _mixed(self, state: State) -> str | None:
        """Check that no body can write into another tenant's job: it writes memory, progress, result at any moment."""
        for me, process in enumerate(state.processes):
            row = state.jobs[process.job]
            fits = process.at == "body" and (row.status, row.attempt) == ("running", process.attempt)
            ours = (row.worker, row.life) == (me, process.life) or not self.rules.writes_name_process
            if fits and ours and row.owner != process.owner:
                return f"I8: worker {me + 1} writes into {process.job + 1}, which is another tenant's"
        return None

    @staticmethod
    def _robbed(state: State) -> str | None:
        for me, process in enumerate(state.processes):
            mine = (process.job, process.attempt)
            if process.at == "body" and not process.gone and mine not in state.runs(me, process.life):
                return f"I3: worker {me + 1} is alive and at {process.job + 1}, but its slot was taken from it"
        return None

    def _unsent(self, state: State) -> str | None:
        """Check that a clock that looks now sends each lost message again, however busy the other processes are."""
        if slicing.idle_by_count(self.rules, state) or not all(map(is_there, state.processes)):
            return None
        for job in range(self.jobs):
            if slicing.lost(state, job):
                return f"I4: the message of {job + 1} is lost, and not sent again while others keep the pool busy"
        return None

    def _stuck(self, state: State) -> str | None:
        """Check that all jobs have ended when no step is left, except jobs locked by a stranger or kept by a drain."""
        if next(self._good(state, drain_lasts=True), None) is not None:
            return None
        if not any(is_there(process) and process.at == IDLE for process in state.processes):
            return None
        bodies = {(p.job, p.attempt) for p in state.processes if p.at == "body"}
        sent_again = slicing.idle_by_count(PROTOCOL, state)
        place = slicing.in_use(PROTOCOL, state) < slicing.capacity(PROTOCOL, state) and state.held < self.slots
        stuck = [
            f"{n + 1} ({job.status})"
            for n, job in enumerate(state.jobs)
            if not has_ended(job) and n not in state.strangers and (n, job.attempt) not in bodies
            and (place or job.status != "created") and (sent_again or job.status != "queued")
        ]  # fmt: skip
        return f"I4: no process will ever go on with {', '.join(stuck)}" if stuck else None

    def show(self, state: State) -> str:
        shown = []
        for n, job in enumerate(state.jobs):
            by = f" by {job.worker + 1}" if job.status == "running" else ""
            shown.append(f"{n + 1}: {job.status}{by}")
        wire = "".join(f" {job + 1}" for job, _ in state.wire)
        return "; ".join(shown) + (f"; on the wire:{wire}" if wire else "")
