"""The models of docs/model: the protocol holds, and each fault that is put in is found. README.md says the same."""

import inspect
import re
from pathlib import Path

import pytest

from docs.model import cases, door
from docs.model.__main__ import PARTS
from docs.model.explorer import explore
from jobs.sql import statement
from jobs.store import Trip, claiming
from tests.thorough import sized

CASES = [case for _, part in PARTS for case in part]
README = Path(cases.__file__).with_name("README.md").read_text()
LARGEST = sized(10_000, thorough=100_000)  # states
SMALL = 1_000  # states, of cases that are explored in one test


def told(case: cases.Case) -> tuple[int, int]:
    """The states and the depth in the table of README.md; (0, 0) if it is not there."""
    row = re.search(rf"^\| {re.escape(case.name)} \| ([\d,]+) \| (\d+) \|", README, re.MULTILINE)
    return (int(row[1].replace(",", "")), int(row[2])) if row else (0, 0)


@pytest.mark.parametrize(
    "case", [case for case in CASES if SMALL < told(case)[0] <= LARGEST], ids=lambda case: case.name
)
def test_case(case):
    check(case)


def test_small_cases(subtests):
    for case in CASES:
        if told(case)[0] <= SMALL:
            with subtests.test(case.name):
                check(case)


def check(case: cases.Case) -> None:
    """Explore it: the verdict is the expected one, and the table of README.md has its figures."""
    verdict = explore(case.model)
    assert case.as_expected(verdict), verdict
    assert told(case) == (verdict.states, verdict.depth), "as in the table of README.md"
    if verdict.trace:
        assert verdict.trace[0][1] == "at first"
        assert all(who and what for who, what, _ in verdict.trace[1:])


def sent_by(function) -> list[str]:
    """The statements that it puts into its pipeline, in the order of the source."""
    return re.findall(r'pipe\.add\((?:statement\()?"(\w+)', inspect.getsource(function))


def test_the_modelled_pass_is_the_one_that_is_sent():
    """Whoever changes the order of the statements has to change the model, and see whether it still holds."""
    begin, knock, goes_home, *sent, kept = sent_by(claiming.claim)
    assert (begin, goes_home) == ("BEGIN", "COMMIT"), "the commit of who goes home"
    modelled = " ".join(door.PASS).replace("snapshot lock", "claim").replace("commit leave", "COMMIT")
    modelled = modelled.replace("enter give_place", "enter").split()  # one after the other, in one statement
    assert [knock, *sent] == modelled
    assert kept == "start_kept", "what a process keeps is started after the commit"
    assert sent_by(claiming.claim_for) == [begin, *modelled]


def test_the_job_that_a_process_keeps_starts_in_the_same_pipeline():
    pipeline = inspect.getsource(claiming.claim).partition("with pipeline()")[2].partition("finally")[0]
    assert "start_kept" in pipeline


@pytest.mark.parametrize("name", ["fold", "claim", "recount_books"])
def test_the_modelled_books_are_those_that_are_kept(name):
    chapters = re.split(r"\w+ AS (?:MATERIALIZED )?\(", statement(name))
    updates = [(re.match(r"\s*UPDATE (\w+) ", chapter), chapter) for chapter in chapters]
    kept = {update[1] for update, chapter in updates if update and "in_use = " in chapter}
    assert kept == {"lanes", "queue_turns", "tenant_books"}


def test_the_modelled_recount_is_the_one_that_is_sent():
    """One snapshot, inside the door; and a letter to the next fold. See docs/model/recount.py."""
    sent = statement("recount_books")
    for table in ("jobs", "freed_slots"):
        assert f"FROM {table} WHERE slot IS NOT NULL" in sent
    assert "INSERT INTO freed_slots" in sent
    assert "current_setting('jobs.door', true)" in sent


def test_the_modelled_reader_of_ends_is_the_one_that_is_sent():
    """`added` as it is under the lock, `closed` of the snapshot; what is locked is noted again: docs/model/batch.py.

    Of a sequence the first that waits, if no other has the turn: docs/model/turns.py.
    """
    read = statement("read_ends")
    for guard in (
        "ORDER BY sequence, id",
        "one.blocked_at IS NULL",
        "one.died_at IS NOT NULL AND one.sequence_stops",
        "b.added, seen.closed_at IS NOT NULL AS closed",
        "JOIN batches seen ON seen.id = asked.id JOIN batches b",
        "FOR NO KEY UPDATE OF b SKIP LOCKED",
        "again AS (\nINSERT INTO job_ends",
        "current_setting('jobs.reader', true) = 'true'",
    ):
        assert guard in read


def test_the_modelled_follow_is_the_one_that_is_sent():
    follow = statement("follow")
    for guard in ("FROM settled", "gone_at IS NULL", "FOR NO KEY UPDATE SKIP LOCKED", "ticket = q.ticket"):
        assert guard in follow, "see the rules in docs/model/slicing.py"


def test_the_modelled_trip_is_the_one_that_is_sent():
    """Settled, claimed and started in three commits, in this order; the guards of docs/model/feeding.py."""
    send = inspect.getsource(Trip._send)
    sent = [send.index(part) for part in ('statement("succeed_many")', "claim_for(", 'statement("start_many")')]
    assert sent == sorted(sent)
    settles, starts = statement("succeed_many"), statement("start_many")
    for guard in ("jobs.attempt = before.attempt", "status = 'running'", "worker_pid = before.pid", "WHERE goes_on"):
        assert guard in settles
    for guard in ("attempt = g.attempt", "j.status = 'queued'", "gone_at IS NOT NULL"):
        assert guard in starts
