"""In CI a skip that nobody has allowed fails, and so does an allowed one that no longer happens."""

import pytest

from embedded import REPOSITORY
from tests import skips
from tests.skips import ALLOWED, Skip, judge


def outcome(allowed: Skip | None, ran: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setattr(skips, "ALLOWED", {"tests/a.py::test_it": allowed} if allowed else {})
    reason = None if ran else ("tests/a.py", 1, "Skipped: no program here")
    when, how = ("call", "passed") if ran else ("setup", "skipped")
    report = pytest.TestReport("tests/a.py::test_it[1]", ("tests/a.py", 1, "test_it[1]"), {}, how, reason, when)
    judge(report)
    return report.outcome, str(report.longrepr)


def test_a_skip_passes_only_where_the_list_expects_it(monkeypatch):
    listed = {here: Skip("it cannot be had", "make test", here) for here in (True, False, None)}
    for allowed, ran, wanted in (
        *((None, False, "failed"), (None, True, "passed")),
        *((listed[True], False, "skipped"), (listed[True], True, "failed")),
        *((listed[False], False, "failed"), (listed[False], True, "passed")),
        *((listed[None], False, "skipped"), (listed[None], True, "passed")),
    ):
        told, text = outcome(allowed, ran, monkeypatch)
        assert told == wanted, (allowed, ran)
        assert (told == "failed") == ("tests/skips.py" in text)
    assert "no program here" in outcome(None, False, monkeypatch)[1]


def test_every_test_on_the_list_exists():
    for name in ALLOWED:
        file, _, test = name.partition("::")
        assert f"def {test}" in (REPOSITORY / file).read_text(), name
