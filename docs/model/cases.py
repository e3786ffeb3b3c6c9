"""What is explored: the protocol, which must hold; known faults put into it, which must be found; and open gaps."""

from dataclasses import dataclass, replace
from typing import Any

from docs.model.door import CLOCK_PASS, PASS, Door
from docs.model.explorer import Model, Verdict
from docs.model.fence import Fence
from docs.model.job import Left, Rules


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


# Enough for the shortest counter-examples; what it leaves out is explored in PROTOCOL.
ONE_JOB = Left(deaths=1, losses=0, doubles=1, retries=0, cancels=0, revives=0)
STRUCK = Door(owners="AAB", events=("cancel", "cancel, rolled back", "pause its type"), deaths=1, net=True)

PROTOCOL = (
    Case("door: 4 sessions, capacity 1", Door(owners="AABB", sessions=4, events=("cancel",))),
    Case("door: 4 sessions, capacity 2, 3 tenants", Door(owners="AABBC", sessions=4, capacity=2)),
    Case("door: 4 sessions, capacity 3, 2 slots", Door(owners="AAABB", sessions=4, capacity=3, slots=2)),
    Case("door: the clock heals 2 deaths and any stall", replace(STRUCK, deaths=2)),
    Case("door: the same, capacity 2", replace(STRUCK, owners="AABB", capacity=2)),
    Case("fence: deaths, zombies, doubles, retries", Fence(left=Left(cancels=0, revives=0))),
    Case("fence: cancel against all of that", Fence(left=Left(deaths=0, revives=0))),
    Case("fence: revive, deaths, cancel, retries", Fence(left=Left(losses=0))),
    Case("fence: deaths between message and start", Fence(left=Left(2, 1, 0, 1, 1, 0))),
    Case("fence: 3 workers, a double, a zombie", Fence(left=Left(0, 1, 1, 1, 0, 0), workers=3)),
)

FAULTS = (
    Case("count, then claim, without the door", Door(dispatch=("snapshot", "lock", "commit")), "I1"),
    Case(
        "the published query: count, then LIMIT 1 SKIP LOCKED",
        Door(dispatch=("snapshot", "lock_past_locked", "commit"), batch=1), "I1",
    ),
    Case(
        "claim in the statement that waits for the lock",
        Door(dispatch=("knock", "snapshot", "enter", "give_place", "lock", "commit", "leave")), "I1",
    ),
    Case(
        "door let go before the commit",
        Door(dispatch=("knock", "enter", "give_place", "snapshot", "lock", "leave", "commit")), "I1",
    ),
    Case(
        "go home when another is inside, instead of waiting",
        Door(dispatch=("enter_or_go_home", "snapshot", "lock", "commit", "leave")), "I2: nobody",
    ),
    Case(
        "place given up after the snapshot",
        Door(dispatch=("knock", "enter", "snapshot", "give_place", "lock", "commit", "leave")), "I2: nobody",
    ),
    Case(
        "skip locked without the door: one job for each finisher",
        Door(owners="ABC", capacity=2, dispatch=("snapshot", "lock", "commit"), batch=1, limits=False), "I2: nobody",
    ),
    Case("no clock: who cancels rolls back", Door(events=("cancel, rolled back",)), "I2: nobody"),
    Case("no clock: a session dies before its pass", Door(deaths=1), "I2: nobody"),
    Case("the clock knocks, too", replace(STRUCK, clock=PASS), "I2: all others stall"),
    Case("no pipeline: a client stalls inside the door", replace(STRUCK, pipelined=False), "never gets in"),
    Case("settle by id, without the attempt", Fence(Rules(settle_fenced=False), Left(0, 1, 0, 0, 0, 0)), "I3"),
    Case("start without the status", Fence(Rules(start_guards_status=False), ONE_JOB), "I3"),
    Case("start without the attempt", Fence(Rules(start_guards_attempt=False), Left(0, 0, 1, 1, 0, 1)), "I3"),
    Case("take back without the attempt", Fence(Rules(take_back_fenced=False), Left(1, 1, 0, 1, 0, 0)), "I3"),
    Case(
        "take back only what runs: a start outlives its process",
        Fence(Rules(take_back_minds_queued=False), Left(1, 0, 0, 0, 0, 0)), "I4",
    ),
    Case("a snooze gives its number back", Fence(Rules(attempt_only_grows=False), Left(0, 0, 0, 1, 0, 0)), "I3"),
    Case("cancel frees the slot of running code", Fence(Rules(cancel_waits=False), Left(0, 0, 0, 0, 1, 0)), "I3"),
    Case("retry in spite of a cancel", Fence(Rules(retry_minds_cancel=False), Left(0, 0, 0, 1, 1, 0)), "forgotten"),
)  # fmt: skip

# Faults of the code as it is, each in a narrow window. See README.md. (For the first the remedy is in PROTOCOL: like a
# cancel, it should ask for a dispatch.)
GAPS = (
    Case("a pause asks for no dispatch", Door(events=("pause its type",)), "I2: nobody"),
    Case(
        "an open transaction that locked one row keeps all tenants waiting",
        replace(STRUCK, owners="BA", events=("cancel",), deaths=0, changes_end=False), "I2: all others stall",
    ),
    Case(
        "the death of a duplicate's process takes the attempt from its holder",
        Fence(Rules(doubled_die=True), ONE_JOB), "I3",
    ),
    Case(
        "a worker starts a job before it has registered",
        Fence(Rules(registers_first=False), Left(0, 0, 0, 0, 0, 0)), "I3",
    ),
    Case(
        "a cancel of a job that runs is told 'too late'",
        Fence(left=Left(1, 0, 0, 0, 1, 0), check_answers=True), "too late",
    ),
)  # fmt: skip
REMEDIES = (
    Case(
        "the claim looks past locked rows",
        replace(
            STRUCK, events=("cancel",), deaths=0, changes_end=False,
            clock=tuple("lock_past_locked" if step == "lock" else step for step in CLOCK_PASS),
        ),
    ),
    Case(
        "a parent's take_back names the process that started it",
        Fence(Rules(doubled_die=True, report_names_process=True), Left(1, 1, 1, 0, 0, 0)),
    ),
    Case(
        "start only for a registered worker",
        Fence(Rules(registers_first=False, start_checks_worker=True), Left(0, 1, 1, 1, 1, 0)),
    ),
    Case(
        "cancel and request_cancel in one statement",
        Fence(Rules(cancel_at_once=True), Left(1, 1, 0, 1, 1, 0), check_answers=True),
    ),
)  # fmt: skip
