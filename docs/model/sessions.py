"""Sessions and the committed state; and the transactions that move a job and write letters to the door."""

from collections.abc import Collection
from typing import Any, NamedTuple, Protocol

from docs.model.lanes import ARRIVAL, FREED, OLDER, OPENS, UNSAID, Books, Lanes, Letter, Memory, World

# What a transaction does to a job: the status before and afterwards, and the letters that it writes to the door.
CHANGES = {
    "submits": ("to come", "created", (ARRIVAL,)),
    "finishes": ("held", "done", (FREED,)),
    "finishes, by an older release": ("held", "done", (UNSAID,)),
    "follows": ("held", "done", ()),  # and the next of its lane is held in its place: it keeps the slot
    "follows, but says that it freed the slot": ("held", "done", (FREED,)),
    "revives": ("done", "created", (ARRIVAL,)),
    "takes back": ("held", "created", (ARRIVAL, FREED)),
    "cancels": ("created", "done", (OPENS,)),
    "holds": ("created", "done", ()),  # a pause of its type
    "gives up its key": ("created", "created", ()),  # a new version of the row
}


class Session(NamedTuple):
    """A connection of a web process, worker or clock."""

    todo: tuple[str, ...] = ()  # its next steps; empty: it is idle
    change: str = ""  # what its transaction does with the row that it has locked
    rows: tuple[int, ...] = ()  # the rows that it has locked
    number: int = 0  # of its transaction
    letters: tuple[Letter, ...] = ()  # the letters that its fold took, or that it has yet to write
    lanes: tuple[Lanes, ...] = ()  # as it left them, once it has read them
    wrote: str = ""  # the lanes that it wrote, and has locked
    memory: tuple[Memory, ...] = ()  # what its fold remembers
    again: bool = False  # its fold did not take all
    seen: tuple[str, ...] = ()  # the snapshot of its claim
    passed: str = ""  # the lanes where this dispatch met too many rows that others had locked
    books: tuple[Books, ...] = ()  # as its claim sees them, or as it counts them
    counted: bool = False  # this dispatch has counted the books anew


class State(NamedTuple):
    """The committed state, and the sessions."""

    jobs: tuple[str, ...]  # a status for each job, as committed
    sessions: tuple[Session, ...]
    lanes: Lanes = Lanes()
    books: Books = Books()
    doubt: str = ""  # the books may be wrong until a recount: "any", or "high" if they can only be too high
    mail: tuple[Letter, ...] = ()  # the letters that no fold took
    memory: Memory = Memory()
    newest: int = 0  # the last number that was given to a transaction
    ended: int = 0  # the highest number of one that has ended
    inside: int = -1  # the session that holds the door's lock
    place: int = -1  # the session that holds the waiting place
    deaths: int = 0  # how many sessions may still end at a bad moment


class Rules(World, Protocol):
    """The rules of the model that a step reads: see Door."""

    keeps_lanes: bool
    numbers: bool
    by_highest: bool
    remembers_always: bool
    takes: int
    tells: str
    untold: tuple[str, ...]
    opens_own: bool
    takes_off: tuple[str, ...]
    adds: bool
    index: bool
    apart: bool
    mends: bool
    mends_once: bool
    counts_letters: bool
    tells_wrong: bool

    def go_on(self, me: int, passed: str) -> tuple[str, ...]:
        """Return the steps of the pass that follows."""


def seat(state: State, me: int, session: Session, changed: dict[int, str] | None = None) -> State:
    """Put a session into its place, and change jobs. Snapshots of other sessions keep the state before the change."""
    session = session if session.todo else Session()
    sessions = [*state.sessions[:me], session, *state.sessions[me + 1 :]]
    if not changed:
        return state._replace(sessions=tuple(sessions))
    for i, other in enumerate(sessions):
        if i != me and other.seen:
            seen = (OLDER if job in changed and was == "created" else was for job, was in enumerate(other.seen))
            sessions[i] = other._replace(seen=tuple(seen))
    jobs = tuple(changed.get(job, status) for job, status in enumerate(state.jobs))
    return state._replace(sessions=tuple(sessions), jobs=jobs)


def on(state: State, me: int, **news: Any) -> State:
    """Move the session one step further."""
    session = state.sessions[me]
    return seat(state, me, session._replace(todo=session.todo[1:], **news))


def locked(state: State, me: int) -> set[int]:
    """Return the rows that other sessions have locked."""
    return {row for i, session in enumerate(state.sessions) if i != me for row in session.rows}


def without(jobs: tuple[str, ...], rows: Collection[int]) -> tuple[str, ...]:
    """Leave out waiting jobs with these rows; jobs in a slot always count."""
    return tuple("left out" if job in rows and was == "created" else was for job, was in enumerate(jobs))


def begun(rules: Rules, state: State, me: int, change: str, *rows: int, todo: tuple[str, ...]) -> State:
    """Begin a transaction: lock its rows, and give it a number if numbers matter."""
    number = state.newest + 1 if rules.numbers else 0
    return seat(state._replace(newest=number), me, Session(todo, change, rows, number))


def next_of_lane(rules: Rules, state: State, job: int, me: int) -> int | None:
    """Return the first waiting job of the lane that no other session has locked: settling/follow.sql."""
    theirs = locked(state, me)
    lane = (n for n, was in enumerate(state.jobs) if was == "created" and rules.owners[n] == rules.owners[job])
    return next((n for n in lane if n not in theirs), None)


def ends(rules: Rules, state: State, me: int) -> State:
    """Commit the change, and with it its letters to the door."""
    session = state.sessions[me]
    job, *following = session.rows
    number, lane = session.number, rules.owners[job]
    _, after, kinds = CHANGES[session.change]
    letters = tuple(Letter(kind, lane, number) for kind in kinds if session.change not in rules.untold)
    changed = {job: after, **dict.fromkeys(following, "held")}
    state = seat(ended(state, number), me, Session(session.todo[1:]), changed)
    if rules.tells == "afterwards":
        return seat(state, me, Session(("tell", *session.todo[1:]), letters=letters))
    if rules.tells == "lanes":
        arrivals = [letter for letter in letters if letter.kind == ARRIVAL]
        state = state._replace(lanes=state.lanes.moved(dict.fromkeys(state.lanes.woken(arrivals), "ready")))
        letters = tuple(letter for letter in letters if letter.kind != ARRIVAL)
    return mailed(state, letters)


def tell(_: Rules, state: State, me: int) -> State:
    session = state.sessions[me]
    return mailed(seat(state, me, Session(session.todo[1:])), session.letters)


def rolls_back(_: Rules, state: State, me: int) -> State:
    """Roll the change back: the job waits as before."""
    session = state.sessions[me]
    return seat(ended(state, session.number), me, Session(session.todo[1:]))


def died(state: State, me: int) -> State:
    return undone(state, me, Session())._replace(deaths=state.deaths - 1)


def undone(state: State, me: int, then: Session) -> State:
    """Undo what its transaction did."""
    session = state.sessions[me]
    state = mailed(seat(ended(state, session.number), me, then), session.letters if session.lanes else ())
    return state._replace(
        inside=-1 if state.inside == me else state.inside, place=-1 if state.place == me else state.place
    )


def ended(state: State, number: int) -> State:
    return state._replace(ended=max(state.ended, number))


def mailed(state: State, letters: tuple[Letter, ...]) -> State:
    """Add letters. Each letter of a freed slot counts; of other equal letters one is enough."""
    count = [letter for letter in (*state.mail, *letters) if letter.kind in {FREED, UNSAID}]
    say = {letter for letter in (*state.mail, *letters) if letter.kind not in {FREED, UNSAID}}
    return state._replace(mail=tuple(sorted([*count, *say])))


def untaken(state: State) -> list[Letter]:
    """Return the committed letters: also those that a fold has taken, until its pass is committed."""
    taken = [letter for session in state.sessions if session.lanes for letter in session.letters]
    return [*state.mail, *taken]


# --- states that have the same future -------------------------------------------------------------------------


def past_death(session: Session) -> Session:
    """Drop the letters that a fold took and that freed no slot: only a death would put them back."""
    if not session.lanes:
        return session
    return session._replace(letters=tuple(letter for letter in session.letters if letter.kind in {FREED, UNSAID}))


def renumbered(state: State) -> State:
    """Renumber the transactions: only the order of numbers matters, and only of those that a fold may still compare."""
    live = {session.number for session in state.sessions if session.number}
    live |= {letter.number for box in (state.mail, *(s.letters for s in state.sessions)) for letter in box}
    memories = [state.memory, *(memory for session in state.sessions for memory in session.memory)]
    marks = sorted({0, state.ended, *live, *(memory.since for memory in memories)})
    rank = {number: nth for nth, number in enumerate(marks)}

    def letters(box: tuple[Letter, ...]) -> tuple[Letter, ...]:
        return tuple(sorted(letter._replace(number=rank[letter.number]) for letter in box))

    def memory(known: Memory) -> Memory:
        return Memory(rank[known.since], tuple(rank[number] for number in known.unseen if number in live))

    def session(one: Session) -> Session:
        if not (one.number or one.letters or one.memory):
            return one
        remembers = tuple(map(memory, one.memory))
        return one._replace(number=rank[one.number], letters=letters(one.letters), memory=remembers)

    renamed = tuple(map(session, state.sessions))
    return state._replace(
        sessions=renamed, mail=letters(state.mail), memory=memory(state.memory), ended=rank[state.ended]
    )
