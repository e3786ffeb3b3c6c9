"""Which condition is told as the cause of which others."""

from dataclasses import replace
from datetime import timedelta

from jobs.models import Repair
from jobs.reading.health import RULES, chains, conditions
from jobs.reading.health.causes import CAUSES
from jobs.reading.health.ended import EndedLook, WorstType, began
from tests.unit.test_health import BAD, PUGET, pool, worker
from tests.unit.test_waits import NOW

LOST = replace(worker(gone_ago=120.0, beat_ago=130.0, lost=True), name="second@hostb")
OLD = replace(worker(), started_at=NOW - timedelta(hours=1))
SHORT = pool(4, 4, late_for=100.0)
MINUTE = timedelta(minutes=1)


def told(facts) -> list[str]:
    """The codes of each chain: "cause > consequence > consequence"."""
    return [" > ".join(one.code for one in (chain.cause, *chain.consequences)) for chain in chains(conditions(facts))]


def test_a_lost_worker_explains_the_conditions_of_its_pool_and_of_no_other_until_it_is_replaced():
    taken_back = Repair(kind="orphan_taken_back", count=2, last_at=NOW)
    after = replace(SHORT, workers=[OLD, LOST], starved=[PUGET], repairs=[taken_back])
    assert told(after) == ["worker_lost > pool_short > tenant_starved > repairs"]
    [chain] = chains(conditions(after))
    assert chain.cause.text.startswith("Worker second@hostb of pool default went silent without stopping")
    assert chain.cause.fault.since == NOW - timedelta(seconds=120)
    assert chain.consequences[0].fault.since == NOW - timedelta(seconds=100)
    other = replace(SHORT, workers=[OLD, replace(LOST, pool="mail")])
    assert told(other) == ["pool_short", "worker_lost"]
    finding = replace(SHORT, workers=[OLD, LOST], repairs=[Repair(kind="finding", count=2, last_at=NOW)])
    assert told(finding) == ["worker_lost > pool_short", "repairs"]
    began_later = replace(worker(), started_at=NOW - timedelta(seconds=60))
    facts = replace(SHORT, workers=[began_later, LOST])
    assert told(facts) == ["pool_short", "worker_lost"]
    assert "Another worker has started since." in conditions(facts)[1].text


def test_a_chain_with_a_critical_condition_comes_first():
    gone = replace(LOST, gone_at=NOW - timedelta(seconds=40), beat_at=NOW - timedelta(seconds=50))
    server = replace(SHORT.server, clock_leads=False)
    nobody = replace(pool(0, 0), workers=[gone], server=server, cache=False, ended=BAD["failures"].ended)
    assert told(nobody) == ["worker_lost > no_clock > no_worker", "failures", "cache_away"]
    assert [chain.severity for chain in chains(conditions(nobody))] == ["critical", "warning", "warning"]


def test_many_failures_name_the_job_type_its_share_and_the_minute_after_the_last_good_one():
    worst = WorstType("lab.tasks.flaky", 1500, 1500, NOW - 4 * MINUTE, 4)
    facts = replace(SHORT, lanes=[], ended=EndedLook(2844, 1829, 1500, worst))
    [chain] = chains(conditions(facts))
    assert [one.code for one in chain.consequences] == ["deaths"]
    assert chain.cause.text == (
        "lab.tasks.flaky: 1,500 of 1,500 attempts failed in 10 minutes, of 4 tenants; of all job types 1,829 of 2,844."
    )
    assert (chain.cause.fault.subject, chain.cause.fault.since) == ("lab.tasks.flaky", NOW - 4 * MINUTE)
    minutes = [(NOW - 1 * MINUTE, 9, 9), (NOW - 3 * MINUTE, 3, 9), (NOW - 4 * MINUTE, 1, 9), (NOW - 5 * MINUTE, 9, 9)]
    assert began(minutes, NOW) == NOW - 3 * MINUTE
    assert began([], NOW) == NOW


def test_no_condition_is_a_cause_of_its_own_cause():
    codes = {rule.code for rule in RULES}
    assert CAUSES.keys() | {code for causes in CAUSES.values() for code in causes} <= codes

    def above(code: str, seen: tuple[str, ...]) -> None:
        assert code not in seen, seen
        for cause in CAUSES.get(code, ()):
            above(cause, (*seen, code))

    for code in CAUSES:
        above(code, ())
