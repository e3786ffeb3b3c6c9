"""The models of docs/model: the protocol holds, and each fault that is put in is found. README.md says the same."""

import re
from pathlib import Path

import pytest

from docs.model import cases, door
from docs.model.__main__ import PARTS
from docs.model.explorer import explore
from jobs.sql import statement
from jobs.store import claiming

CASES = [case for _, part in PARTS for case in part]
README = Path(cases.__file__).with_name("README.md").read_text()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case):
    verdict = explore(case.model)
    assert case.as_expected(verdict), verdict
    row = re.search(rf"^\| {re.escape(case.name)} \| ([\d,]+) \| (\d+) \|", README, re.MULTILINE)
    assert row, "it is not in the table of README.md"
    assert (int(row[1].replace(",", "")), int(row[2])) == (verdict.states, verdict.depth), "as in README.md"


def test_a_fault_is_reached_as_its_trace_says():
    for case in cases.FAULTS:
        trace = explore(case.model).trace
        assert trace[0][1] == "at first"
        assert all(who and what for who, what, _ in trace[1:])


def test_the_modelled_pass_is_the_one_that_is_sent():
    """Whoever changes the order of the statements has to change the model, and see whether it still holds."""
    source = Path(claiming.__file__).read_text()
    sent = re.findall(r'execute\((?:statement\()?"(knock|enter|give_place|fold|claim|COMMIT)"', source)
    assert sent == ["knock", "enter", "give_place", "fold", "claim", "COMMIT"]
    modelled = " ".join(door.PASS).replace("snapshot lock", "claim").replace("commit leave", "COMMIT").split()
    assert sent == modelled


def test_the_modelled_follow_is_the_one_that_is_sent():
    follow = statement("succeed")
    for guard in ("FROM settled", "gone_at IS NULL", "FOR NO KEY UPDATE SKIP LOCKED", "ticket = q.ticket"):
        assert guard in follow, "see the rules in docs/model/slicing.py"
