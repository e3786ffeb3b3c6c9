"""The books counted anew from what is committed: when it is done, and its steps."""

from collections.abc import Iterable

from docs.model.lanes import FREED, OPENS, Books, Letter, held_by, tenant_of
from docs.model.sessions import Rules, Session, State, ended, mailed, on, seat, undone, untaken

RECOUNT = ("enter", "recount", "write_books", "leave")  # waits without a place, as the clock does


def too_many(rules: Rules, state: State, taken: Iterable[int]) -> bool:
    """Return whether a tenant would hold more than its slot numbers: then the unique index refuses one."""
    held = held_by(rules.owners, state.jobs).more(tenant_of(rules.owners[job]) for job in taken).tenants
    return any(held.count(tenant) > rules.slots for tenant in set(held))


def refused(rules: Rules, state: State, me: int) -> State:
    """Roll the pass back, since the books are wrong; its dispatch has them counted anew before the next pass."""
    passed = state.sessions[me].passed
    again = (*RECOUNT, *rules.go_on(me, passed)) if rules.mends else ()
    return undone(state, me, Session(again, passed=passed if again else "", counted=rules.mends_once))


def then_counts(rules: Rules, done: Session, me: int) -> Session:
    """Let the session count the books anew after it has left the door; a further pass follows."""
    leave, further = done.todo[:1], done.todo[1:] or rules.go_on(me, done.passed)
    if not rules.mends or done.counted:
        return done._replace(todo=leave)
    return done._replace(todo=(*leave, *RECOUNT, *further), counted=rules.mends_once)


def recount(rules: Rules, state: State, me: int) -> State:
    """Count in one snapshot, which sees each job either in its slot, or as a letter that frees it."""
    return on(state, me, books=(held_by(rules.owners, state.jobs).more(_freed(rules, state)),))


def count_letters(rules: Rules, state: State, me: int) -> State:
    return on(state, me, books=(Books().more(_freed(rules, state)),))


def count_jobs(rules: Rules, state: State, me: int) -> State:
    return on(state, me, books=(state.sessions[me].books[0].more(held_by(rules.owners, state.jobs).tenants),))


def _freed(rules: Rules, state: State) -> list[str]:
    return [letter.tenant for letter in untaken(state) if letter.kind == FREED and rules.counts_letters]


def write_books(rules: Rules, state: State, me: int) -> State:
    """Write the books, and tell the next fold whose were wrong: it opens their lanes. A dispatch follows."""
    session = state.sessions[me]
    (books,) = session.books
    tenants = sorted(set(map(tenant_of, rules.owners)))
    wrong = [t for t in tenants if books.tenants.count(t) != state.books.tenants.count(t)]
    if rules.numbers:
        state = ended(state._replace(newest=state.newest + 1), state.newest + 1)
    if rules.tells_wrong:
        state = mailed(state, tuple(Letter(OPENS, tenant, state.newest if rules.numbers else 0) for tenant in wrong))
    todo = session.todo[1:]
    if books != state.books and "fold" not in todo:
        todo += rules.go_on(me, "")
    state = state._replace(books=books, doubt="")
    return seat(state, me, Session(todo, passed=session.passed, counted=session.counted))
