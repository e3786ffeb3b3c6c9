"""The mishaps of light pools: of processes, workers, connections, batches, and the server itself."""

from collections.abc import Iterator

from docs.model.feeding import Feeder, Process, Rules, State, Trip, less, more

Outcomes = Iterator[tuple[str, State]]


def mishaps(rules: Rules, state: State, me: int) -> Outcomes:
    feeder = state.feeders[me]
    if state.left.deaths:
        for place, process in enumerate(feeder.processes):
            new = (*feeder.processes[:place], Process(process.life + 1), *feeder.processes[place + 1 :])
            in_hand = {*feeder.ends, *(feeder.trip[0].ends if feeder.trip else ())}
            held = tuple(end for end in feeder.held if end.place != place or end in in_hand)
            dead = state.spend("deaths").put(me, processes=new, held=held, dying=(*feeder.dying, (place, process.life)))
            yield f"process {place + 1} dies", dead
    if state.left.cuts and feeder.trip:
        yield from _cut(rules, state.spend("cuts"), me, feeder.trip[0])
    if state.left.refusals and feeder.trip and feeder.trip[0].todo[:1] == ("settle",):
        ends = feeder.trip[0].ends
        alone = {"held": less(feeder.held, *ends), "alone": more(feeder.alone, *ends), "lost": True, "trip": ()}
        yield "has its batch refused", state.spend("refusals").put(me, **alone)
    if state.left.losses:
        lost = state.spend("losses")
        dead = lost.put(me, **Feeder((Process(),) * len(feeder.processes), off=True)._asdict())
        yield "is killed as a whole", dead._replace(late=(*dead.late, *(trip for trip in feeder.trip if trip.todo)))
        yield "stalls, and is declared gone", lost.put(me, gone=True)


def _cut(rules: Rules, state: State, me: int, trip: Trip) -> Outcomes:
    """Lose the answer of a trip. What was settled may be known; all that was not is kept in hand."""
    feeder = state.feeders[me]
    late = (*state.late, trip._replace(begun=())) if trip.todo else state.late
    cut = state._replace(late=late).put(me, trip=(), lost=True, called=(*feeder.called, *trip.called))
    kept = more(feeder.ends, *trip.ends) if rules.keeps_ends else feeder.ends
    yield "loses the answer", cut.put(me, ends=kept)
    if trip.ends and "settle" not in trip.todo:
        yield "loses the answer, but for the ends", cut.put(me, held=less(feeder.held, *trip.ends))


def promoted(state: State) -> State:
    """All connections are lost with it."""
    state = state._replace(jobs=state.standby, standby=(), late=(), promoted=True)
    for me, feeder in enumerate(state.feeders):
        for trip in feeder.trip:
            state = state.put(me, trip=(), lost=True, ends=more(feeder.ends, *trip.ends))
    return state
