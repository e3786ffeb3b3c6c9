"""The steps of a dispatch, one for each statement: the state afterwards, or None while it has to wait."""

from collections.abc import Callable, Iterable

from docs.model.lanes import FREED, UNSAID, Books, Lanes, Letter, Memory, choose, held_by, more, moved_on, tenant_of
from docs.model.recount import count_jobs, count_letters, recount, refused, then_counts, too_many, write_books
from docs.model.sessions import Rules, Session, State, ends, locked, on, rolls_back, seat, tell, without


def look(rules: Rules, state: State, me: int) -> State:
    """Leave if no job could be dispatched by what is committed at this moment: worth.sql."""
    freed = any(letter.kind == FREED for letter in _committed_mail(state))
    return on(state, me) if freed else look_at_the_books_alone(rules, state, me)


def look_at_the_books_alone(rules: Rules, state: State, me: int) -> State:
    """Decide by the books, which count ended jobs until the commit of a fold."""
    return on(state, me) if state.books.pool < rules.capacity else seat(state, me, Session())


def _committed_mail(state: State) -> tuple[Letter, ...]:
    """Return the letters, also those that an uncommitted fold has taken."""
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
    """Take the letters. No other session reads what it takes and writes, so one step does it; a death undoes it.

    Until its pass is committed, other sessions see the books as they were before.
    """
    new = [letter for letter in state.mail if state.memory.is_new(letter)]
    new = sorted(new, key=lambda letter: letter.number)[: rules.takes]
    again = len(new) == rules.takes
    memory: tuple[Memory, ...] = ()
    if rules.numbers and new and (not again or rules.remembers_always):
        under_way = sorted(session.number for session in state.sessions if 0 < session.number <= state.ended)
        memory = (Memory(state.ended + 1, tuple(under_way)),)
        if rules.by_highest:
            memory = (Memory(new[-1].number + 1),)
    woken = state.lanes.woken(new, own=rules.opens_own)
    lanes = state.lanes.moved(dict.fromkeys(woken, "ready"))
    books = folded(rules, state.books, new)
    if books is None:
        return refused(rules, state, me)
    left = list(state.mail)
    for letter in new:
        left.remove(letter)
    state = state._replace(mail=tuple(left), books=books if rules.apart else state.books)
    return on(state, me, letters=tuple(new), lanes=(lanes,), wrote=woken, memory=memory, again=again)


def folded(rules: Rules, books: Books, letters: Iterable[Letter]) -> Books | None:
    """Return the books after these letters; None if a row would be below 0."""
    return books.less(letter.tenant for letter in letters if letter.kind in rules.takes_off)


def snapshot(rules: Rules, state: State, me: int) -> State:
    """Take the claim's snapshot: it sees what others have committed, and what its own fold has written."""
    if not rules.keeps_lanes:
        return on(state, me, seen=state.jobs, books=(held_by(rules.owners, state.jobs),))
    seen = tuple(was if was == "created" else "" for was in state.jobs)
    letters = () if rules.apart else state.sessions[me].letters
    return on(state, me, seen=seen, books=(folded(rules, state.books, letters) or state.books,))


def lock(rules: Rules, state: State, me: int) -> State:
    """Lock the rows chosen on the snapshot, unless others have locked them; take those that no session has changed."""
    return _take(rules, state, me, state.sessions[me].seen)


def lock_past_locked(rules: Rules, state: State, me: int) -> State:
    """Claim in another way: do not choose locked rows."""
    return _take(rules, state, me, without(state.sessions[me].seen, locked(state, me)))


def _take(rules: Rules, state: State, me: int, seen: tuple[str, ...]) -> State:
    session, theirs = state.sessions[me], locked(state, me)
    (lanes,) = session.lanes or (Lanes("".join(sorted(set(rules.owners), reverse=True))),)
    choice = choose(rules, session.books[0], seen, lanes.ready, session.passed)
    taken: list[int] = []
    passed = set(session.passed)
    for visit in choice.visits:
        n = choice.serve.get(visit.lane, 0)
        free = [job for job in visit.front if job not in theirs and state.jobs[job] == "created"][:n]
        taken += [job for job in free if seen[job] == "created"]
        passed |= {visit.lane} if len(free) < n else set()
    if rules.index and too_many(rules, state, taken):
        return refused(rules, state, me)
    goes_on = session.again or passed != set(session.passed) or more(rules, choice, taken)
    names = "".join(sorted(passed))
    further = rules.go_on(me, names) if goes_on else ()
    todo, rows = session.todo[1:] + further, tuple(sorted(taken))
    after = session._replace(todo=todo, rows=rows, seen=(), books=(), passed=names if further else "", again=False)
    if rules.keeps_lanes:
        wrote = "".join(sorted({*session.wrote, *(visit.lane for visit in choice.visits)}))
        moved = moved_on(rules, lanes, choice, taken, session.passed)
        after = after._replace(lanes=(moved,), wrote=wrote)
    return seat(state, me, after)


def commit(rules: Rules, state: State, me: int) -> State:
    session = state.sessions[me]
    books = state.books if rules.apart else folded(rules, state.books, session.letters)
    if books is None:
        return refused(rules, state, me)
    if rules.numbers:
        state = state._replace(newest=state.newest + 1, ended=state.newest + 1)
    if session.lanes:
        taken = session.rows if rules.adds else ()
        state = state._replace(
            lanes=state.lanes.written(session.lanes[0], session.wrote),
            books=books.more(tenant_of(rules.owners[job]) for job in taken),
            memory=(session.memory or (state.memory,))[0],
        )
    done = Session(session.todo[1:], passed=session.passed, counted=session.counted)
    if any(letter.kind == UNSAID for letter in session.letters):
        state = state._replace(doubt=state.doubt or "high")
        done = then_counts(rules, done, me)
    return seat(state, me, done, dict.fromkeys(session.rows, "held"))


def leave(_: Rules, state: State, me: int) -> State:
    return on(state, me)._replace(inside=-1)


STEPS: dict[str, Callable[[Rules, State, int], State | None]] = {
    step.__name__: step
    for step in (
        ends, tell, rolls_back, look, look_at_the_books_alone, knock, enter, enter_or_go_home, give_place, fold,
        snapshot, lock, lock_past_locked, commit, recount, count_jobs, count_letters, write_books, leave,
    )
}  # fmt: skip


def step(rules: Rules, state: State, me: int) -> State | None:
    """Make the next step of a session."""
    return STEPS[state.sessions[me].todo[0]](rules, state, me)


def words(before: State, after: State, me: int) -> str:
    """Return the outcome of a step, in words."""
    was, now = before.sessions[me], after.sessions[me]
    step = was.todo[0].replace("_", " ")
    if (step in {"knock", "enter or go home"} or step.startswith("look")) and not now.todo:
        return f"{step}: goes home"
    if before.inside == me != after.inside and step not in {"leave", "commit"}:
        return f"{step}: the books are wrong, rolls back"
    if step in {"recount", "count jobs", "count letters"}:
        return f"{step}: {now.books[0].words()}"
    if step == "fold":
        return f"fold: takes {len(now.letters)} letter(s)"
    if step.startswith("lock"):
        new = "".join(sorted(set(now.passed) - set(was.passed)))
        return f"{step}: gets {len(now.rows)} row(s)" + (f", passes {new} over" if new else "")
    return f"{was.change}: committed" if step == "ends" else step
