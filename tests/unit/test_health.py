"""Each condition holds just when its facts say so."""

from dataclasses import replace

import pytest

from jobs.engine.health import RULES, Facts, conditions
from jobs.store.health import EndedLook, QueueLook, RepairLook, ServerLook, WorkersLook

IDLE = QueueLook(
    "default", "default", processes=4, pool_held=3, held=3, waiting=9, oldest=9, may_run=0, may_run_since=None
)
SERVER = ServerLook(True, 3.0, 0.5, 80, 100, 0, 5000)
GOOD = Facts([IDLE], [WorkersLook("default", "live", 1, 4)], SERVER, EndedLook(50, 10, 100), [], cache=True)


def queue(**changed) -> Facts:
    return replace(GOOD, queues=[replace(IDLE, **changed)])


def server(**changed) -> Facts:
    return replace(GOOD, server=replace(SERVER, **changed))


BAD = {
    "no_clock": server(clock_leads=False),
    "no_worker": queue(processes=0, may_run=2, may_run_since=30.1),
    "stalled": queue(may_run=2, may_run_since=10.1),
    "pool_short": queue(pool_held=4, may_run=2, may_run_since=60.1),
    "messages_lost": server(untaken=1),
    "worker_silent": replace(GOOD, workers=[WorkersLook("default", "silent", 1, 4)]),
    "failures": replace(GOOD, ended=EndedLook(50, 11, 0)),
    "deaths": replace(GOOD, ended=EndedLook(1000, 101, 101)),
    "repairs": replace(GOOD, repairs=[RepairLook("finding", 3, 599.0)]),
    "transaction_old": server(oldest_transaction=600.1),
    "connections": server(connections=81),
    "cache_away": replace(GOOD, cache=False),
    "recorder_late": server(recorder_age=180.1),
}
JUST_GOOD = [
    queue(processes=0, may_run=2, may_run_since=30.0),
    queue(processes=0, may_run=0, waiting=100, oldest=9999.0),  # what waits waits for slots of its tenants
    queue(may_run=2, may_run_since=10.0),
    queue(pool_held=4, may_run=2, may_run_since=60.0),
    replace(GOOD, ended=EndedLook(49, 49, 100)),
    replace(GOOD, workers=[WorkersLook("default", "draining", 1, 0)]),
    replace(GOOD, repairs=[RepairLook("finding", 3, 600.0)]),
    server(oldest_transaction=600.0),
    server(recorder_age=180.0),
    server(recorder_age=None),
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


def test_critical_ones_come_first():
    both = replace(GOOD, cache=False, server=replace(SERVER, clock_leads=False))
    assert [one.severity for one in conditions(both)] == ["critical", "warning"]


def test_a_pool_adds_up_its_queues():
    other = replace(IDLE, name="mail", may_run=2, may_run_since=4.0)
    [pool] = replace(GOOD, queues=[IDLE, other, replace(other, name="x", may_run_since=7.0)]).pools
    assert (pool.held, pool.may_run, pool.demand, pool.waited) == (3, 4, 7, 7.0)
