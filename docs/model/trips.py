"""What the server does of a trip, one commit after the other; the feeder is not asked meanwhile."""

from docs.model.feeding import End, Row, Rules, State, Trip


def settle(rules: Rules, state: State, trip: Trip) -> tuple[State, Trip]:
    """Settle the ends; for each, the next job of the lane may follow in its slot and process: succeed_many."""
    begun: list[End] = []
    for end in trip.ends:
        applied = applies(rules, state, trip.worker, end)
        if applied:
            state = settled(state, trip.worker, end)
        waiting = [job for job, row in enumerate(state.jobs) if row.status == "created"]
        if applied and trip.follows and waiting and not state.feeders[trip.worker].gone:
            job, attempt = waiting[0], state.jobs[waiting[0]].attempt + 1
            state = state.row(job, Row("running", attempt, trip.worker, end.place, end.life))
            begun.append(End(job, attempt, end.place, end.life))
    return state, trip._replace(todo=trip.todo[1:], begun=(*trip.begun, *begun))


def applies(rules: Rules, state: State, worker: int, end: End) -> bool:
    """Return whether the fence lets an end be settled."""
    row = state.jobs[end.job]
    if not rules.settle_fenced:
        return row.status == "running"
    process = (row.place, row.life) == (end.place, end.life) or not rules.settle_names_process
    return (row.status, row.attempt, row.worker) == ("running", end.attempt, worker) and process


def settled(state: State, worker: int, end: End) -> State:
    row = state.jobs[end.job]
    after = state.row(end.job, Row("done", row.attempt))
    if (row.attempt, row.worker, row.place, row.life) != (end.attempt, worker, end.place, end.life):
        wrong = f"I3: worker {worker + 1} settled {end.job + 1}, which another process runs"
        return after._replace(wrong=state.wrong or wrong)
    return after


def claim(state: State, trip: Trip, slots: int) -> tuple[State, Trip]:
    """Claim for the free seats, at most the tenant's free slots."""
    held = sum(row.status in {"queued", "running"} for row in state.jobs)
    room = 0 if state.feeders[trip.worker].gone else min(slots - held, len(trip.free) - len(trip.called))
    kept = []
    for job, row in enumerate(state.jobs):
        if row.status == "created" and len(kept) < room:
            state = state.row(job, Row("queued", row.attempt + 1))
            kept.append((job, row.attempt + 1))
    return state, trip._replace(todo=trip.todo[1:], kept=tuple(kept))


def start(rules: Rules, state: State, trip: Trip) -> tuple[State, Trip]:
    """Start what was called and what was kept, each in the process of a free seat: start_many."""
    begun = []
    for (job, attempt), (place, life) in zip((*trip.called, *trip.kept), trip.free, strict=False):
        row = state.jobs[job]
        if row.attempt == attempt and not state.feeders[trip.worker].gone and _may_start(rules, row):
            state = state.row(job, Row("running", attempt, trip.worker, place, life))
            begun.append(End(job, attempt, place, life))
    return state, trip._replace(todo=trip.todo[1:], begun=(*trip.begun, *begun))


def _may_start(rules: Rules, row: Row) -> bool:
    return row.status == "queued" or (not rules.start_guards_status and row.status == "running")


def made(rules: Rules, state: State, trip: Trip, slots: int) -> tuple[State, Trip]:
    """Make the next commit of a trip."""
    match trip.todo[0]:
        case "settle":
            return settle(rules, state, trip)
        case "claim":
            return claim(state, trip, slots)
        case _:
            return start(rules, state, trip)
