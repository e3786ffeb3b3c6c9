"""I1, I2 and I6 over all verbs, in an order that nobody thought of: after each step the truth is computed naively."""

import logging
from collections import deque
from collections.abc import Callable

import pytest

from jobs.engine.process import runtime
from jobs.store import clock
from tests.concurrency.walk import callers, door, feeders, holders, naive, operators
from tests.concurrency.walk.world import LIGHT, POOLS, World, world
from tests.thorough import sized

pytestmark = pytest.mark.django_db(transaction=True)

SEEDS = range(sized(3, thorough=8))
STEPS = sized(150, thorough=2_000)
SHOWN = 25  # steps before a failure

OFTEN = {
    callers.submit: 14,
    operators.dispatch: 18,
    holders.start: 24,
    operators.tick: 5,
    operators.beat: 6,
    holders.follow: 12,
    holders.succeed: 4,
    feeders.trip: 40,
    feeders.feed: 2,
    operators.end_transaction: 14,
    operators.lock: 4,
    operators.change_tenant: 3,
    operators.change_queue: 2,
    operators.promote: 3,
    operators.lapse: 3,
    operators.one_pass: 2,
    operators.register: 12,
    callers.submit_after: 5,
    callers.submit_in_sequence: 5,
    callers.submit_gathered: 5,
    operators.read_news: 3,
    callers.cancel_one: 3,
    callers.resume_type: 6,
    callers.archive: 2,
    holders.put_off: 4,
    holders.turn_away: 4,
    holders.hand_over_again: 4,
    holders.die: 3,
    holders.hold: 2,
    holders.hand_back: 3,
    holders.wait_for: 4,
    callers.tell: 4,
}
SELDOM = (
    *(holders.fail, holders.retry, holders.snooze, holders.stop),
    *(holders.take_back_orphans, holders.lose_messages),
    *(callers.revive_one, callers.restore, callers.discard, callers.expire, callers.erase),
    *(callers.pause_type, callers.delete_tenant),
    *(operators.leave, operators.declare_gone, operators.many_numbers),
    operators.open_line,
)
VERBS: dict[Callable[[World], object], int] = OFTEN | dict.fromkeys(SELDOM, 1)


@pytest.fixture(autouse=True)
def nobody_else(settings):
    """The walk alone dispatches; workers may be silent for a while; ended jobs go to the history early."""
    settings.JOBS_BEAT_INTERVAL = 20.0
    settings.JOBS_EVENT_TTL = 5.0
    previous = runtime.change(relay=lambda: None)
    logging.disable(logging.INFO)  # a line for each transition, of thousands
    settings.JOBS_ARCHIVE_AFTER = 30 / 86_400
    yield
    logging.disable(logging.NOTSET)
    runtime.start(previous)


def wrong(walk: World, verb: Callable[[World], object], said: str) -> list[str]:
    """Look at everything after a step; return what is not as it must be."""
    before, noted = walk.seen, walk.noted
    after, notes = walk.seen, walk.noted = naive.look(walk.now), door.look()
    dispatched = verb in {operators.dispatch, operators.one_pass, feeders.trip, feeders.feed}
    found = [*naive.exceeded(before, after, dispatched=dispatched), *door.wrong(after, notes)]
    found += [*naive.out_of_turn(before, after), *naive.started_though_held(before, after)]
    found += naive.opened_untold(before, after)
    if verb is not operators.end_transaction:  # it may have started before
        found += door.overran(before, after, noted.spent & notes.spent)
    if dispatched:
        locked = naive.locked()
        found += [*naive.overtaken(before, after, locked), *door.overspent(before, after, noted)]
        found += naive.lent(before, after, lambda limits: notes.tokens(limits, after.now))
        if verb in {operators.dispatch, feeders.feed} and "locked" not in said:
            found += naive.stuck(after) if verb is operators.dispatch else []
            pools = {LIGHT} if verb is feeders.feed else {*POOLS} - {LIGHT}
            found += naive.forgotten(after, lambda limits: notes.tokens(limits, after.now), locked, pools)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_no_order_of_steps_breaks_a_limit_or_forgets_a_job(seed, sent):
    steps: deque[str] = deque(maxlen=SHOWN)
    with world(seed, sent) as walk:
        previous = clock.follow(lambda: walk.now)
        try:
            walk.seen, walk.noted = naive.look(walk.now), door.look()
            for number in range(STEPS):
                said = None
                while said is None:  # there was nothing to do
                    [verb] = walk.random.choices(list(VERBS), list(VERBS.values()))
                    said = verb(walk)
                steps.append(f"{number} {verb.__name__}: {said}")
                found = wrong(walk, verb, str(said))
                assert not found, "\n".join([f"seed {seed}, step {number}:", *found, "the last steps:", *steps])
        finally:
            clock.follow(previous)
