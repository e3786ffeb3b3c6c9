"""Light pools: feeders that settle, follow, claim and start for many seats by one trip, whose answer may be lost."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from docs.model import outages, trips
from docs.model.explorer import Step
from docs.model.feeding import End, Feeder, Left, Process, Row, Rules, State, Trip, begin, less, more, take_back

Outcomes = Iterator[tuple[str, State]]


@dataclass(frozen=True)
class Seats:
    """Jobs of one tenant; workers, each with processes of so many seats; how much may happen."""

    rules: Rules = field(default_factory=Rules)
    left: Left = field(default_factory=Left)
    jobs: int = 3
    slots: int = 2
    workers: int = 1
    processes: int = 2
    seats: int = 2

    def start(self) -> State:
        feeder = Feeder((Process(),) * self.processes, known=(0,) * self.jobs)
        return State((Row(),) * self.jobs, (feeder,) * self.workers, left=self.left)

    def key(self, state: State) -> Hashable:
        return state

    def steps(self, state: State) -> Iterator[Step[State]]:
        for me, feeder in enumerate(state.feeders):
            name = f"worker {me + 1}"
            if not feeder.off:
                for what, after in chain(
                    self._bodies(state, me), self._feeder(state, me), outages.mishaps(self.rules, state, me)
                ):
                    yield Step(name, what, after)
        for what, after in self._server(state):
            yield Step("server", what, after)
        for what, after in self._clock(state):
            yield Step("clock", what, after)

    # --- the processes ----------------------------------------------------------------------------------------

    def _bodies(self, state: State, me: int) -> Outcomes:
        feeder = state.feeders[me]
        for place, process in enumerate(feeder.processes):
            for key in process.bodies:
                end = End(*key, place, process.life)
                over = self._without(state, me, end)
                if end in feeder.held:
                    yield f"{key[0] + 1} ends", over.put(me, ends=more(feeder.ends, end))
                else:  # it was taken back meanwhile
                    yield f"{key[0] + 1} ends, too late", over
                if state.left.retries:
                    failed = over.spend("retries").put(me, held=less(feeder.held, end))
                    mine = trips.applies(self.rules, state, me, end)
                    yield f"{key[0] + 1} fails", take_back(failed, key[0]) if mine else failed

    @staticmethod
    def _without(state: State, me: int, end: End) -> State:
        processes = list(state.feeders[me].processes)
        process = processes[end.place]
        processes[end.place] = process._replace(bodies=tuple(key for key in process.bodies if key != end.key))
        return state.put(me, processes=tuple(processes))

    # --- the feeder -------------------------------------------------------------------------------------------

    def _feeder(self, state: State, me: int) -> Outcomes:
        feeder = state.feeders[me]
        if not feeder.trip and not (feeder.lost and self.rules.looks):
            yield from self._turns(state, me)
        if not feeder.trip:
            yield from self._reports(state, me)
        if feeder.trip and not feeder.trip[0].todo:
            yield "hears the answer", self._answered(state, me, feeder.trip[0])
        if self.rules.looks and (not feeder.trip or not self.rules.looks_between_trips):
            after = self._look(state, me)
            if after != state:
                yield "looks", after
        for end in feeder.alone:
            after = state.put(me, alone=less(feeder.alone, end))
            mine = trips.applies(self.rules, state, me, end)
            yield f"settles {end.job + 1} alone", trips.settled(after, me, end) if mine else after

    def _turns(self, state: State, me: int) -> Outcomes:
        """Begin a trip for all that has ended and all seats that are free."""
        feeder = state.feeders[me]
        for follows in (False, True) if feeder.ends else (False,):
            over = () if follows else feeder.ends
            free = tuple(
                (place, process.life)
                for place, process in enumerate(feeder.processes)
                for _ in range(
                    self.seats - sum((end.place, end.life) == (place, process.life) for end in less(feeder.held, *over))
                )
            )
            waits = feeder.called or any(row.status == "created" for row in state.jobs)
            if not feeder.ends and not (free and waits):
                continue
            called = feeder.called[: len(free)]
            todo = ("settle",) * bool(feeder.ends) + ("claim", "start") * bool(free)
            trip = Trip(me, todo, feeder.ends, follows, called, free)
            what = f"settles {[end.job + 1 for end in feeder.ends]}{', to follow' * follows}, claims for {len(free)}"
            yield what, state.put(me, ends=(), called=feeder.called[len(free) :], trip=(trip,))

    def _answered(self, state: State, me: int, trip: Trip) -> State:
        feeder = state.feeders[me]
        return begin(state.put(me, held=less(feeder.held, *trip.ends), trip=()), me, trip.begun)

    def _reports(self, state: State, me: int) -> Outcomes:
        """Report a death when all ends of the process are settled; its parent takes its attempts back."""
        feeder = state.feeders[me]
        for place, life in feeder.dying:
            in_hand = (*feeder.ends, *feeder.alone)
            if not self.rules.settles_first or not any((end.place, end.life) == (place, life) for end in in_hand):
                dying = tuple(one for one in feeder.dying if one != (place, life))
                after = self._taken_back(state.put(me, dying=dying), me, place, life)
                yield f"takes back what process {place + 1} ran", after

    def _taken_back(self, state: State, me: int, place: int, life: int) -> State:
        for end in state.running(me):
            if (end.place, end.life) == (place, life) or not self.rules.report_names_process:
                state = take_back(state, end.job)
                if not self.rules.takes_back_all:
                    break
        return state

    def _look(self, state: State, me: int) -> State:
        feeder = state.feeders[me]
        begun = []
        after = state
        if feeder.lost:  # first of all it ends the session of the lost trip
            after = after._replace(late=tuple(trip for trip in state.late if trip.worker != me))
        for end in state.running(me):
            alive = feeder.is_alive(end.place, end.life)
            unknown = end.attempt > feeder.known[end.job]
            if not alive and (end.place, end.life) not in feeder.dying:
                if self.rules.takes_back_dead:
                    after = after.put(me, dying=(*after.feeders[me].dying, (end.place, end.life)))
            elif alive and end in feeder.held and (self.rules.begins_unknown_only or not feeder.lost):
                pass
            elif alive and feeder.lost and (unknown or not self.rules.begins_unknown_only):
                begun.append(end)
            elif alive and not (end in feeder.alone and self.rules.minds_in_hand):
                after = take_back(after, end.job)
        return begin(after.put(me, lost=False), me, tuple(begun))

    # --- the server and the clock -----------------------------------------------------------------------------

    def _server(self, state: State) -> Outcomes:
        for me, feeder in enumerate(state.feeders):
            for trip in feeder.trip:
                if trip.todo:
                    after, on = trips.made(self.rules, state, trip, self.slots)
                    yield f"{trip.todo[0]}s for worker {me + 1}", after.put(me, trip=(on,))
        for nth, trip in enumerate(state.late):
            others = (*state.late[:nth], *state.late[nth + 1 :])
            after, on = trips.made(self.rules, state, trip, self.slots)
            yield (
                f"{trip.todo[0]}s late for worker {trip.worker + 1}",
                after._replace(late=(*others, *((on,) if on.todo else ()))),
            )
            yield "drops a session", state._replace(late=others)
        if state.left.standbys and not state.standby:
            yield "has a standby that lags behind", state._replace(standby=state.jobs)
        elif state.left.standbys:
            yield "is replaced by its standby", outages.promoted(state.spend("standbys"))

    def _clock(self, state: State) -> Outcomes:
        for me, feeder in enumerate(state.feeders):
            if feeder.off and not feeder.gone:
                yield f"declares worker {me + 1} gone", state.put(me, gone=True)
        under_way = {key for feeder in state.feeders for trip in feeder.trip for key in (*trip.kept, *trip.called)}
        under_way |= {key for trip in state.late for key in trip.kept}
        for job, row in enumerate(state.jobs):
            if row.status == "running" and state.feeders[row.worker].gone:
                yield f"takes back {job + 1}", take_back(state, job)
            if row.status == "queued" and (job, row.attempt) not in under_way:
                for me, feeder in enumerate(state.feeders):
                    if not (feeder.off or feeder.gone or feeder.called):
                        yield f"hands {job + 1} over again, to {me + 1}", state.put(me, called=((job, row.attempt),))

    # --- what must hold ---------------------------------------------------------------------------------------

    def fault(self, state: State) -> str | None:
        held = sum(row.status in {"queued", "running"} for row in state.jobs)
        if state.wrong:
            return state.wrong
        if held > self.slots:
            return f"I1: {held} slots are held of {self.slots}"
        return (None if state.promoted else self._robbed(state) or self._lost(state)) or self._stuck(state)

    @staticmethod
    def _robbed(state: State) -> str | None:
        for me, feeder in enumerate(state.feeders):
            runs = state.running(me)
            for place, process in enumerate(feeder.processes if not feeder.gone else ()):
                for job, attempt in process.bodies:
                    if End(job, attempt, place, process.life) not in runs:
                        return f"I3: worker {me + 1} is alive and at {job + 1}, but its slot was taken from it"
        return None

    @staticmethod
    def _lost(state: State) -> str | None:
        """Check that no success that has arrived is taken back: its body would run again."""
        for me, feeder in enumerate(state.feeders):
            for end in () if feeder.gone else (*feeder.ends, *feeder.alone):
                row = state.jobs[end.job]
                if row.attempt > end.attempt or row.status not in {"running", "done"}:
                    return f"I3: worker {me + 1} has the success of {end.job + 1} in hand, and it runs again"
        return None

    def _stuck(self, state: State) -> str | None:
        """Check that all jobs have ended when no step is left but mishaps, if a worker serves."""
        if all(feeder.off or feeder.gone for feeder in state.feeders):
            return None
        calm = state._replace(left=Left())
        if next(self.steps(calm), None) is not None:
            return None
        left = [f"{job + 1} ({row.status})" for job, row in enumerate(state.jobs) if row.status != "done"]
        return f"I4: no seat will ever go on with {', '.join(left)}" if left else None

    def show(self, state: State) -> str:
        return "; ".join(f"{job + 1}: {row.status} {row.attempt}" for job, row in enumerate(state.jobs))
