"""Ninety seconds of each experiment of `make bench ROWS=insight`, without its bars, which take half an hour."""

import json
import subprocess
import sys
from math import isfinite

import pytest

from benchmarks import coverage
from benchmarks.rows.coverage import MIXED
from benchmarks.rows.what_if import ITSELF, OFF, UNCHANGED
from embedded import REPOSITORY
from jobs.insight.forecasting.replay.compare import MOST_ERROR
from tests.thorough import only_thorough


@only_thorough  # five minutes
@pytest.mark.long("a forecast that says nothing; tests/acceptance/test_insight.py has its wiring")
@pytest.mark.timeout(900)
def test_with_real_workers_what_is_said_of_the_future_is_nearer_than_that_all_starts_at_once_or_nothing_changes(
    without_engines, tmp_path, subtests
):
    """A run of so few seconds cannot tell how much nearer, and less on a busy machine."""
    output = tmp_path / "bench.json"
    argv = [sys.executable, "-m", "benchmarks", "--rows", "coverage,what_if", "--json", str(output)]
    environ = without_engines | {"BENCH_SECONDS": "90"}
    done = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=840, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: a bar is missed
    rows = json.loads(output.read_text())["rows"]
    assert [row["failed"] for row in rows] == ["", ""], done.stdout + done.stderr
    predicted, replayed = (row["figures"] for row in rows)
    with subtests.test("a start"):
        found = {what: figures[MIXED] for what, figures in predicted.items()}
        assert all(map(isfinite, found.values())), done.stdout
        assert found[coverage.PREDICTIONS] > 60, done.stdout
        assert found[coverage.UNSAID] < 0.5, done.stdout
        assert found[coverage.RAW_HALF] < found[coverage.RAW_MOST], done.stdout
        # The losses of saying of each job that it starts at once.
        assert found[coverage.LOSS_HALF] < 0.5 * found[coverage.WAITED], done.stdout
        assert found[coverage.LOSS_MOST] < 0.9 * found[coverage.WAITED], done.stdout
    with subtests.test("other limits"):
        off, otherwise = replayed[OFF], replayed[UNCHANGED]
        knows = [way for way, error in replayed[ITSELF].items() if error <= MOST_ERROR]  # or it does not answer
        assert all(off[way] < otherwise[way] for way in knows), done.stdout
