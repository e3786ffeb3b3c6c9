"""The cases that are explored: the protocol, which must hold, and known faults put into it, which must be found."""

from dataclasses import dataclass, replace
from typing import Any

from docs.model import crew, ending, feeding, slicing
from docs.model.batch import Batch
from docs.model.door import CLOCK_PASS, PASS, Door
from docs.model.ending import Ending
from docs.model.explorer import Model, Verdict
from docs.model.fence import Fence
from docs.model.job import Left, Rules
from docs.model.lanes import FREED, OPENS, Books
from docs.model.recount import RECOUNT
from docs.model.seats import Seats
from docs.model.slices import Slices
from docs.model.turns import TELL, Turns
from docs.model.waits import Waits


@dataclass(frozen=True)
class Case:
    """A model, and what its exploration must find: a fault whose words contain `fault`, or none."""

    name: str
    model: Model[Any]
    fault: str | None = None

    def as_expected(self, verdict: Verdict) -> bool:
        if self.fault is None or verdict.fault is None:
            return verdict.fault is self.fault
        return self.fault in verdict.fault


# This is enough for the shortest counter-examples; PROTOCOL explores the rest.
ONE_JOB = Left(deaths=1, losses=0, doubles=1, retries=0, cancels=0, revives=0)
ALONE = Door(dispatch=("snapshot", "lock", "commit"))
LOCKED = Door(events=("cancel", "identical submitted"))
STRUCK = replace(LOCKED, deaths=1, net=True)
ROOMY = Door(slots=2, capacity=2)  # a lane may become empty
NUMBERED = replace(ROOMY, numbers=True)
LOOK = ("look",)
SLICED = ("submits", "finishes", "follows")
REVIVED = ("submits", "finishes", "revives")
TAKEN_BACK = ("submits", "finishes", "takes back")
UPGRADED = ("submits", "finishes", "finishes, by an older release")
COUNTED = replace(ROOMY, counting=RECOUNT)  # by any session, at any time
HIGH = Door(capacity=2, books=Books("A", 1), counting=RECOUNT)
LOW = Door(capacity=2, books=Books(), held=1, index=True)
CLOCK_COUNTS = (*RECOUNT, *CLOCK_PASS)
PAIR = Seats(workers=2, processes=1, jobs=2)  # of light workers
FOUR = replace(ROOMY, owners="AAAA", sessions=2)
MISHAPS = ending.Left(deaths=1, cuts=1, losses=1, errors=1)

PROTOCOL = (
    Case("door: 4 sessions, capacity 1", Door(owners="AABB", sessions=4)),
    Case("door: 4 sessions, capacity 2, 3 tenants", Door(owners="AABBC", sessions=4, capacity=2)),
    Case("door: 4 sessions, capacity 3, 2 slots", Door(owners="AABB", sessions=4, capacity=3, slots=2)),
    Case("door: 2 slots, one place, no spare rows", Door(slots=2, spare=0)),
    Case("door: taken back, 2 slots", replace(ROOMY, moves=TAKEN_BACK)),
    Case("door: passes of one visit, 3 tenants", Door(owners="AABC", visits=1, capacity=2)),
    Case("door: 2 lanes of a tenant, 2 slots", Door(owners="AaAa", capacity=3, slots=2)),
    Case("door: 2 lanes of a tenant, passes of one visit", Door(owners="AaaB", capacity=2, visits=1)),
    Case("door: 2 lanes of a tenant, time slices", Door(owners="AAaB", capacity=2, moves=SLICED)),
    Case("door: 2 lanes of a tenant, a death and any stall", Door(owners="AaB", capacity=2, deaths=1, net=True)),
    Case("door: rows locked and changed", replace(LOCKED, owners="AB")),
    Case("door: rows locked and changed, revived", replace(LOCKED, sessions=2, moves=REVIVED)),
    Case(
        "door: rows locked and changed, 2 slots, no spare rows",
        replace(ROOMY, owners="AAA", events=LOCKED.events, spare=0),
    ),
    Case("door: rows locked by identical submissions", replace(LOCKED, events=("identical submitted",))),
    Case("door: early numbers commit late", replace(NUMBERED, slots=1, capacity=1)),
    Case("door: early numbers commit late, 2 slots", NUMBERED),
    Case(
        "door: the same, rows locked, no spare rows",
        replace(NUMBERED, owners="AB", events=("identical submitted",), spare=0),
    ),
    Case("door: the same, folds of 2 letters", replace(NUMBERED, slots=1, capacity=1, takes=2)),
    Case("door: the clock heals a death and any stall", replace(STRUCK, owners="AB", events=("identical submitted",))),
    Case("door: the clock heals 2 deaths and any stall", replace(STRUCK, sessions=2, deaths=2, events=("cancel",))),
    Case("door: the clock heals, 2 slots", replace(STRUCK, sessions=2, slots=2, capacity=2)),
    Case("door: the clock heals, early numbers", replace(NUMBERED, sessions=2, deaths=1, net=True)),
    Case("door: a submit looks first", Door(owners="AABB", looks=LOOK)),
    Case("door: a submit looks first, 2 slots", replace(ROOMY, owners="AABB", looks=LOOK)),
    Case("door: the same, 2 slots, early numbers", replace(NUMBERED, sessions=2, looks=LOOK)),
    Case("door: time slices, capacity 1", Door(moves=SLICED)),
    Case("door: time slices, 2 slots, one spare row", replace(ROOMY, owners="AAA", moves=SLICED, spare=1)),
    Case("door: time slices, early numbers", replace(NUMBERED, sessions=2, moves=SLICED)),
    Case("door: books counted anew, taken back", replace(COUNTED, moves=TAKEN_BACK)),
    Case("door: books counted anew, time slices", replace(COUNTED, owners="AAA", moves=SLICED)),
    Case("door: books counted anew, early numbers", replace(COUNTED, numbers=True, sessions=2)),
    Case(
        "door: books counted anew, early numbers, taken back",
        replace(COUNTED, owners="AA", numbers=True, sessions=2, moves=TAKEN_BACK),
    ),
    Case("door: books counted anew, a death and any stall", replace(COUNTED, deaths=1, net=True)),
    Case(
        "door: books counted anew, 2 deaths",
        replace(COUNTED, owners="AA", sessions=2, deaths=2, net=True, moves=TAKEN_BACK),
    ),
    Case("door: a tenant's book too high at first", replace(HIGH, owners="AABC")),
    Case("door: the pool's book too high at first", replace(HIGH, capacity=1, books=Books("", 1))),
    Case("door: a book too high at first, the clock counts", replace(HIGH, deaths=1, net=True, clock=CLOCK_COUNTS)),
    Case("door: books too low at first, 2 slots", replace(LOW, owners="AAAB", slots=2, capacity=4, held=2)),
    Case("door: books too low at first, counted anew", replace(LOW, counting=RECOUNT)),
    Case("door: books too low at first, the clock counts", replace(LOW, deaths=1, net=True, clock=CLOCK_COUNTS)),
    Case("door: books counted anew, 2 lanes of a tenant", replace(COUNTED, owners="AaA", slots=1, moves=TAKEN_BACK)),
    Case("door: an older release ends jobs", Door(moves=UPGRADED)),
    Case("door: an older release ends jobs, counted anew", replace(COUNTED, sessions=2, moves=UPGRADED)),
    Case("door: an older release ends jobs, early numbers", replace(NUMBERED, sessions=2, moves=UPGRADED)),
    Case(
        "door: an older release ends jobs, the clock counts",
        Door(moves=UPGRADED, deaths=1, net=True, clock=CLOCK_COUNTS),
    ),
    Case("fence: deaths, zombies, doubles", Fence(left=Left(1, 1, 1, 0, 0, 0))),
    Case("fence: deaths, doubles, retries, revive", Fence(left=Left(1, 0, 1, 1, 0, 1))),
    Case("fence: cancel, deaths, doubles, revive", Fence(left=Left(1, 0, 1, 0, 1, 1))),
    Case("fence: cancel, zombies, doubles, retries", Fence(left=Left(0, 1, 1, 1, 1, 0))),
    Case("fence: deaths, zombies, cancel, retries", Fence(left=Left(2, 1, 0, 1, 1, 0))),
    Case("fence: 3 workers, a double, a zombie", Fence(left=Left(0, 1, 1, 1, 0, 0), workers=3)),
    Case("fence: workers about to register", Fence(left=ONE_JOB, registered=False)),
    Case("fence: the same, cancel, retries", Fence(left=Left(1, 0, 0, 1, 1, 0), registered=False)),
    Case("fence: workers given up before they register", Fence(left=Left(1, 1, 1, 0, 0, 0), registered=False)),
    Case("slices: a death, a double, a cut connection", Slices(left=crew.Left(deaths=1, doubles=1, cuts=1))),
    Case("slices: 2 deaths, an open transaction", Slices(left=crew.Left(deaths=2, opens=1))),
    Case("slices: a death, a lost worker, an open transaction", Slices(left=crew.Left(deaths=1, losses=1, opens=1))),
    Case("slices: a lost worker, a cut, a retry", Slices(left=crew.Left(losses=1, opens=1, cuts=1, retries=1))),
    Case("slices: 3 jobs, 2 slots, a death", Slices(left=crew.Left(deaths=1), jobs=3, slots=2)),
    Case("slices: 3 jobs, a cut, a retry", Slices(left=crew.Left(cuts=1, retries=1), jobs=3)),
    Case("slices: a drain, 3 jobs, 2 slots", Slices(left=crew.Left(drains=1), jobs=3, slots=2)),
    Case("slices: a drain, a death, a cut, 2 slots", Slices(left=crew.Left(drains=1, deaths=1, cuts=1), slots=2)),
    Case("slices: a stranger's lock, a lost worker", Slices(left=crew.Left(strangers=1, losses=1), slots=2)),
    Case("slices: a stranger's lock, a death", Slices(left=crew.Left(strangers=1, deaths=1, opens=1), slots=2)),
    Case("slices: a standby promoted, a cut, 2 slots", Slices(left=crew.Left(standbys=1, cuts=1), slots=2)),
    Case("batch: 2 jobs", Batch()),
    Case("batch: 3 jobs", Batch(members=3)),
    Case("batch: a revival", Batch(revives=1)),
    Case("batch: the callbacks locked", Batch(strangers=1)),
    Case("batch: the clock heals a death", Batch(deaths=1, net=True)),
    Case("batch: one job, 2 deaths, a revival, a lock", Batch(1, deaths=2, revives=1, strangers=1, net=True)),
    Case("turns: 3 jobs", Turns()),
    Case("turns: 2 jobs, a revival", Turns(2, revives=1)),
    Case("turns: the clock heals a death, a revival, a lock", Turns(2, deaths=1, revives=1, strangers=1, net=True)),
    Case("waits: 2 jobs", Waits()),
    Case("waits: who tells the event rolls back", Waits(rollbacks=1)),
    Case("waits: the clock heals a death, a lock", Waits(deaths=1, strangers=1, net=True)),
    Case("seats: 4 jobs, a death", Seats(left=feeding.Left(deaths=1), jobs=4, slots=4)),
    Case("seats: 2 lost answers", Seats(left=feeding.Left(cuts=2))),
    Case("seats: a death, a lost answer", Seats(left=feeding.Left(deaths=1, cuts=1))),
    Case("seats: a death, a lost answer, a refused batch", Seats(left=feeding.Left(1, 0, 1, 1), jobs=2)),
    Case("seats: a lost answer, a retry", Seats(left=feeding.Left(cuts=1, retries=1))),
    Case("seats: 2 workers of one seat, a lost one, a lost answer", replace(PAIR, left=feeding.Left(0, 1, 1), seats=1)),
    Case("seats: a standby promoted, a lost answer", Seats(left=feeding.Left(cuts=1, standbys=1), jobs=2)),
    Case("ending: a death, a cut, a lost worker, an error", Ending(left=MISHAPS)),
    Case("ending: nothing can be asked", Ending(ending.Rules(asks=False), MISHAPS)),
    Case("ending: the row is asked without a lock", Ending(ending.Rules(asks_with_lock=False), MISHAPS)),
)

FAULTS = (
    Case("count, then claim, without the door", ALONE, "I1"),
    Case(
        "the published query: count, then LIMIT 1 SKIP LOCKED",
        Door(dispatch=("snapshot", "lock_past_locked", "commit"), batch=1), "I1",
    ),
    Case(
        "claim in the statement that waits for the lock",
        Door(dispatch=("knock", "fold", "snapshot", "enter", "give_place", "lock", "commit", "leave")), "I1",
    ),
    Case(
        "door let go before the commit",
        Door(dispatch=("knock", "enter", "give_place", "fold", "snapshot", "lock", "leave", "commit")), "I1",
    ),
    Case(
        "go home when another is inside, instead of waiting",
        Door(dispatch=("enter_or_go_home", "fold", "snapshot", "lock", "commit", "leave")), "I2: no session",
    ),
    Case(
        "place given up after the claim's snapshot",
        Door(dispatch=("knock", "enter", "fold", "snapshot", "give_place", "lock", "commit", "leave")),
        "I2: no session",
    ),
    Case(
        "place given up between fold and claim",
        Door(dispatch=("knock", "enter", "fold", "give_place", "snapshot", "lock", "commit", "leave")),
        "I2: no session",
    ),
    Case(
        "fold after the claim's snapshot",
        replace(ROOMY, dispatch=("knock", "enter", "give_place", "snapshot", "fold", "lock", "commit", "leave")),
        "I2: no session",
    ),
    Case(
        "skip locked without the door: one job for each finisher",
        replace(ALONE, owners="ABC", capacity=2, batch=1, limits=False, goes_on=False), "I2: no session",
    ),
    Case(
        "an arrival's letter comes after the commit, and the session stalls",
        Door(tells="afterwards", net=True), "I2: all others stall",
    ),
    Case("a revival writes no letter", Door(moves=REVIVED, untold=("revives",)), "I2: no session"),
    Case("a freed slot writes no letter", Door(untold=("finishes",), exact=False), "I2: no session"),
    Case("fold remembers the highest number that it took", Door(numbers=True, by_highest=True), "I2: no session"),
    Case(
        "fold remembers its snapshot though it did not take all",
        Door(numbers=True, capacity=2, sessions=2, takes=1, remembers_always=True), "I2: no session",
    ),
    Case("a submit sets the lane ready itself", replace(ROOMY, tells="lanes"), "I2: no session"),
    Case("one pass only, of one visit", Door(visits=1, goes_on=False), "I2: no session"),
    Case(
        "one pass only, and a pause asks for nothing",
        Door(events=("pause, asks for nothing",), goes_on=False), "I2: no session",
    ),
    Case(
        "no spare rows, and a pause asks for nothing",
        Door(events=("pause, asks for nothing",), spare=0), "I2: no session",
    ),
    Case(
        "one pass only: an open transaction keeps all tenants waiting",
        replace(STRUCK, owners="AB", events=("cancel",), deaths=0, goes_on=False), "I2: all others stall",
    ),
    Case(
        "no spare rows: an open transaction keeps its whole lane waiting",
        replace(STRUCK, events=("cancel",), deaths=0, spare=0), "I2: all others stall",
    ),
    Case(
        "a further pass waits in line, and leaves out what it passed over",
        replace(LOCKED, events=("identical submitted",), again_in_line=True), "I2: no session",
    ),
    Case("no clock: a cancel rolls back", Door(events=("cancel, rolled back",)), "I2: no session"),
    Case("no clock: a session dies before its pass", Door(deaths=1), "I2: no session"),
    Case("the clock knocks, too", replace(STRUCK, clock=PASS), "I2: all others stall"),
    Case("no pipeline: a client stalls inside the door", replace(STRUCK, pipelined=False), "never gets in"),
    Case("a freed slot opens its own lane only", Door(owners="Aa", capacity=2, opens_own=True), "I2: no session"),
    Case("a pass serves each lane up to its tenant's limit", Door(owners="Aa", capacity=2, cuts=False), "I1"),
    Case("fold does not take off the books", Door(takes_off=()), "books: A in use, but none"),
    Case("fold does not take off the books, unchecked", Door(takes_off=(), exact=False), "I2: no session"),
    Case("claim does not add to the books", Door(adds=False), "books: none in use, but A"),
    Case("claim does not add to the books, unchecked", Door(adds=False, exact=False), "I1"),
    Case(
        "fold takes off for a letter that freed no slot",
        replace(LOCKED, events=("cancel",), takes_off=(FREED, OPENS)), "books: none in use, but A",
    ),
    Case(
        "a job that follows in a slot writes that it is free",
        Door(moves=("submits", "finishes", "follows, but says that it freed the slot")), "books: A in use, but AA",
    ),
    Case("an end's letter comes after its commit", Door(tells="afterwards"), "books: A in use, but none"),
    Case(
        "an end's letter comes after its commit, and a recount between",
        replace(FOUR, tells="afterwards", counting=RECOUNT, exact=False), "I1: 3 held of 2",
    ),
    Case(
        "fold commits the books by itself: after a death it takes off twice",
        replace(FOUR, apart=True, deaths=1, net=True, exact=False), "I1: 3 held of 2",
    ),
    Case("books counted outside the door", Door(counting=("recount", "write_books")), "books: none in use, but A"),
    Case(
        "books counted outside the door, unchecked",
        Door(counting=("recount", "write_books"), exact=False), "I1: 2 held of 1",
    ),
    Case(
        "recount leaves out what no fold has taken",
        Door(counting=RECOUNT, counts_letters=False), "books: none in use, but A",
    ),
    Case(
        "recount leaves out what no fold has taken, unchecked",
        replace(FOUR, counting=RECOUNT, counts_letters=False, exact=False), "I1: 3 held of 2",
    ),
    Case(
        "recount in two statements: letters, then jobs",
        Door(counting=("enter", "count_letters", "count_jobs", "write_books", "leave")), "books: none in use, but A",
    ),
    Case("recount does not report whose book was too high", replace(HIGH, tells_wrong=False), "I2: no session"),
    Case("a book is too high at first, without a recount", replace(HIGH, counting=()), "I2: no session"),
    Case("a book is too low at first, and no index refuses", replace(LOW, index=False), "I1: 2 held of 2"),
    Case("the index refuses, without a recount", replace(LOW, mends=False), "I2: no session"),
    Case("the pool's book is too low at first: no index refuses", Door(books=Books("A", 0), held=1), "I1: 2 held of 1"),
    Case(
        "an older release ends a job, without a recount",
        Door(moves=UPGRADED, mends=False, exact=False), "I2: no session",
    ),
    Case(
        "an older release ends two jobs, and a dispatch recounts once",
        Door(moves=UPGRADED, mends_once=True, exact=False), "I2: no session",
    ),
    Case("settle by id, without the attempt", Fence(Rules(settle_fenced=False), Left(0, 1, 0, 0, 0, 0)), "I3"),
    Case("start without the status", Fence(Rules(start_guards_status=False), Left(0, 0, 1, 0, 0, 0)), "I3"),
    Case("start without the attempt", Fence(Rules(start_guards_attempt=False), Left(0, 0, 1, 1, 0, 1)), "I3"),
    Case("take back without the attempt", Fence(Rules(take_back_fenced=False), Left(1, 1, 0, 1, 0, 0)), "I3"),
    Case(
        "take back only what runs: a start outlives its process",
        Fence(Rules(take_back_minds_queued=False), Left(1, 0, 0, 0, 0, 0)), "I4",
    ),
    Case(
        "take back without the process: a doubled message's death",
        Fence(Rules(report_names_process=False), ONE_JOB), "I3",
    ),
    Case(
        "take back at once what an unknown worker runs",
        Fence(Rules(orphans_are_patient=False), Left(0, 0, 0, 0, 0, 0), registered=False), "I3",
    ),
    Case(
        "a worker registers after it was given up as unknown",
        Fence(Rules(strangers_are_gone=False), Left(0, 1, 0, 0, 0, 0), registered=False), "I3",
    ),
    Case(
        "cancel, request, cancel: once each",
        Fence(Rules(cancel_repeats=False), Left(1, 0, 0, 0, 1, 0)), "too late",
    ),
    Case(
        "hand back in spite of a cancel",
        Fence(Rules(hand_back_minds_cancel=False), Left(0, 0, 0, 1, 1, 0)), "forgotten",
    ),
    Case(
        "wait for an event in spite of a cancel",
        Fence(Rules(wait_minds_cancel=False), Left(0, 0, 0, 1, 1, 0)), "forgotten",
    ),
    Case("a snooze gives its number back", Fence(Rules(attempt_only_grows=False), Left(0, 0, 0, 1, 0, 0)), "I3"),
    Case("cancel frees the slot of running code", Fence(Rules(cancel_waits=False), Left(0, 0, 0, 0, 1, 0)), "I3"),
    Case("retry in spite of a cancel", Fence(Rules(retry_minds_cancel=False), Left(0, 0, 0, 1, 1, 0)), "forgotten"),
    Case(
        "no clock: jobs that follow lock as many rows as a claim looks at",
        replace(ROOMY, owners="AAA", moves=SLICED, spare=0), "I2: no session",
    ),
    Case(
        "a submit looks at the books alone, which a fold is about to change",
        Door(looks=("look_at_the_books_alone",)), "I2: no session",
    ),
    Case("follow without a lock", Slices(slicing.Rules(follow_locks=False)), "I3: worker 2 is alive"),
    Case(
        "follow though nothing was settled",
        Slices(slicing.Rules(follow_needs_settled=False), crew.Left(cuts=1), jobs=3), "I1: 2 slots are held of 1",
    ),
    Case(
        "follow on a worker that is gone",
        Slices(slicing.Rules(follow_minds_gone=False), crew.Left(losses=1)), "I3: worker 1 was declared gone",
    ),
    Case(
        "settle without the process: a standby lacked the last commits",
        Slices(slicing.Rules(settle_names_process=False), crew.Left(standbys=1)), "what another process runs",
    ),
    Case(
        "write without the process: a standby lacked the last commits, and numbers come again",
        Slices(slicing.Rules(writes_name_process=False), crew.Left(standbys=1)), "I8: worker 1 writes",
    ),
    Case(
        "no parent compares: a standby lacked the end of a job",
        Slices(slicing.Rules(compares=False), crew.Left(standbys=1)), "I4: no process will ever go on with",
    ),
    Case(
        "take back what no process seems to hold, while a statement is under way",
        Slices(slicing.Rules(compares_patiently=False)), "I3: worker 1 is alive",
    ),
    Case(
        "after a lost answer, settle again and ask nothing",
        Slices(slicing.Rules(asks_what_it_holds=False, compares=False), crew.Left(cuts=1)),
        "I4: no process will ever go on with 2",
    ),
    Case(
        "after a lost answer of a dispatch, ask nothing",
        Slices(slicing.Rules(asks_after_dispatch=False, compares=False), crew.Left(cuts=1)),
        "I4: no process will ever go on with 2",
    ),
    Case(
        "after a lost answer, ask first and start then",
        Slices(slicing.Rules(starts_before_it_asks=False, compares=False), crew.Left(cuts=1)),
        "I4: no process will ever go on with 1",
    ),
    Case(
        "report a death by the message's job",
        Slices(slicing.Rules(report_by_process=False, compares=False), crew.Left(deaths=1)),
        "I4: no process will ever go on with 2",
    ),
    Case(
        "report a process that could not settle, and let it live",
        Slices(slicing.Rules(gives_up_and_ends=False), crew.Left(deaths=1)), "I3: worker 1 is alive",
    ),
    Case(
        "read what a dead process ran before its sessions have ended",
        Slices(slicing.Rules(sessions_first=False, compares=False), crew.Left(deaths=1)),
        "I4: no process will ever go on with 2",
    ),
    Case(
        "skip what the session of a dead process has locked, and leave that session",
        Slices(slicing.Rules(sessions_first=False), crew.Left(losses=1, opens=1)),
        "I4: no process will ever go on with 1",
    ),
    Case(
        "take back waits for the session of a dead process",
        Slices(slicing.Rules(sessions_first=False, take_back_skips=False), crew.Left(losses=1, opens=1), slots=2),
        "1 (running), 2 (created)",
    ),
    Case(
        "take back waits for a stranger's lock",
        Slices(slicing.Rules(take_back_skips=False), crew.Left(losses=1, strangers=1), slots=2), "go on with 2",
    ),
    Case(
        "what a draining worker runs uses up the capacity",
        Slices(slicing.Rules(draining_is_free=False), crew.Left(drains=1), slots=2), "go on with 2 (created)",
    ),
    Case(
        "head-room: more jobs than processes, and one's message is lost",
        Slices(slicing.Rules(headroom=1), slots=2, workers=1), "not sent again",
    ),
    Case("batch: compared with the numbers of the snapshot", Batch(deaths=1, net=True, newest=False), "came too early"),
    Case("batch: closed after the snapshot counts", Batch(revives=1, of_snapshot=False), "on_end came too early"),
    Case("batch: a locked one is not noted again", Batch(deaths=2, net=True, notes_again=False), "was lost"),
    Case("batch: a locked callback is not noted again", Batch(1, strangers=1, notes_again=False), "on_end was lost"),
    Case("batch: a reader does not look again", Batch(looks_again=False), "on_end was lost"),
    Case("batch: two readers at once", Batch(alone=False), "on_end came too early"),
    Case("batch: closing it leaves no letter", Batch(close_tells=False), "on_end was lost"),
    Case("batch: a revival leaves no letter", Batch(revives=1, revival_tells=False), "on_end came too early"),
    Case("batch: counted after the jobs are there", Batch(counts_within=False), "on_end came too early"),
    Case("batch: a death, and no clock", Batch(deaths=1), "on_end was lost"),
    Case("turns: a reader does not see who has the turn", Turns(2, sees_turn=False), "two go at once"),
    Case("turns: it does not see the dead job that stops", Turns(2, sees_dead=False), "passed a dead job"),
    Case("turns: two readers at once", Turns(2, alone=False), "two go at once"),
    Case("turns: a locked one is not noted again", Turns(2, strangers=1, net=True, notes_again=False), "was lost"),
    Case("turns: a reader does not look again", Turns(2, looks_again=False), "was lost"),
    *(
        Case(
            f"turns: no letter when a job {untold}",
            Turns(2, revives=1, tells=tuple(told for told in TELL if told != untold)),
            "was lost",
        )
        for untold in TELL
    ),
    Case("turns: a death, and no clock", Turns(2, deaths=1), "was lost"),
    Case("waits: who begins to wait leaves no letter", Waits(wait_tells=False), "was lost"),
    Case(
        "waits: who begins to wait looks itself, and leaves one if the event is there",
        Waits(looks_itself=True), "was lost",
    ),
    Case("waits: who tells the event leaves no letter", Waits(event_tells=False), "was lost"),
    Case("waits: who tells the event leaves letters about the jobs that it sees", Waits(names_jobs=True), "was lost"),
    Case("waits: a reader does not look whether the event is there", Waits(sees_event=False), "without its event"),
    Case("waits: a locked one is not noted again", Waits(strangers=1, net=True, notes_again=False), "was lost"),
    Case("waits: a reader does not look again", Waits(looks_again=False), "was lost"),
    Case("waits: patience ends though the event has come", Waits(lapse_minds_event=False), "patience has ended"),
    Case("waits: a death, and no clock", Waits(deaths=1), "was lost"),
    Case(
        "seats: settle many without the process: a standby lacked the last commits",
        Seats(feeding.Rules(settle_names_process=False), feeding.Left(standbys=1)), "which another process runs",
    ),
    Case(
        "seats: settle many by id, without the fence",
        replace(PAIR, rules=feeding.Rules(settle_fenced=False), left=feeding.Left(losses=1), seats=1),
        "which another process runs",
    ),
    Case(
        "seats: start many without the status",
        replace(PAIR, rules=feeding.Rules(start_guards_status=False), left=feeding.Left(cuts=1)), "I3",
    ),
    Case(
        "seats: a lost answer takes the ends along",
        Seats(feeding.Rules(keeps_ends=False), feeding.Left(cuts=1)), "I4: no seat will ever go on with",
    ),
    Case(
        "seats: after a lost answer no feeder looks",
        Seats(feeding.Rules(looks=False), feeding.Left(cuts=1)), "I4: no seat will ever go on with",
    ),
    Case(
        "seats: a look while a trip is under way",
        Seats(feeding.Rules(looks_between_trips=False)), "I3: worker 1 is alive",
    ),
    Case(
        "seats: begin all that runs by the rows, also what a seat holds",
        Seats(feeding.Rules(begins_unknown_only=False), feeding.Left(cuts=1)), "started twice",
    ),
    Case(
        "seats: take back what is settled one by one",
        Seats(feeding.Rules(minds_in_hand=False), feeding.Left(refusals=1)), "in hand, and it runs again",
    ),
    Case(
        "seats: take back what a dead process ran before its ends are settled",
        Seats(feeding.Rules(settles_first=False), feeding.Left(deaths=1)), "in hand, and it runs again",
    ),
    Case(
        "seats: no look at dead processes, and a trip starts in one",
        Seats(feeding.Rules(takes_back_dead=False), feeding.Left(deaths=1, cuts=1)), "I4: no seat will ever go on",
    ),
    Case(
        "seats: a death takes back one attempt of its process, and no look the others",
        Seats(feeding.Rules(takes_back_all=False, takes_back_dead=False), feeding.Left(deaths=1)),
        "I4: no seat will ever go on",
    ),
    Case(
        "seats: a death takes back what runs in the whole worker",
        Seats(feeding.Rules(report_names_process=False), feeding.Left(deaths=1)), "I3: worker 1 is alive",
    ),
    Case(
        "ending: the effect is committed before the end, as without it",
        Ending(ending.Rules(one_commit=False), ending.Left(deaths=1)), "the effect is there 1 times",
    ),
    Case(
        "ending: the end is not fenced",
        Ending(ending.Rules(end_fenced=False), ending.Left(losses=1)), "the effect is there 2 times",
    ),
    Case(
        "ending: the failure is not fenced, and nothing is asked",
        Ending(ending.Rules(failure_fenced=False, asks=False), ending.Left(cuts=1)), "the effect is there 1 times",
    ),
    Case(
        "ending: a stale block commits",
        Ending(ending.Rules(rolls_back=False), ending.Left(losses=1)), "the effect is there 1 times",
    ),
    Case(
        "ending: a lost answer is taken for a commit",
        Ending(ending.Rules(guesses=True), ending.Left(cuts=1)), "the effect is there 0 times",
    ),
)  # fmt: skip
