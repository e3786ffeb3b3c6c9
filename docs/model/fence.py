"""One job's life: the attempt fence, lost, doubled, late messages, deaths, zombies. I3, and that nothing is stuck.

Jobs do not touch each other's rows, so one is enough. Time is left out: what waits for a timeout may happen at once.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain

from docs.model import verbs
from docs.model.explorer import Step
from docs.model.job import ACTIVE, FINAL, IDLE, OFF, Left, Process, Report, Row, Rules, State

PROTOCOL, ONCE = Rules(), Left()


@dataclass(frozen=True)
class Fence:
    """The statements of one job, and how much may go wrong with it."""

    rules: Rules = PROTOCOL  # the guards of the statements
    left: Left = ONCE  # how much may go wrong
    workers: int = 2  # each is a parent with one process
    registered: bool = True  # at first; else they start jobs while they are about to register

    def start(self) -> State:
        workers = (Process(registered=self.registered),) * self.workers
        return State(Row(), workers, left=self.left)

    def key(self, state: State) -> Hashable:
        """Return the key of a state. Workers may change places; of processes only matters which are the same."""
        row = state.row

        def seen_from(worker: int) -> Hashable:
            process = state.processes[worker]
            told = sorted((r.attempt, process.life - r.life) for r in state.reports if r.worker == worker)
            late = sorted((r.attempt, process.life - r.life) for r in state.late if r.worker == worker)
            holds = process.life - row.life if row.holder == worker else -1
            return (process[:5], holds, tuple(told), tuple(late))

        workers = tuple(sorted(seen_from(worker) for worker in range(len(state.processes))))  # type: ignore[type-var]
        clocks = tuple(report.attempt for report in state.reports if report.worker < 0)
        said = (state.cancelling, state.wrong)
        return (row._replace(holder=0, life=0), workers, clocks, state.wire, state.starts, said, state.left)

    # --- what can happen -------------------------------------------------------------------------------------

    def steps(self, state: State) -> Iterator[Step[State]]:
        workers = (self._worker(state, worker) for worker in range(len(state.processes)))
        return chain(self._job(state), self._wire(state), self._canceller(state), *workers, self._recover(state))

    def _job(self, state: State) -> Iterator[Step[State]]:
        row = state.row
        if row.status == "created":
            claimed = row._replace(status="queued", attempt=row.attempt + 1, holder=-1)
            sent = tuple(sorted((*state.wire, claimed.attempt)))
            yield Step(
                "dispatch", f"claims, hands over attempt {claimed.attempt}", state._replace(row=claimed, wire=sent)
            )
        elif row.status == "scheduled":
            yield Step("clock", "promotes", state._replace(row=row._replace(status="created")))
        elif row.status == "blocked":
            yield Step(
                "reader of ends", "lets it go: its event has come", state._replace(row=row._replace(status="created"))
            )
            yield Step("clock", "ends its patience", state._replace(row=row._replace(status="cancelled")))
        elif row.status in FINAL - {"success"} and state.left.revives:
            row = row._replace(status="created", cancel=False, crashes=0)
            yield Step("user", "revives", state.spend("revives")._replace(row=row))

    def _wire(self, state: State) -> Iterator[Step[State]]:
        for attempt in sorted(set(state.wire)):
            yield Step("broker", f"loses a message of attempt {attempt}", verbs.without_message(state, attempt))
        if state.left.doubles:
            for attempt in range(1, state.row.attempt + 1):
                doubled = state.spend("doubles")._replace(wire=tuple(sorted((*state.wire, attempt))))
                yield Step("broker", f"delivers attempt {attempt} again", doubled)
        if state.row.status == "queued" and not self._under_way(state):
            sent = state._replace(wire=tuple(sorted((*state.wire, state.row.attempt))))
            yield Step("recover", f"hands over attempt {state.row.attempt} again", sent)

    def _under_way(self, state: State) -> bool:
        """Return whether a message of the attempt is under way, or the report of a death: then recover sends no other.

        If messages may be doubled, recover has no patience: only a message on the wire counts.
        """
        attempt = state.row.attempt
        if attempt in state.wire or self.left.doubles:
            return attempt in state.wire
        received = any(p.at == "start" and p.attempt == attempt for p in state.processes)
        return received or any(one.attempt == attempt for one in (*state.reports, *state.late))

    def _worker(self, state: State, me: int) -> Iterator[Step[State]]:
        process, name = state.processes[me], f"worker {me + 1}"
        if process.at == OFF:
            if process.registered and not process.gone:
                yield Step("recover", f"declares {name} gone", verbs.gone(state, me))
            return
        if not process.registered:
            yield Step(name, "registers", state.put(me, verbs.registers(process)))
        if process.at == IDLE:
            for attempt in sorted(set(state.wire)):
                received = verbs.without_message(state, attempt).put(me, process._replace(at="start", attempt=attempt))
                yield Step(name, f"receives attempt {attempt}", received)
        else:
            for what, after in verbs.go_on(self.rules, state, me):
                yield Step(name, what, after)
        yield from self._death(state, me, name)

    def _death(self, state: State, me: int, name: str) -> Iterator[Step[State]]:
        process = state.processes[me]
        if process.gone:  # a zombie: alive, but declared gone
            yield Step(name, "finds itself declared gone, stops", state.put(me, process.off()))
            return
        if state.left.deaths and process.at != IDLE:
            for what, after in verbs.process_dies(state.spend("deaths"), me):
                yield Step(name, what, after)
        if state.left.losses:
            lost = state.spend("losses")
            yield Step(name, "is killed as a whole", verbs.worker_dies(lost, me))
            if process.registered:
                yield Step("recover", f"declares {name} gone, which only stalls", verbs.gone(lost, me))
            elif self.rules.strangers_are_gone:
                yield Step("recover", f"declares {name} gone, which has yet to register", verbs.gone(lost, me))
            elif not process.overdue:
                overdue = lost.put(me, process._replace(overdue=True))
                yield Step("recover", f"waits no longer for {name}, which only stalls", overdue)

    def _recover(self, state: State) -> Iterator[Step[State]]:
        for sent in sorted(set(state.late)):
            what = f"runs the start that worker {sent.worker + 1} left behind"
            yield Step("server", what, verbs.late_start(self.rules, state, sent))
        for report in sorted(set(state.reports)):
            who = "recover" if report.worker < 0 else f"parent of worker {report.worker + 1}"
            yield Step(who, f"takes back attempt {report.attempt}", verbs.take_back(self.rules, state, report))
        if verbs.is_orphan(self.rules, state.row, state.processes) and not any(r.worker < 0 for r in state.reports):
            report = Report(state.row.attempt, -1)
            yield Step("recover", "reads: its worker is gone", state._replace(reports=(*state.reports, report)))

    def _canceller(self, state: State) -> Iterator[Step[State]]:
        if state.cancelling or state.left.cancels:
            what, after = verbs.cancel(self.rules, state)
            yield Step("user", what, after)

    # --- what must hold --------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        row = state.row
        if twice := [attempt for attempt, count in enumerate(state.starts, 1) if count > 1]:
            return f"I3: the body of attempt {twice[0]} started twice"
        if state.wrong:
            return state.wrong
        if row.cancel and row.status not in FINAL | {"running"}:
            return "a request to stop was forgotten: the job will run again"
        return self._robbed(state) or self._stuck(state)

    def _robbed(self, state: State) -> str | None:
        for me, process in enumerate(state.processes):
            away = process.gone or process.overdue  # stalls, and was given up
            if process.at in ACTIVE and not away and not self._is_held(state.row, me, process):
                return f"I3: worker {me + 1} is alive and at attempt {process.attempt}, but its slot was taken from it"
        return None

    @staticmethod
    def _is_held(row: Row, me: int, process: Process) -> bool:
        holder = (row.attempt, row.holder, row.life)
        return row.status == "running" and holder == (process.attempt, me, process.life)

    def _stuck(self, state: State) -> str | None:
        """Check that a running job has a holder, or will be taken back. (A queued job is handed over again.)"""
        row = state.row
        if row.status != "running" or verbs.is_orphan(self.rules, row, state.processes):
            return None
        process = state.processes[row.holder]
        if process.at == OFF or process.holds(row.attempt):  # off: will be declared gone
            return None
        reported = any(report.attempt == row.attempt for report in state.reports)
        return None if reported else "I4: it runs nowhere, and no process will take it back"

    def show(self, state: State) -> str:
        row = state.row
        shown = f"{row.status} attempt {row.attempt}" + (", to be cancelled" if row.cancel else "")
        if row.status == "running":
            shown += f", held by {row.holder + 1}"
        return shown + (f"; on the wire: {', '.join(map(str, state.wire))}" if state.wire else "")
