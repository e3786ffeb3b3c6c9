"""The steps of a dispatch, one for each statement: the state afterwards, or None while it has to wait."""

from collections.abc import Callable

from docs.model.lanes import ARRIVAL, FREED, UNSEEN, Lanes, Letter, Memory, choose, more, moved_on
from docs.model.sessions import Rules, Session, State, ends, locked, on, rolls_back, seat, tell, without


def look(rules: Rules, state: State, me: int) -> State:
    """worth.sql: goes home if nothing can be decided, by what is committed at this moment."""
    freed = any(letter.kind == FREED for letter in _committed_mail(state))
    return on(state, me) if freed or _may_start(rules, state, _in_slots(state)) else seat(state, me, Session())


def look_at_the_books_alone(rules: Rules, state: State, me: int) -> State:
    """They take off what has ended when a fold is committed, and not before."""
    unfolded = sum(letter.kind == FREED for letter in _committed_mail(state))
    return on(state, me) if _may_start(rules, state, _in_slots(state) + unfolded) else seat(state, me, Session())


def _may_start(rules: Rules, state: State, in_use: int) -> bool:
    arrived = any(letter.kind == ARRIVAL for letter in _committed_mail(state))
    return in_use < rules.capacity and (arrived or bool(state.lanes.ready))


def _in_slots(state: State) -> int:
    return sum(status in {"held", UNSEEN} for status in state.jobs)


def _committed_mail(state: State) -> tuple[Letter, ...]:
    """With what a fold has taken that is not committed."""
    inside = state.sessions[state.inside].letters if state.inside >= 0 else ()
    return (*state.mail, *inside)


def knock(_: Rules, state: State, me: int) -> State:
    if state.place >= 0:
        return seat(state, me, Session())  # goes home
    return on(state, me)._replace(place=me)


def enter(_: Rules, state: State, me: int) -> State | None:
    return None if state.inside >= 0 else on(state, me)._replace(inside=me)


def enter_or_go_home(_: Rules, state: State, me: int) -> State:
    return seat(state, me, Session()) if state.inside >= 0 else on(state, me)._replace(inside=me)


def give_place(_: Rules, state: State, me: int) -> State:
    return on(state, me)._replace(place=-1 if state.place == me else state.place)


def fold(rules: Rules, state: State, me: int) -> State:
    """Nobody else looks for what it takes and writes, so it may be done at once; a death takes it back."""
    new = [letter for letter in state.mail if state.memory.is_new(letter)]
    new = sorted(new, key=lambda letter: letter.number)[: rules.takes]
    again = len(new) == rules.takes
    memory: tuple[Memory, ...] = ()
    if rules.numbers and new and (not again or rules.remembers_always):
        under_way = sorted(session.number for session in state.sessions if 0 < session.number <= state.ended)
        memory = (Memory(state.ended + 1, tuple(under_way)),)
        if rules.by_highest:
            memory = (Memory(new[-1].number + 1),)
    woken = state.lanes.woken(new)
    lanes = state.lanes.moved(dict.fromkeys(woken, "ready"))
    state = state._replace(mail=tuple(letter for letter in state.mail if letter not in new))
    return on(state, me, letters=tuple(new), lanes=(lanes,), wrote=woken, memory=memory, again=again)


def snapshot(_: Rules, state: State, me: int) -> State:
    return on(state, me, seen=state.jobs)


def lock(rules: Rules, state: State, me: int) -> State:
    """What was chosen on the snapshot is locked, if nobody else has, and taken, if nobody has changed it."""
    return _take(rules, state, me, state.sessions[me].seen)


def lock_past_locked(rules: Rules, state: State, me: int) -> State:
    """Another claim: one that does not choose what is locked."""
    return _take(rules, state, me, without(state.sessions[me].seen, locked(state, me)))


def _take(rules: Rules, state: State, me: int, seen: tuple[str, ...]) -> State:
    session, theirs = state.sessions[me], locked(state, me)
    (lanes,) = session.lanes or (Lanes("".join(sorted(set(rules.owners), reverse=True))),)
    choice = choose(rules, seen, lanes.ready, session.passed)
    taken: list[int] = []
    passed = set(session.passed)
    for visit in choice.visits:
        n = choice.serve.get(visit.tenant, 0)
        free = [job for job in visit.front if job not in theirs and state.jobs[job] == "created"][:n]
        taken += [job for job in free if seen[job] == "created"]
        passed |= {visit.tenant} if len(free) < n else set()
    goes_on = session.again or passed != set(session.passed) or more(rules, choice, taken)
    names = "".join(sorted(passed))
    further = rules.go_on(me, names) if goes_on else ()
    todo, rows = session.todo[1:] + further, tuple(sorted(taken))
    after = session._replace(todo=todo, rows=rows, seen=(), passed=names if further else "", again=False)
    if rules.keeps_lanes:
        wrote = "".join(sorted({*session.wrote, *(visit.tenant for visit in choice.visits)}))
        moved = moved_on(rules, lanes, choice, taken, session.passed)
        after = after._replace(lanes=(moved,), wrote=wrote)
    return seat(state, me, after)


def commit(rules: Rules, state: State, me: int) -> State:
    session = state.sessions[me]
    if rules.numbers:
        state = state._replace(newest=state.newest + 1, ended=state.newest + 1)
    if session.lanes:
        lanes = state.lanes.written(session.lanes[0], session.wrote)
        state = state._replace(lanes=lanes, memory=(session.memory or (state.memory,))[0])
    if rules.new_ticket and session.rows:
        drawn = (other._replace(overtaken=other.change == "follows") for other in state.sessions)
        state = state._replace(sessions=tuple(drawn))
    done = Session(session.todo[1:], passed=session.passed)
    return seat(state, me, done, dict.fromkeys(session.rows, "held"))


def leave(_: Rules, state: State, me: int) -> State:
    return on(state, me)._replace(inside=-1)


STEPS: dict[str, Callable[[Rules, State, int], State | None]] = {
    step.__name__: step
    for step in (
        ends, tell, rolls_back, look, look_at_the_books_alone, knock, enter, enter_or_go_home, give_place, fold,
        snapshot, lock, lock_past_locked, commit, leave,
    )
}  # fmt: skip


def step(rules: Rules, state: State, me: int) -> State | None:
    """What a session does next."""
    return STEPS[state.sessions[me].todo[0]](rules, state, me)


def words(before: State, after: State, me: int) -> str:
    """What a step came to."""
    was, now = before.sessions[me], after.sessions[me]
    step = was.todo[0].replace("_", " ")
    if (step in {"knock", "enter or go home"} or step.startswith("look")) and not now.todo:
        return f"{step}: goes home"
    if step == "fold":
        return f"fold: takes {len(now.letters)} letter(s)"
    if step.startswith("lock"):
        new = "".join(sorted(set(now.passed) - set(was.passed)))
        return f"{step}: gets {len(now.rows)} row(s)" + (f", passes {new} over" if new else "")
    return f"{was.change}: committed" if step == "ends" else step
