"""Each condition holds just when its facts say so."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from jobs.allocation.gates import Gate
from jobs.console.ops.health.reliability import diagram
from jobs.models import Repair, Sample
from jobs.reading.blocks import BlockNow, BlocksOfType
from jobs.reading.health import RULES, Facts, conditions
from jobs.reading.health.ended import EndedLook
from jobs.reading.health.looks import BudgetLook, PredictionsLook, ServerLook, WebhooksLook
from jobs.reading.health.quiet import QuietPool
from jobs.reading.health.target_look import TargetLook
from jobs.reading.looking import Worker
from jobs.reading.statistics import Kept
from jobs.reading.waits import PoolDemand
from tests.unit.test_waits import NOW, lane, queue, tenant


def worker(
    pool: str = "default",
    concurrency: int = 4,
    *,
    beat_ago: float = 0.0,
    gone_ago: float | None = None,
    lost: bool = False,
    cut_off_at: datetime | None = None,
    kind: str = "ordinary",
    database_wait: float | None = None,
) -> Worker:
    """One that beats every five seconds."""
    gone_at = None if gone_ago is None else NOW - timedelta(seconds=gone_ago)
    beat_at = NOW - timedelta(seconds=beat_ago)
    what = (uuid4(), "w", 1, pool, kind, concurrency, 1, 5.0)
    return Worker(*what, NOW, beat_at, cut_off_at, gone_at, lost=lost, leads=False, database_wait=database_wait)


WAITING = lane(gate=Gate.SLOTS_FULL, waiting=9, since=NOW - timedelta(hours=9))
SERVER = ServerLook(NOW, True, 3.0, 0.5, 80, 100, 0, 5000)
PREDICTIONS = PredictionsLook(300, 9, 280, 141, 270, 244, 200, 160, 0.9, 1.2, 2.3, 3.0, 2.5, 3.3)
PUGET = replace(tenant(), name="Puget", got=41.0, entitled=100.0, got_hour=300.0, entitled_hour=900.0)
GOOD = Facts(
    queues={1: queue(processes=4, used=3)},
    lanes=[WAITING],
    workers=[worker()],
    server=SERVER,
    ended=EndedLook(50, 10, 100),
    repairs=[],
    sample=Sample(fairness=0.5),
    starved=[],
    cache=True,
    predictions=PREDICTIONS,
    webhooks=WebhooksLook(9, 3, 0, 2, 5000, 9999.0),
    blocked=[],
    blocks=[],
    targets=[],
    quiet=[],
    budgets=[],
)


def pool(
    processes: int, used: int, *, late_for: float | None = None, first_for: float = 9999.0, idle_looks: int = 0
) -> Facts:
    """Two jobs may run, and have been ready for so long; late_for: seconds since which they could."""
    may = lane(passing=2, since=NOW - timedelta(seconds=first_for))
    late = {} if late_for is None else {"late": 2, "late_seconds": late_for, "idle_looks": idle_looks}
    workers = [worker()] if processes else []
    return replace(GOOD, queues={1: queue(processes=processes, used=used, **late)}, lanes=[may], workers=workers)


def server(**changed) -> Facts:
    return replace(GOOD, server=replace(SERVER, **changed))


def quiet(seconds: float, usual: float = 100.0, processes: int = 4) -> Facts:
    """Nothing has ended for so long in a full pool, whose jobs usually take at most that long."""
    return replace(GOOD, quiet=[QuietPool(PoolDemand("mail", processes, processes, 0, None), seconds, usual)])


BLOCK = BlockNow(uuid4(), "mail", "mail.letter.send", 12, "/srv/app/mail.py:31 send", 42, 3.2)


def light(database_wait: float, **fields) -> Facts:
    """A light pool, one of whose bodies has waited so long for a database thread; and an ordinary one."""
    return replace(GOOD, workers=[worker(), worker("mail", kind="light", database_wait=database_wait, **fields)])


def blocked_before(*times: int) -> Facts:
    """So many blocks of a pool are over, of a job type each."""
    types = [
        BlocksOfType("mail", f"mail.letter.send{n}", many, many * 0.5, n, "m.py:3 f") for n, many in enumerate(times, 1)
    ]
    return replace(GOOD, blocks=types)


def repair(ago: float) -> Repair:
    return Repair(kind="finding", count=3, last_at=NOW - timedelta(seconds=ago))


def waited(**missed: int) -> Facts:
    """A queue with a target, 1000 attempts in each window; missed: how many missed it, by window."""
    kept = {int(name[2:]): Kept(1000, 1000 - count) for name, count in missed.items()}
    return replace(GOOD, targets=[TargetLook("mails", 30.0, kept)])


BAD = {
    "no_clock": server(clock_leads=False),
    "no_worker": pool(0, 0, first_for=30.1),
    "stalled": pool(4, 3, late_for=10.1, idle_looks=3),
    "pool_short": pool(4, 4, late_for=60.1),
    "targets_missed": waited(in60=145, in5=145),
    "nothing_ends": quiet(500.1),
    "tenant_starved": replace(GOOD, starved=[PUGET]),
    "messages_lost": server(untaken=1),
    "worker_cut_off": replace(GOOD, workers=[worker(cut_off_at=NOW)]),
    "worker_silent": replace(GOOD, workers=[worker(beat_ago=15.1)]),
    "worker_lost": replace(GOOD, workers=[worker(gone_ago=3599.0, lost=True)]),
    "loop_blocked": replace(GOOD, blocked=[BLOCK]),
    "database_threads": light(1.01),
    "failures": replace(GOOD, ended=EndedLook(50, 11, 0)),
    "deaths": replace(GOOD, ended=EndedLook(1000, 101, 101)),
    "repairs": replace(GOOD, repairs=[repair(599.0)]),
    "transaction_old": server(oldest_transaction=600.1),
    "replication_behind": server(kept_log=2**30 + 1, kept_for="copy"),
    "connections": server(connections=81),
    "cache_away": replace(GOOD, cache=False),
    "recorder_late": server(recorder_age=180.1),
    "budget_low": replace(GOOD, budgets=[BudgetLook("acme", "tokens", 80, 100)]),
    "webhooks_failing": replace(GOOD, webhooks=replace(GOOD.webhooks, failing_long=1)),
    "predictions_off": replace(GOOD, predictions=replace(PREDICTIONS, held_lately=159)),
}
JUST_GOOD = [
    pool(0, 0, first_for=30.0),
    replace(pool(0, 0), workers=[worker(beat_ago=30.0, gone_ago=30.0)]),  # its only worker restarts
    replace(GOOD, queues={1: queue(processes=0)}),  # what waits waits for slots of its tenants
    pool(4, 3),  # ready for long, but perhaps just being claimed
    pool(4, 3, late_for=9999.0),  # the process has just ended a job: all were busy when somebody looked before
    pool(4, 3, late_for=9999.0, idle_looks=2),
    pool(4, 4, late_for=10.0, idle_looks=3),
    pool(4, 4),
    pool(4, 4, late_for=60.0),
    quiet(500.0),
    quiet(1e6, usual=1e6),
    replace(GOOD, ended=EndedLook(49, 49, 100)),
    waited(in5=144, in30=60, in60=144, in360=60),  # 14.4 and 6 times the misses that the objective allows
    waited(in5=0, in60=1000, in30=1000, in360=60),  # it is over
    waited(in5=1000, in30=60, in60=0, in360=1000),  # it has just begun
    waited(in5=1000),
    replace(GOOD, targets=[TargetLook("mails", 30.0, dict.fromkeys((5, 30, 60, 360), Kept(49, 0)))]),  # too few
    replace(GOOD, targets=[TargetLook("mails", 30.0, {60: Kept(50, 0), 360: Kept(50, 0)})]),  # nothing ended since
    replace(GOOD, workers=[worker(concurrency=0)]),
    blocked_before(1, 1),
    light(1.0),
    light(9.0, gone_ago=9.0),
    light(9.0, beat_ago=9.0, concurrency=0),  # it drains
    replace(GOOD, workers=[worker(beat_ago=15.0)]),
    replace(GOOD, workers=[worker(gone_ago=9.0)]),  # it stopped
    replace(GOOD, workers=[worker(gone_ago=3600.0, lost=True)]),
    replace(GOOD, repairs=[repair(600.0)]),
    server(oldest_transaction=600.0),
    server(kept_log=2**30, kept_for="copy"),
    server(recorder_age=180.0),
    server(recorder_age=None),
    replace(GOOD, predictions=replace(PREDICTIONS, held_lately=194)),  # 97 %
    replace(GOOD, predictions=replace(PREDICTIONS, known_lately=199, held_lately=0)),  # too few to tell
]


def test_every_condition_is_tried():
    assert set(BAD) == {rule.code for rule in RULES}


def test_nothing_is_said_of_a_healthy_system():
    assert conditions(GOOD) == []


@pytest.mark.parametrize("facts", JUST_GOOD)
def test_at_its_bound_nothing_is_said(facts):
    assert conditions(facts) == []


@pytest.mark.parametrize("code", BAD)
def test_a_condition_holds_alone(code):
    [found] = conditions(BAD[code])
    assert found.code == code


def test_a_worker_that_was_lost_while_it_stopped_is_told_from_one_that_worked():
    lost = [worker(gone_ago=9.0, lost=True, concurrency=concurrency) for concurrency in (0, 4)]
    [stopping], [working] = (conditions(replace(GOOD, workers=[one])) for one in lost)
    assert "went silent while stopping" in stopping.text
    assert "went silent without stopping" in working.text


def test_a_light_pool_lacks_seats_and_has_an_idle_one():
    light = [worker(kind="light")]
    [short] = conditions(replace(pool(4, 4, late_for=60.1), workers=light))
    assert short.text == "Pool default lacks seats: 2 jobs could start now; 2 more seats would be busy."
    [stalled] = conditions(replace(pool(4, 3, late_for=10.1, idle_looks=3), workers=light))
    assert "has an idle seat" in stalled.text
    [short] = conditions(pool(4, 4, late_for=60.1))
    assert short.text == "Pool default lacks processes: 2 jobs could start now; 2 more processes would be busy."


def test_a_missed_target_is_told_with_its_window_and_the_objective(settings):
    [fast] = conditions(waited(in5=200, in30=200, in60=200, in360=200))
    assert fast.text == (
        "Queue mails: 200 of 1,000 attempts of the last hour waited for a process for more than its target of 30 s;"
        " the objective allows 1 %."
    )
    [slow] = conditions(waited(in5=0, in30=61, in60=0, in360=61))
    assert "61 of 1,000 attempts of the last six hours" in slow.text
    settings.JOBS_WAIT_OBJECTIVE = 0.95
    assert conditions(waited(in5=200, in30=200, in60=200, in360=200)) == []


@pytest.mark.parametrize(("processes", "busy"), [(1, "its only process is"), (4, "all its processes are")])
def test_a_pool_in_which_nothing_ends_is_told_with_what_is_usual(processes, busy):
    [found] = conditions(quiet(600, processes=processes))
    assert found.text == (
        f"Nothing has ended in pool mail for 10 min: {busy} busy with jobs of which 95 of 100 take no more than "
        "1.7 min."
    )


def test_the_job_that_blocks_a_loop_is_named_with_the_seats_that_wait():
    named, unknown = BLOCK, replace(BLOCK, job_id=None, job_type="", place="", others=1, seconds=0.4)
    told = [one.text for one in conditions(replace(GOOD, blocked=[named, unknown]))]
    assert told == [
        "Job 12 (mail.letter.send) has blocked an event loop of pool mail for 3.2 s: 42 other attempts stand still."
        " It is at /srv/app/mail.py:31 send.",
        "An unknown body has blocked an event loop of pool mail for 0.4 s: 1 other attempt stands still.",
    ]


def test_the_first_of_many_blocked_loops_are_named_and_the_others_counted():
    told = [one.text for one in conditions(replace(GOOD, blocked=[BLOCK] * 5))]
    assert (len(told), told[-1]) == (4, "2 more event loops are blocked.")


def test_blocks_that_are_over_are_told_once_they_are_several():
    [found] = conditions(blocked_before(2, 1))
    assert found.text == (
        "Bodies blocked event loops of pool mail 3 times in 10 minutes, 1.5 s in all; most often mail.letter.send1 (2),"
        " last as job 1 at m.py:3 f."
    )


def test_the_longest_wait_for_a_database_thread_is_told_of_each_pool():
    workers = [
        worker(pool, kind="light", database_wait=wait) for pool, wait in (("mail", 2.0), ("mail", 4.0), ("b", 0.1))
    ]
    [found] = conditions(replace(GOOD, workers=workers))
    assert found.text == "Bodies of pool mail waited up to 4.0 s for a database thread of their process."


@pytest.mark.parametrize("workers", [[], [worker(beat_ago=30.1, gone_ago=30.1)], [worker("other")]])
@pytest.mark.parametrize("unseen", [False, True])
def test_a_pool_has_had_no_worker_for_long_or_never_one(workers, unseen):
    """unseen: no lane of the pool was looked at, so nobody knows since when its first jobs have been ready."""
    facts = replace(pool(0, 0), workers=workers)
    if unseen:
        facts = replace(facts, lanes=[replace(one, tenant_id=None, first_since=None) for one in facts.lanes])
    [found] = conditions(facts)
    assert found.code == "no_worker"


def test_a_pool_without_a_queue_is_told_too():
    found = replace(GOOD, workers=[worker(), worker("idle", 2)]).pools
    assert [(pool.name, pool.processes, pool.may_run) for pool in found] == [("default", 4, 0), ("idle", 2, 0)]


def test_workers_are_counted_by_pool_and_state():
    workers = [worker(), worker(concurrency=0), worker("other"), worker(), worker(gone_ago=1.0)]
    states = replace(GOOD, workers=workers).worker_states
    assert states == [("default", "draining", 1), ("default", "live", 2), ("other", "live", 1)]


def test_critical_ones_come_first():
    all_three = replace(BAD["predictions_off"], cache=False, server=replace(SERVER, clock_leads=False))
    assert [one.severity for one in conditions(all_three)] == ["critical", "warning", "info"]


def test_a_starved_tenant_is_told_by_name_with_its_part():
    [found] = conditions(BAD["tenant_starved"])
    assert found.text == "Tenant Puget got 41 % of its fair share in the last minutes, and has jobs waiting."


def test_a_queue_adds_up_its_lanes():
    lanes = [WAITING, lane(2, passing=3, since=NOW - timedelta(seconds=4)), lane(None, waiting=5, since=None)]
    [told] = replace(GOOD, lanes=lanes).standings
    assert (told.queue.name, told.waiting, told.in_use) == ("q1", 17, 3)
    assert told.first_since == NOW - timedelta(hours=9)
    [empty] = replace(GOOD, lanes=[]).standings
    assert (empty.waiting, empty.first_since) == (0, None)


def test_forecasts_are_judged_by_how_often_their_limits_held_and_drawn_beside_what_they_promised():
    look = replace(PREDICTIONS, known_90=77, held_90=42, known_50=76, held_50=32)
    assert look.in_words == "55 % of 77 jobs started within their 90 % limit, 42 % within their 50 % limit."
    judged = ((77, 42), (77, 77), (77, 70), (49, 0))
    verdicts = [replace(look, known_90=known, held_90=held).verdict for known, held in judged]
    assert verdicts == ["Too optimistic.", "Too cautious.", "Reliable.", "Too few to judge."]
    svg = diagram([(0.5, 0.5), (0.9, 0.55)])
    assert "50 % promised, 50 % held; 90 % promised, 55 % held" in svg
    assert '<circle cx="50" cy="50"' in svg and '<circle cx="90" cy="45"' in svg
    assert '<path class="miss" d="M90 45V10"/>' in svg, "from what held to the line"
    assert (diagram([]), replace(look, known_50=0).in_words) == ("", "")
